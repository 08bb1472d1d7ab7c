// Describes the whole page the script runs in as one JSON string (see browser.py for the shape).
// Called with an element (or null): its place in the list comes back as `target`.
(target) => {
  const LONGEST = 300, MOST = 20000;
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'META', 'HEAD', 'BASE', 'BR', 'WBR']);
  const DROPPED = /^(style|nonce|on.*|d|points|srcset|integrity|transform|viewbox|jsaction)$/i;
  const FORM = new Set(['BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'OPTION', 'OPTGROUP', 'FIELDSET']);
  const FROM_CONTENT = new Set(('button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox ' +
    'menuitemradio option radio row rowheader switch tab tooltip treeitem').split(' '));
  const INTERACTIVE = new Set(('button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option ' +
    'radio searchbox slider spinbutton switch tab textbox treeitem').split(' '));
  const SECTIONING = 'article:not([role]), aside:not([role]), main:not([role]), nav:not([role]), section:not([role]), ' +
    '[role=article], [role=complementary], [role=main], [role=navigation], [role=region]';
  const FROM_CONTENT_INSIDE = new Set(('caption code contentinfo definition deletion emphasis insertion list listitem ' +
    'mark none paragraph presentation region row rowgroup section strong subscript superscript table term time').split(' '));
  const NAMELESS = new Set(('caption code definition deletion emphasis generic insertion mark paragraph presentation ' +
    'strong subscript suggestion superscript term time').split(' '));
  const ROLES = new Set(('alert alertdialog application article banner blockquote button caption cell checkbox code ' +
    'columnheader combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form ' +
    'generic grid gridcell group heading img insertion link list listbox listitem log main mark marquee math meter menu ' +
    'menubar menuitem menuitemcheckbox menuitemradio navigation none note option paragraph presentation progressbar radio ' +
    'radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong ' +
    'subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid ' +
    'treeitem').split(' '));
  const GLOBAL = ('atomic busy controls current describedby details dropeffect flowto grabbed hidden keyshortcuts label ' +
    'labelledby live owns relevant roledescription').split(' ').map((name) => `aria-${name}`);
  const PARTS = { DD: ['DL', 'DIV'], DIV: ['DL'], DT: ['DL', 'DIV'], LI: ['OL', 'UL'], TBODY: ['TABLE'], TD: ['TR'],
    TFOOT: ['TABLE'], TH: ['TR'], THEAD: ['TABLE'], TR: ['THEAD', 'TBODY', 'TFOOT', 'TABLE'] };
  const INPUTS = { button: 'button', image: 'button', reset: 'button', submit: 'button', file: 'button',
    checkbox: 'checkbox', radio: 'radio', range: 'slider', number: 'spinbutton' };
  const TAGS = { ARTICLE: 'article', ASIDE: 'complementary', BLOCKQUOTE: 'blockquote', BUTTON: 'button', CAPTION: 'caption',
    CODE: 'code', DATALIST: 'listbox', DD: 'definition', DEL: 'deletion', DETAILS: 'group', DFN: 'term', DIALOG: 'dialog',
    DT: 'term', EM: 'emphasis', FIELDSET: 'group', FIGURE: 'figure', H1: 'heading', H2: 'heading', H3: 'heading',
    H4: 'heading', H5: 'heading', H6: 'heading', HR: 'separator', HTML: 'document', INS: 'insertion', LI: 'listitem',
    MAIN: 'main', MARK: 'mark', MATH: 'math', MENU: 'list', METER: 'meter', NAV: 'navigation', OL: 'list', OPTGROUP: 'group',
    OPTION: 'option', OUTPUT: 'status', P: 'paragraph', PROGRESS: 'progressbar', SEARCH: 'search', STRONG: 'strong',
    SUB: 'subscript', SUP: 'superscript', SVG: 'img', TABLE: 'table', TBODY: 'rowgroup', TEXTAREA: 'textbox',
    TFOOT: 'rowgroup', THEAD: 'rowgroup', TIME: 'time', TR: 'row', UL: 'list' };

  const fold = (text) => text.replace(/[\u200b\u00ad]/g, '').replace(/\s+/g, ' ').trim();
  const cut = (text) => text.length > LONGEST ? text.slice(0, LONGEST) : text;

  let top = window;
  try { while (top.parent !== top && top.parent.document) top = top.parent; } catch { /* another origin's page is around us */ }

  // A form gives its fields as properties of its own ("children", "title", …): ask the prototypes, not the element.
  const getter = (type, name) => { const { get } = Object.getOwnPropertyDescriptor(type.prototype, name); return (e) => get.call(e); };
  const tagName = getter(Element, 'tagName'), childrenOf = getter(Element, 'children'), attributesOf = getter(Element, 'attributes'),
    shadowOf = getter(Element, 'shadowRoot'), nodesOf = getter(Node, 'childNodes'), parentOf = getter(Node, 'parentElement');
  const attr = (e, name) => Element.prototype.getAttribute.call(e, name);
  const has = (e, name) => Element.prototype.hasAttribute.call(e, name);
  const tagOf = (e) => tagName(e).toUpperCase();

  // --- roles, as Playwright gives them: what its locators find is what a locator means here ---
  const around = (e) => parentOf(e) || e.parentNode?.host || null;
  function closest(e, css) { // through shadow roots
    for (let at = e; at; at = at.getRootNode().host) { const found = at.closest(css); if (found) return found; }
    return null;
  }
  function byId(e, ids) {
    const root = e.getRootNode();
    return (ids || '').trim().split(/\s+/).map((id) => id && root.getElementById ? root.getElementById(id) : null).filter(Boolean);
  }
  function implied(e, tag) {
    switch (tag) {
      case 'A': case 'AREA': return has(e, 'href') ? 'link' : '';
      case 'INPUT': {
        const type = e.type;
        if (type === 'hidden') return '';
        if (/^(email|search|tel|text|url|)$/.test(type)) {
          if (attr(e, 'list') && byId(e, attr(e, 'list'))[0]?.tagName === 'DATALIST') return 'combobox';
          return type === 'search' ? 'searchbox' : 'textbox';
        }
        return INPUTS[type] || 'textbox';
      }
      case 'SELECT': return e.multiple || e.size > 1 ? 'listbox' : 'combobox';
      case 'IMG': return attr(e, 'alt') === '' && !attr(e, 'title') && !isGlobal(e, '') && !hasTabIndex(e) ? 'presentation' : 'img';
      case 'HEADER': return closest(e, SECTIONING) ? '' : 'banner';
      case 'FOOTER': return closest(e, SECTIONING) ? '' : 'contentinfo';
      case 'SECTION': return has(e, 'aria-label') || has(e, 'aria-labelledby') ? 'region' : '';
      case 'FORM': return has(e, 'aria-label') || has(e, 'aria-labelledby') ? 'form' : '';
      case 'TD': return /^(grid|treegrid)$/.test(explicit(closest(e, 'table')) || '') ? 'gridcell' : 'cell';
      case 'TH': return heading(e);
      default: return TAGS[tag] || '';
    }
  }
  function heading(e) {
    const scope = attr(e, 'scope'), before = e.previousElementSibling, after = e.nextElementSibling;
    if (scope === 'col' || scope === 'colgroup') return 'columnheader';
    if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
    if (!before && !after) {
      const table = parentOf(e)?.tagName === 'TR' ? closest(e, 'table') : null;
      return table && table.rows.length <= 1 ? '' : 'columnheader';
    }
    if (before?.tagName === 'TH' && after?.tagName === 'TH') return 'columnheader';
    const isData = (cell) => cell?.tagName === 'TD' && (cell.textContent.trim() || cell.children.length);
    return isData(before) || isData(after) ? 'rowheader' : 'columnheader';
  }
  const explicit = (e) => e && (attr(e, 'role') || '').toLowerCase().split(/\s+/).find((role) => ROLES.has(role)) || '';
  const isEmpty = (role) => role === 'none' || role === 'presentation';
  const hasTabIndex = (e) => has(e, 'tabindex') && !Number.isNaN(Number(attr(e, 'tabindex')));
  const isGlobal = (e, role) => GLOBAL.some((name) => has(e, name) && !(/label/.test(name) && NAMELESS.has(role)));
  function keepsRole(e, role) { // no "presentation" for what can have the focus or says more in ARIA
    if (isGlobal(e, role)) return true;
    const tag = tagOf(e);
    if (FORM.has(tag) && e.matches(':disabled')) return false;
    return /^(BUTTON|DETAILS|SELECT|TEXTAREA)$/.test(tag) || (/^(A|AREA)$/.test(tag) && has(e, 'href')) ||
      (tag === 'INPUT' && !e.hidden) || hasTabIndex(e);
  }
  function inherited(e) { // the implied role, unless the list or table around it is "presentation"
    const role = implied(e, tagOf(e));
    for (let at = e; role; at = around(at)) {
      const outer = around(at);
      if (!outer || !PARTS[tagOf(at)]?.includes(tagOf(outer))) break;
      const said = explicit(outer);
      if (isEmpty(said) && !keepsRole(outer, said)) return said;
    }
    return role;
  }
  const roles = new Map();
  function roleOf(e) {
    let role = roles.get(e);
    if (role === undefined) {
      role = explicit(e);
      if (!role) role = inherited(e);
      else if (isEmpty(role)) { const own = inherited(e); if (keepsRole(e, own)) role = own; }
      roles.set(e, role);
    }
    return role;
  }

  const shown = new Map();
  function isShown(e) { // displayed, and not hidden by style
    let value = shown.get(e);
    if (value === undefined) {
      const tag = tagOf(e);
      value = (tag === 'OPTION' || tag === 'OPTGROUP') && parentOf(e)
        ? isShown(e.closest('select') || parentOf(e)) && !e.hidden
        : e.checkVisibility({ visibilityProperty: true });
      shown.set(e, value);
    }
    return value;
  }

  const hiddens = new Map();
  function isHidden(e) { // from assistive tools
    let hidden = hiddens.get(e);
    if (hidden === undefined) {
      const style = getComputedStyle(e), tag = tagOf(e);
      if (style.display === 'contents' && tag !== 'SLOT')
        hidden = ![...nodesOf(e)].some((node) => node.nodeType === 1 ? !SKIPPED.has(tagOf(node)) && !isHidden(node)
          : node.nodeType === 3 && /\S/.test(node.data) && !isOut(e));
      else
        hidden = (tag !== 'SLOT' && !(tag === 'OPTION' && e.closest('select')) && !(e.checkVisibility() && style.visibility === 'visible'))
          || isOut(e);
      hiddens.set(e, hidden);
    }
    return hidden;
  }
  const outs = new Map();
  function isOut(e) { // not displayed, aria-hidden or not slotted, itself or by an element around it
    const chain = [];
    let out = false;
    for (let at = e; at; at = around(at)) {
      if (outs.has(at)) { out = outs.get(at); break; }
      chain.push(at);
    }
    for (const at of chain.reverse()) {
      out = out || (parentOf(at) && shadowOf(parentOf(at)) && !at.assignedSlot) || getComputedStyle(at).display === 'none' ||
        (attr(at, 'aria-hidden') || '').toLowerCase() === 'true';
      outs.set(at, out = Boolean(out));
    }
    return out;
  }

  // --- accessible names: the W3C computation, as Playwright reads it ---
  const names = new Map();
  function nameOf(e) {
    let name = names.get(e);
    if (name === undefined) {
      name = NAMELESS.has(roleOf(e)) ? '' : cut(fold(alternative(e, { seen: new Set(), place: 'self' })));
      names.set(e, name);
    }
    return name;
  }
  const referred = (e, ids) => byId(e, ids).map((ref) => alternative(ref, { seen: new Set(), by: true, open: isHidden(ref) }));
  const labelText = (e, seen) => [...e.labels].map((label) => alternative(label, { seen: seen || new Set(), label: true, open: isHidden(label) }))
    .filter(Boolean).join(' ');
  // `seen`: elements that have given their part. `place`: "self", or "inside" the named element; `by`, `label`, `native`: reached
  // through aria-labelledby, a label, a caption. `open`: that one is hidden, and so is read although it is.
  function alternative(e, how) {
    const { seen } = how, tag = tagOf(e);
    if (seen.has(e)) return '';
    if (/^(STYLE|SCRIPT|NOSCRIPT|TEMPLATE)$/.test(tag) || (!how.open && isHidden(e))) { seen.add(e); return ''; }
    const deeper = how.place ? { ...how, place: 'inside' } : how;
    const by = byId(e, attr(e, 'aria-labelledby'));
    if (!how.by && by.length) {
      const text = by.map((ref) => alternative(ref, { seen, by: true, open: isHidden(ref) })).join(' ');
      if (text) return text;
    }
    const role = roleOf(e), said = attr(e, 'aria-label') || '', title = attr(e, 'title') || '';
    if ((how.label || how.by || how.place === 'inside') && !by.includes(e)) {
      const value = valueOf(e, tag, role, how, deeper);
      if (value !== undefined) { seen.add(e); return value; }
    }
    if (said.trim()) { seen.add(e); return said; }
    if (!isEmpty(role)) {
      const native = nativeName(e, tag, title, by, how, deeper);
      if (native !== undefined) { seen.add(e); return native; }
    }
    if (FROM_CONTENT.has(role) || (how.place === 'inside' && (!role || FROM_CONTENT_INSIDE.has(role))) || tag === 'SUMMARY' ||
        how.by || how.label || how.native) {
      seen.add(e);
      const text = content(e, deeper);
      if (how.place === 'self' ? text.trim() : text) return text;
    }
    seen.add(e);
    return (!isEmpty(role) || tag === 'IFRAME' || tag === 'FRAME') && title.trim() ? title : '';
  }
  function valueOf(e, tag, role, how, deeper) { // what a control adds to the name of something else
    switch (role) {
      case 'textbox': case 'searchbox':
        if (e.type === 'password') return '';
        return tag === 'INPUT' || tag === 'TEXTAREA' ? e.value : e.textContent;
      case 'combobox': case 'listbox': {
        let chosen = [];
        if (tag === 'SELECT') { chosen = [...e.selectedOptions]; if (!chosen.length && e.options.length) chosen = [e.options[0]]; }
        else {
          const list = role === 'listbox' ? e : [...e.querySelectorAll('*')].find((one) => roleOf(one) === 'listbox');
          if (list) chosen = [...list.querySelectorAll('[aria-selected="true" i]')].filter((one) => roleOf(one) === 'option');
        }
        if (!chosen.length && tag === 'INPUT') return e.value;
        return chosen.map((one) => alternative(one, deeper)).join(' ');
      }
      case 'progressbar': case 'scrollbar': case 'slider': case 'spinbutton': case 'meter':
        return attr(e, 'aria-valuetext') ?? attr(e, 'aria-valuenow') ?? attr(e, 'value') ?? '';
      case 'menu': return '';
      default: return undefined;
    }
  }
  function nativeName(e, tag, title, by, how, deeper) { // what HTML gives it; undefined: nothing but its content
    const isLabelled = e.labels && e.labels.length > 0;
    const captioned = (name) => {
      const caption = [...childrenOf(e)].find((one) => tagOf(one) === name);
      return caption && alternative(caption, { ...deeper, native: true, open: how.open || isHidden(caption) });
    };
    switch (tag) {
      case 'INPUT': {
        const type = e.type;
        if (type === 'button' || type === 'submit' || type === 'reset')
          return e.value.trim() ? e.value : type === 'submit' ? 'Submit' : type === 'reset' ? 'Reset' : title;
        if (type === 'file' || type === 'image') {
          if (isLabelled && !how.by) return labelText(e, how.seen);
          if (type === 'file') return 'Choose File';
          return [attr(e, 'alt') || '', title].find((text) => text.trim()) || 'Submit';
        }
      } // falls through
      case 'TEXTAREA': case 'SELECT': case 'METER': case 'PROGRESS': {
        if (by.length) return undefined;
        if (isLabelled) { how.seen.add(e); return labelText(e, how.seen); }
        const isText = tag === 'TEXTAREA' || (tag === 'INPUT' && /^(text|password|number|search|tel|email|url)$/.test(e.type));
        return isText && !title ? attr(e, 'placeholder') || '' : title;
      }
      case 'BUTTON': case 'OUTPUT':
        if (by.length) return undefined;
        if (isLabelled) { how.seen.add(e); return labelText(e, how.seen); }
        return tag === 'OUTPUT' ? title : undefined;
      case 'FIELDSET': case 'FIGURE':
        return by.length ? undefined : captioned(tag === 'FIELDSET' ? 'LEGEND' : 'FIGCAPTION') ?? title;
      case 'TABLE': return captioned('CAPTION') ?? (attr(e, 'summary') || undefined);
      case 'IMG': case 'AREA': return (attr(e, 'alt') || '').trim() ? attr(e, 'alt') : title;
      default: {
        if (tag !== 'SVG' && !e.ownerSVGElement) return undefined;
        const label = [...childrenOf(e)].find((one) => tagOf(one) === 'TITLE');
        return label && alternative(label, { ...deeper, by: true, open: how.open || isHidden(label) });
      }
    }
  }
  function content(e, how) {
    const parts = [pseudo(e, '::before')];
    let length = 0;
    for (const node of inner(e)) {
      if (length > 4 * LONGEST) break;
      let part = '';
      if (node.nodeType === 3) { if (how.open || !isUnread(node)) part = node.data; }
      else if (node.nodeType === 1) {
        part = alternative(node, how);
        if (tagOf(node) === 'BR' || getComputedStyle(node).display !== 'inline') part = ` ${part} `;
      }
      parts.push(part);
      length += fold(part).length;
    }
    parts.push(pseudo(e, '::after'));
    return parts.join('');
  }
  function isUnread(text) {
    const outer = parentOf(text);
    return outer && ((shadowOf(outer) && !text.assignedSlot) || (tagOf(outer) === 'DETAILS' && !outer.open));
  }
  function* inner(e) {
    const given = tagOf(e) === 'SLOT' ? e.assignedNodes() : [];
    if (given.length) { yield* given; return; }
    for (const node of nodesOf(e)) if (!node.assignedSlot) yield node;
    if (shadowOf(e)) for (const node of shadowOf(e).childNodes) if (!node.assignedSlot) yield node;
    if (has(e, 'aria-owns')) for (const owned of byId(e, attr(e, 'aria-owns'))) yield owned;
  }
  function pseudo(e, which) { // the text that a style adds, such as the letter of an icon font
    const style = getComputedStyle(e, which), said = style.content;
    if (!said || said === 'none' || said === 'normal' || style.display === 'none' || style.visibility === 'hidden') return '';
    const spoken = said.match(/\/\s*((?:"(?:[^"\\]|\\.)*"\s*)+)$/);
    const tokens = (spoken ? spoken[1] : said).match(/"(?:[^"\\]|\\.)*"|attr\([\w-]+\)|\S/g) || [];
    let text = '';
    for (const token of tokens) {
      if (token[0] === '"') text += token.slice(1, -1).replace(/\\([0-9a-f]{1,6}\s?|.)/gi, (_, code) =>
        /^[0-9a-f]/i.test(code) ? String.fromCodePoint(parseInt(code, 16)) : code);
      else if (token.startsWith('attr(')) text += attr(e, token.slice(5, -1)) || '';
      else return '';
    }
    return style.display === 'inline' ? text : ` ${text} `;
  }

  // --- what lies on top ---
  function hit(root, x, y) {
    let e = root.elementFromPoint(x, y);
    while (e && e.shadowRoot) {
      const deeper = e.shadowRoot.elementFromPoint(x, y);
      if (!deeper || deeper === e) break;
      e = deeper;
    }
    return e;
  }
  function within(e, outer) {
    for (let at = e; at; at = at.parentNode || at.host) if (at === outer) return true;
    return false;
  }
  const width = top.innerWidth, height = top.innerHeight;
  function blanketOf(doc) { // one element in the way of (nearly) the whole window, such as a modal's scrim
    const votes = new Map();
    for (const fx of [0.1, 0.5, 0.9]) for (const fy of [0.1, 0.5, 0.9]) {
      for (let at = hit(doc, width * fx, height * fy); at && at.nodeType === 1; at = at.parentElement || at.getRootNode().host) {
        if (/^(fixed|absolute)$/.test(getComputedStyle(at).position)) { votes.set(at, (votes.get(at) || 0) + 1); break; }
      }
    }
    for (const [e, count] of votes) {
      if (count < 8) continue;
      const text = (e.innerText || '').length, all = (doc.body?.innerText || '').length;
      if (text < all * 0.8 || e.matches('dialog, [role=dialog], [aria-modal=true]')) return e;
    }
    return null;
  }
  const blanket = blanketOf(top.document);
  function isCovered(e, rect, doc) {
    if (blanket && doc === top.document && !within(e, blanket)) return true;
    const x = rect.left + rect.width / 2, y = rect.top + rect.height / 2;
    if (x < 0 || y < 0 || x >= width || y >= height) return false;
    const on = hit(doc, x, y);
    if (!on || within(on, e) || within(e, on)) return false;
    const label = on.closest?.('label');
    return !(label && (label.control === e || within(e, label)));
  }

  // --- the walk ---
  const rows = [], places = new Map(), scrollers = [];
  let isCut = false;
  function walk(e, parent, edge, ox, oy, doc) {
    const tag = tagOf(e);
    if (SKIPPED.has(tag)) return;
    if (rows.length >= MOST) { isCut = true; return; }
    const index = rows.length;
    places.set(e, index);
    const rect = e.getBoundingClientRect();
    const isRendered = isShown(e);
    const isVisible = isRendered && rect.width > 0 && rect.height > 0;
    const type = tag === 'INPUT' ? e.type : '';
    const attributes = {};
    for (const a of attributesOf(e)) {
      if (DROPPED.test(a.name)) continue;
      if (a.name === 'value' && (type === 'password' || type === 'hidden')) continue;
      attributes[a.name] = cut(a.value);
    }
    const pieces = [];
    let before = 0;
    for (const node of nodesOf(e)) {
      if (node.nodeType === 1) { if (!SKIPPED.has(tagOf(node))) before += 1; else pieces.push([before, tagOf(node) === 'BR' ? '\n' : '']); }
      else if (node.nodeType === 3) { const data = node.data; if (/\S/.test(data)) pieces.push([before, cut(data)]); else if (data) pieces.push([before, ' ']); }
    }
    if (tag === 'SVG') { // its inside is not walked, but people read the labels of a chart
      const drawn = [...e.querySelectorAll('text')].map((text) => text.textContent).join('');
      pieces.length = 0;
      if (/\S/.test(drawn)) pieces.push([0, cut(drawn)]);
    }
    const role = isEmpty(roleOf(e)) ? '' : roleOf(e);
    const isControl = INTERACTIVE.has(role) || FORM.has(tag) || tag === 'SUMMARY';
    let flags = (isVisible ? 1 : 0) | (isHidden(e) ? 0 : 2);
    if (!((FORM.has(tag) && e.matches(':disabled')) || attr(e, 'aria-disabled') === 'true')) flags |= 4;
    if (e.checked === true || ['aria-checked', 'aria-selected', 'aria-pressed'].some((a) => attr(e, a) === 'true')) flags |= 8;
    if (isVisible) {
      const style = isControl ? null : getComputedStyle(e).cursor;
      const isPointer = style === 'pointer' && (!parentOf(e) || getComputedStyle(parentOf(e)).cursor !== 'pointer');
      if (isPointer || has(e, 'onclick') || isControl) flags |= 32;
      if (flags & 32 && isCovered(e, rect, doc)) flags |= 16;
      if (e.scrollHeight > e.clientHeight + 40 && e.clientHeight > 40 && /auto|scroll/.test(getComputedStyle(e).overflowY))
        scrollers.push([index, e.scrollHeight, e.clientHeight]);
    }
    const isNamed = role || tag === 'SUMMARY' || has(e, 'aria-label') || has(e, 'aria-labelledby') || has(e, 'title');
    const label = fold(referred(e, attr(e, 'aria-labelledby')).join(' ')) || (e.labels && e.labels.length ? fold(labelText(e)) : '') || fold(attr(e, 'aria-label') || '');
    rows.push([parent, tagName(e).toLowerCase(), attributes, pieces, role, isNamed ? nameOf(e) : '', cut(label), edge, flags,
      Math.round((rect.left + ox) * 10) / 10, Math.round((rect.top + oy) * 10) / 10,
      Math.round(rect.width * 10) / 10, Math.round(rect.height * 10) / 10]);
    if (shadowOf(e)) for (const child of shadowOf(e).children) walk(child, index, 'shadow', ox, oy, doc);
    if (tag === 'IFRAME' || tag === 'FRAME') {
      let inside = null;
      try { inside = e.contentDocument; } catch { /* another origin */ }
      if (inside?.documentElement)
        walk(inside.documentElement, index, 'frame', ox + rect.left + e.clientLeft, oy + rect.top + e.clientTop, inside);
    } else if (tag !== 'SVG') {
      for (const child of childrenOf(e)) walk(child, index, '', ox, oy, doc);
    }
  }
  const page = top.document;
  if (page.documentElement) walk(page.documentElement, -1, '', top.scrollX, top.scrollY, page);
  let at = target ? target : null;
  while (at && !places.has(at)) at = at.parentElement || at.getRootNode().host || null; // inside an svg: the svg
  return JSON.stringify({
    url: top.location.href, title: cut(page.title), language: page.documentElement?.lang || '',
    viewport: [width, height], state: page.readyState, cut: isCut, scrollers, elements: rows,
    target: at ? places.get(at) : null,
  });
}
