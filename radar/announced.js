// What a page tells a person beside its content: toasts, modals and the errors of fields (see announced.py).
// `kind`: "toast", "modal" or "validation_error"; `css`: the project's own selectors, "" to recognise them by what pages do.
// With `note`, a function, toasts are told as they come up, for as long as the document lives; without it, what is
// shown now comes back as JSON: [[text, text without its buttons], …].
(kind, css, note) => {
  // Live regions and dialogs are what the standards have for it; then what the common component libraries write.
  const KNOWN = {
    toast: '[role=alert], [role=status], [role=log], [aria-live=polite], [aria-live=assertive], output, ' +
      '.toast, .toast-message, .toastify, .Toastify__toast, .ant-message-notice, .ant-notification-notice, .MuiSnackbar-root, ' +
      '.mat-mdc-snack-bar-container, .mat-snack-bar-container, .chakra-toast, .notyf__toast, .noty_bar, .swal2-toast, ' +
      '[data-sonner-toast], .iziToast, .el-message, .el-notification, .v-snackbar__content, .p-toast-message, .p-toastmessage, ' +
      '.q-notification, .snackbar, .notification-toast, .flash-message, .alertify-notifier > *',
    modal: 'dialog[open], [role=dialog], [role=alertdialog], [aria-modal=true], .modal.show, .modal.in, .modal.is-active, ' +
      '.MuiDialog-paper, .ant-modal-content, .swal2-popup:not(.swal2-toast), .ReactModal__Content, .el-dialog, ' +
      '.el-message-box, .v-dialog--active, .v-overlay--active > .v-overlay__content, .p-dialog, .chakra-modal__content, ' +
      '.mat-mdc-dialog-container, .ui-dialog, .fancybox-content',
    validation_error: '.invalid-feedback, .field-error, .error-message, .errorlist li, .has-error .help-block, ' +
      '.MuiFormHelperText-root.Mui-error, .ant-form-item-explain-error, .mat-mdc-form-field-error, mat-error, ' +
      '.el-form-item__error, .v-input--error .v-messages__message, .p-error, .chakra-form__error-message, ' +
      '.field-validation-error, .parsley-errors-list li, .formkit-message, .usa-error-message, .govuk-error-message',
  };
  const BUTTONS = 'button, [role=button], .close, .btn-close';
  const MOST = 50, LONGEST = 2000;
  const wanted = css || KNOWN[kind];
  // The methods of the prototypes: a form may have a field named like one of them.
  const { querySelectorAll, matches, closest, checkVisibility, getAttribute, getBoundingClientRect } = Element.prototype;
  const shadowOf = Object.getOwnPropertyDescriptor(Element.prototype, 'shadowRoot').get;
  const fold = (text) => (text || '').replace(/\s+/g, ' ').trim().slice(0, LONGEST);
  const isElement = (node) => node instanceof Element || node.nodeType === 1;

  function isShown(e) {
    if (!checkVisibility.call(e, { visibilityProperty: true })) return false;
    const box = getBoundingClientRect.call(e);
    return box.width > 0 && box.height > 0;
  }
  function* allIn(root, css) { // through open shadow roots and frames of the same origin
    const find = root instanceof Element ? querySelectorAll : (root.nodeType === 11 ? DocumentFragment : Document).prototype.querySelectorAll;
    yield* find.call(root, css);
    for (const e of find.call(root, '*')) {
      const shadow = shadowOf.call(e);
      if (shadow) yield* allIn(shadow, css);
      if (e.tagName === 'IFRAME') {
        let inner = null;
        try { inner = e.contentDocument; } catch { /* another origin */ }
        if (inner) yield* allIn(inner, css);
      }
    }
  }
  function textsOf(e) { // with and without what is on its buttons
    const text = fold(e.innerText);
    let plain = text;
    for (const button of querySelectorAll.call(e, BUTTONS)) {
      const said = fold(button.innerText);
      if (said && plain.endsWith(said)) plain = fold(plain.slice(0, -said.length));
      else if (said && plain.startsWith(said)) plain = fold(plain.slice(said.length));
    }
    return [text, plain];
  }
  const outermost = (found) => found.filter((e) => !found.some((other) => other !== e && other.contains(e)));

  function errorsOfFields() {
    const found = [];
    for (const e of allIn(document, '[aria-invalid]')) {
      const said = (getAttribute.call(e, 'aria-invalid') || '').toLowerCase();
      if (said === '' || said === 'false' || !isShown(e)) continue;
      const ids = `${getAttribute.call(e, 'aria-errormessage') || ''} ${getAttribute.call(e, 'aria-describedby') || ''}`;
      const root = e.getRootNode();
      const texts = ids.split(/\s+/).map((id) => id && root.getElementById(id)).filter((one) => one && isShown(one)).map(textsOf);
      found.push(...(texts.length ? texts : [['', '']]));
    }
    // A browser shows its own message where a person tried to go on with a field that does not hold, unless the form asks
    // it not to.
    for (const e of allIn(document, ':user-invalid'))
      if (e.willValidate && e.validationMessage && !(e.form && e.form.noValidate) && isShown(e))
        found.push([fold(e.validationMessage), fold(e.validationMessage)]);
    return found;
  }
  function shownNow() {
    const found = outermost([...new Set(allIn(document, wanted))].filter((e) => isShown(e)));
    const texts = found.map(textsOf).filter(([text]) => text || kind === 'modal');
    if (kind === 'validation_error' && !css) texts.push(...errorsOfFields());
    return texts.slice(0, MOST);
  }
  if (!note) return JSON.stringify(shownNow());

  // --- told as they come up ---
  const told = new WeakMap(), watched = new WeakSet();
  function tell(e) {
    if (!isShown(e)) { told.delete(e); return; }
    const [text, plain] = textsOf(e);
    if (!text || told.get(e) === text) return;
    told.set(e, text);
    note(JSON.stringify([text, plain]));
  }
  function look(node) {
    const e = isElement(node) ? node : node.parentElement;
    if (!e) return;
    const outer = closest.call(e, wanted);
    if (outer) tell(outer);
    for (const one of allIn(e, wanted)) tell(one);
    watchShadows(e);
  }
  function watchShadows(e) {
    for (const one of [e, ...querySelectorAll.call(e, '*')]) {
      const shadow = shadowOf.call(one);
      if (shadow && !watched.has(shadow)) { watch(shadow); for (const toast of allIn(shadow, wanted)) tell(toast); }
    }
  }
  function watch(root) {
    watched.add(root);
    new MutationObserver((records) => {
      const nodes = new Set();
      for (const { target, addedNodes } of records) {
        for (const node of addedNodes) nodes.add(node);
        if (isElement(target) || target.nodeType === 3) nodes.add(target);
        if (nodes.size > 2000) break;
      }
      // What holds the others is looked at for them.
      for (const node of nodes) if (node.isConnected && ![...ancestors(node)].some((one) => nodes.has(one) && one !== document.body && one !== document.documentElement)) look(node);
    }).observe(root, { subtree: true, childList: true, characterData: true, attributes: true,
      attributeFilter: ['class', 'style', 'hidden', 'open', 'role', 'aria-live', 'aria-hidden', 'data-state', 'data-visible'] });
  }
  function* ancestors(node) { for (let at = node.parentNode; at; at = at.parentNode) yield at; }
  watch(document);
  return '';
}
