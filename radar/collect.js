// Describes the whole page the script runs in as one JSON string (see browser.py for the shape).
// Called with an element (or null): its place in the list comes back as `target`. `read` names what to read of it as well:
// "text", "value" or "attribute:NAME"; it comes back as `seen`. `kept` is what one call leaves to the next on the same
// page: what its style sheets say, the frames that could not be entered, and the rows that were told last. `known` are the
// tokens of descriptions that the caller still has: where one of them is the last one, only what is new since is told.
(target, read = '', kept = {}, known = []) => {
  const CLOBBERED = {}, STALE = {}, last = kept.said;
  kept.said = null; // whatever goes wrong from here on, nothing is taken for known that may not be
  try { return describe(false); } catch (error) { if (error !== CLOBBERED) throw error; return describe(true); }

  function describe(isCareful) {
    // Texts are cut a little later than they are kept: a secret at the cut must be whole to be recognised.
    const LONGEST = 300, SPARE = 200, MOST = 20000, LONGEST_READ = 100000;
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

    const UNFOLDED = /[\u200b\u00ad]|[^\S ]|^ | $| {2}/;
    const fold = (text) => text && UNFOLDED.test(text) ? text.replace(/[\u200b\u00ad]/g, '').replace(/\s+/g, ' ').trim() : text;
    let isLong = false;
    function cut(text) {
      if (text.length <= LONGEST) return text;
      isLong = true;
      return text.slice(0, LONGEST + SPARE);
    }

    let top = window;
    try { while (top.parent !== top && top.parent.document) top = top.parent; } catch { /* another origin's page is around us */ }

    // A form gives its fields as properties of its own ("children", "closest", …). Where one has such a field, everything is
    // asked of the prototypes, which takes longer; where none has, the plain way is safe. A document does the same with its
    // images and forms.
    const getter = (type, name) => { const { get } = Object.getOwnPropertyDescriptor(type.prototype, name); return (e) => get.call(e); };
    const method = (type, name) => { const called = type.prototype[name]; return (e, given) => called.call(e, given); };
    const USED = ('tagName children attributes shadowRoot firstChild nextSibling parentElement parentNode nodeType assignedSlot ' +
      'clientWidth clientHeight scrollHeight previousElementSibling nextElementSibling clientLeft clientTop getAttribute hasAttribute ' +
      'matches closest getBoundingClientRect checkVisibility getRootNode querySelectorAll hidden innerText ownerSVGElement isConnected ' +
      'textContent checked type labels').split(' ');
    const checked = new Set();
    function checkForms(root) {
      if (isCareful || checked.has(root)) return;
      checked.add(root);
      const forms = (root.nodeType === 11 ? DocumentFragment : Document).prototype.querySelectorAll.call(root, 'form');
      for (let n = 0; n < forms.length; n++)
        for (const name of USED) if (Object.prototype.hasOwnProperty.call(forms[n], name)) throw CLOBBERED;
    }
    checkForms(top.document);
    const one = (type, name, plain) => isCareful ? getter(type, name) : plain;
    const two = (type, name, plain) => isCareful ? method(type, name) : plain;
    const tagName = one(Element, 'tagName', (e) => e.tagName), attributesOf = one(Element, 'attributes', (e) => e.attributes),
      shadowIn = one(Element, 'shadowRoot', (e) => e.shadowRoot), firstNode = one(Node, 'firstChild', (e) => e.firstChild),
      nextNode = one(Node, 'nextSibling', (e) => e.nextSibling), parentOf = one(Node, 'parentElement', (e) => e.parentElement),
      outerOf = one(Node, 'parentNode', (e) => e.parentNode), typeOf = one(Node, 'nodeType', (e) => e.nodeType),
      slotOf = one(Element, 'assignedSlot', (e) => e.assignedSlot), heightIn = one(Element, 'clientHeight', (e) => e.clientHeight),
      scrollHeight = one(Element, 'scrollHeight', (e) => e.scrollHeight);
    const childrenOf = getter(Element, 'children'), beforeOf = getter(Element, 'previousElementSibling'),
      afterOf = getter(Element, 'nextElementSibling'), leftOf = getter(Element, 'clientLeft'), topOf = getter(Element, 'clientTop');
    const attr = two(Element, 'getAttribute', (e, name) => e.getAttribute(name)),
      has = two(Element, 'hasAttribute', (e, name) => e.hasAttribute(name)),
      rectOf = two(Element, 'getBoundingClientRect', (e) => e.getBoundingClientRect()),
      hasBox = two(Element, 'checkVisibility', (e, how) => e.checkVisibility(how)), rootOf = two(Node, 'getRootNode', (e) => e.getRootNode());
    const matches = method(Element, 'matches'), upTo = method(Element, 'closest'), allIn = method(Element, 'querySelectorAll');
    const rootIn = getter(Document, 'documentElement'), bodyIn = getter(Document, 'body'), titleIn = getter(Document, 'title'),
      stateOf = getter(Document, 'readyState');
    function shadowOf(e) {
      const shadow = shadowIn(e);
      if (shadow) checkForms(shadow);
      return shadow;
    }
    const UPPER = Object.create(null);
    function tagOf(e) {
      const name = tagName(e);
      return UPPER[name] || (UPPER[name] = name.toUpperCase());
    }
    const styles = new Map();
    function styleOf(e) {
      let style = styles.get(e);
      if (style === undefined) { style = getComputedStyle(e); styles.set(e, style); }
      return style;
    }
    const displays = new Map(); // of elements where it decides what others are called
    function displayOf(e) {
      const { display } = styleOf(e);
      displays.set(e, display);
      return display;
    }
    let isForeign = false; // does the row being made depend on more than its element, what is in it and what is around it?

    // --- roles, as Playwright gives them: what its locators find is what a locator means here ---
    const hostOf = (root) => root && typeOf(root) === 11 ? root.host || null : null; // of a shadow root
    const around = (e) => parentOf(e) || hostOf(outerOf(e));
    function closest(e, css) { // through shadow roots
      for (let at = e; at; at = hostOf(rootOf(at))) { const found = upTo(at, css); if (found) return found; }
      return null;
    }
    const byIdIn = { 9: method(Document, 'getElementById'), 11: method(DocumentFragment, 'getElementById') };
    const NONE = [];
    function byId(e, ids) {
      if (!ids) return NONE;
      isForeign = true;
      const root = rootOf(e), find = byIdIn[typeOf(root)];
      return find ? ids.trim().split(/\s+/).map((id) => id && find(root, id)).filter(Boolean) : NONE;
    }
    function implied(e, tag) {
      switch (tag) {
        case 'A': case 'AREA': return has(e, 'href') ? 'link' : '';
        case 'INPUT': {
          const type = e.type;
          if (type === 'hidden') return '';
          if (/^(email|search|tel|text|url|)$/.test(type)) {
            if (attr(e, 'list') && byId(e, attr(e, 'list')).slice(0, 1).some((one) => tagOf(one) === 'DATALIST')) return 'combobox';
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
      const scope = attr(e, 'scope'), before = beforeOf(e), after = afterOf(e);
      if (scope === 'col' || scope === 'colgroup') return 'columnheader';
      if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
      if (!before && !after) {
        const table = parentOf(e) && tagOf(parentOf(e)) === 'TR' ? closest(e, 'table') : null;
        return table && table.rows.length <= 1 ? '' : 'columnheader';
      }
      if (before && after && tagOf(before) === 'TH' && tagOf(after) === 'TH') return 'columnheader';
      const isData = (cell) => cell && tagOf(cell) === 'TD' && (cell.textContent.trim() || cell.children.length);
      return isData(before) || isData(after) ? 'rowheader' : 'columnheader';
    }
    function explicit(e) {
      const said = e && attr(e, 'role');
      return said ? said.toLowerCase().split(/\s+/).find((role) => ROLES.has(role)) || '' : '';
    }
    const isEmpty = (role) => role === 'none' || role === 'presentation';
    const hasTabIndex = (e) => has(e, 'tabindex') && !Number.isNaN(Number(attr(e, 'tabindex')));
    const isGlobal = (e, role) => GLOBAL.some((name) => has(e, name) && !(/label/.test(name) && NAMELESS.has(role)));
    function keepsRole(e, role) { // no "presentation" for what can have the focus or says more in ARIA
      if (isGlobal(e, role)) return true;
      const tag = tagOf(e);
      if (FORM.has(tag) && matches(e, ':disabled')) return false;
      return /^(BUTTON|DETAILS|SELECT|TEXTAREA)$/.test(tag) || (/^(A|AREA)$/.test(tag) && has(e, 'href')) ||
        (tag === 'INPUT' && !e.hidden) || hasTabIndex(e);
    }
    function inherited(e) { // the implied role, unless the list or table around it is "presentation"
      const tag = tagOf(e), role = implied(e, tag);
      if (!PARTS[tag]) return role;
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

    const shown = new Map(), VISIBLY = { visibilityProperty: true };
    function isShown(e) { // displayed, and not hidden by style
      let value = shown.get(e);
      if (value === undefined) {
        const tag = tagOf(e);
        value = (tag === 'OPTION' || tag === 'OPTGROUP') && parentOf(e)
          ? isShown(upTo(e, 'select') || parentOf(e)) && !e.hidden
          : hasBox(e, VISIBLY);
        shown.set(e, value);
      }
      return value;
    }

    const hiddens = new Map();
    function isHidden(e) { // from assistive tools
      let hidden = hiddens.get(e);
      if (hidden === undefined) {
        const tag = tagOf(e);
        // What is shown has a box, and so has everything around it: nothing is left to ask but aria-hidden.
        if (tag !== 'OPTION' && tag !== 'OPTGROUP' && isShown(e)) hidden = isMuted(e);
        else if (displayOf(e) === 'contents' && tag !== 'SLOT') hidden = !hasHeard(e);
        else
          hidden = (tag !== 'SLOT' && !(tag === 'OPTION' && upTo(e, 'select')) && !(hasBox(e) && styleOf(e).visibility === 'visible'))
            || isOut(e);
        hiddens.set(e, hidden);
      }
      return hidden;
    }
    function hasHeard(e) {
      for (let node = firstNode(e); node; node = nextNode(node)) {
        const type = typeOf(node);
        if (type === 1 ? !SKIPPED.has(tagOf(node)) && !isHidden(node) : type === 3 && /\S/.test(node.data) && !isOut(e)) return true;
      }
      return false;
    }
    const muted = new Map();
    function isMuted(e) { // aria-hidden, itself or by an element around it
      let value = muted.get(e);
      if (value === undefined) {
        const said = attr(e, 'aria-hidden'), outer = said && said.toLowerCase() === 'true' ? null : around(e);
        value = outer ? isMuted(outer) : Boolean(said) && said.toLowerCase() === 'true';
        muted.set(e, value);
      }
      return value;
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
        out = out || (parentOf(at) && shadowOf(parentOf(at)) && !slotOf(at)) || displayOf(at) === 'none' ||
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
    const LABELABLE = new Set(['BUTTON', 'INPUT', 'METER', 'OUTPUT', 'PROGRESS', 'SELECT', 'TEXTAREA']);
    function labelsOf(e, tag) { // null for none
      if (!LABELABLE.has(tag)) return null;
      isForeign = true;
      const { labels } = e;
      return labels && labels.length ? labels : null;
    }
    const labelText = (e, seen) => [...e.labels]
      .map((label) => alternative(label, { seen: seen || new Set(), label: true, open: isHidden(label) })).filter(Boolean).join(' ');
    // `seen`: elements that have given their part. `place`: "self", or "inside" the named element; `by`, `label`, `native`: reached
    // through aria-labelledby, a label, a caption. `open`: that one is hidden, and so is read although it is.
    function alternative(e, how) {
      const { seen } = how, tag = tagOf(e);
      if (seen.has(e)) return '';
      if (/^(STYLE|SCRIPT|NOSCRIPT|TEMPLATE)$/.test(tag) || (!how.open && isHidden(e))) { seen.add(e); return ''; }
      const deeper = how.place === 'self' ? { ...how, place: 'inside' } : how;
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
    const consulted = new Map(); // fields whose values are part of a name
    const mark = (e) => e.value + ' ' + e.selectedIndex;
    function valueOf(e, tag, role, how, deeper) { // what a control adds to the name of something else
      if (tag === 'INPUT' || tag === 'TEXTAREA' || tag === 'SELECT') consulted.set(e, mark(e));
      switch (role) {
        case 'textbox': case 'searchbox':
          if (e.type === 'password') return '';
          return tag === 'INPUT' || tag === 'TEXTAREA' ? e.value : e.textContent;
        case 'combobox': case 'listbox': {
          let chosen = [];
          if (tag === 'SELECT') { chosen = [...e.selectedOptions]; if (!chosen.length && e.options.length) chosen = [e.options[0]]; }
          else {
            const list = role === 'listbox' ? e : [...allIn(e, '*')].find((one) => roleOf(one) === 'listbox');
            if (list) chosen = [...allIn(list, '[aria-selected="true" i]')].filter((one) => roleOf(one) === 'option');
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
      const isLabelled = labelsOf(e, tag) !== null;
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
      const isDressed = mayBeDressed(e), parts = [];
      if (isDressed) { isForeign = true; parts.push(pseudo(e, '::before')); }
      let length = 0, raw = 0;
      for (const node of inner(e)) {
        if (length > 4 * LONGEST) break; // nobody keeps that much
        let part = '';
        const type = typeOf(node);
        if (type === 3) { if (how.open || !isUnread(node)) part = node.data; }
        else if (type === 1) {
          part = alternative(node, how);
          if (tagOf(node) === 'BR' || displayOf(node) !== 'inline') part = ` ${part} `;
        }
        parts.push(part);
        raw += part.length;
        if (raw > 4 * LONGEST) length += fold(part).length;
      }
      if (isDressed) parts.push(pseudo(e, '::after'));
      return parts.join('');
    }
    function isUnread(text) {
      const outer = parentOf(text);
      return outer && ((shadowOf(outer) && !text.assignedSlot) || (tagOf(outer) === 'DETAILS' && !outer.open));
    }
    const isSlotted = (node) => Boolean(typeOf(node) === 1 ? slotOf(node) : node.assignedSlot);
    function inner(e) { // the nodes that are shown in it
      const given = tagOf(e) === 'SLOT' ? e.assignedNodes() : NONE;
      if (given.length) return given;
      const shadow = shadowOf(e), nodes = [];
      for (let node = firstNode(e); node; node = nextNode(node)) if (!shadow || !isSlotted(node)) nodes.push(node);
      if (shadow) for (let node = firstNode(shadow); node; node = nextNode(node)) if (!isSlotted(node)) nodes.push(node);
      if (has(e, 'aria-owns')) nodes.push(...byId(e, attr(e, 'aria-owns')));
      return nodes;
    }
    // Which elements may have a ::before or ::after, and which may show the hand: asked of the style sheets, for asking every
    // element takes long. Superfluous ones do no harm; null: it cannot be told.
    const sheets = kept.sheets || (kept.sheets = new WeakMap());
    function selectorsIn(rules, found) {
      for (const rule of rules) {
        const { style } = rule;
        if (style) {
          const said = rule.selectorText, isAdded = /:(before|after)/.test(said) && style.getPropertyValue('content');
          if (isAdded || style.getPropertyValue('cursor') || style.getPropertyValue('all')) {
            if (/&|:host|::slotted|::part/.test(said)) return null;
            (isAdded ? found.added : found.hand).push(said.replace(/::?(before|after)/g, '').replace(/(^|,)\s*(?=,|$)/g, '$1*'));
          }
        }
        const deeper = rule.cssRules || (rule.styleSheet && rule.styleSheet.cssRules);
        if (deeper && deeper.length && !selectorsIn(deeper, found)) return null;
      }
      return found;
    }
    function selectorsOf(sheet) {
      const rules = sheet.cssRules, known = sheets.get(sheet);
      if (known && known.length === rules.length) return known.found;
      const found = selectorsIn(rules, { added: [], hand: [], count: rules.length });
      sheets.set(sheet, { length: rules.length, found });
      return found;
    }
    const styled = new Map();
    function styledIn(root) {
      let some = styled.get(root);
      if (some !== undefined) return some;
      some = null;
      try {
        const parts = [...root.styleSheets, ...root.adoptedStyleSheets].filter((sheet) => !sheet.disabled).map(selectorsOf);
        if (typeOf(root) === 9 && !parts.includes(null)) {
          const find = (said) => new Set(said.length ? Document.prototype.querySelectorAll.call(root, said.join(', ')) : []);
          const hand = [...parts.flatMap((part) => part.hand), '[style*=cursor i]', 'a', 'area'];
          const added = parts.flatMap((part) => part.added);
          some = { added: find(added), hand: find(hand), count: parts.map((part) => part.count).join(),
            isFixed: !added.some((said) => /:(?!not|is|where|first|last|nth|only|root|empty)/.test(said)) };
        }
      } catch { /* a sheet of another origin, or a selector that cannot be asked: ask every element */ }
      styled.set(root, some);
      return some;
    }
    // A shadow root's sheets dress its host and what is slotted into it as well.
    const isReached = (e) => Boolean(shadowIn(e) || (parentOf(e) && shadowIn(parentOf(e))));
    function mayBeDressed(e) {
      const some = styledIn(rootOf(e));
      return !some || some.added.has(e) || isReached(e);
    }
    const added = { '::before': new Map(), '::after': new Map() };
    function pseudo(e, which) { // the text that a style adds, such as the letter of an icon font
      let text = added[which].get(e);
      if (text === undefined) { text = styledText(e, which); added[which].set(e, text); }
      return text;
    }
    function styledText(e, which) {
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
    const pointIn = (root, x, y) => (typeOf(root) === 9 ? Document : ShadowRoot).prototype.elementFromPoint.call(root, x, y);
    function hit(root, x, y) {
      let e = pointIn(root, x, y);
      while (e && shadowOf(e)) {
        const deeper = pointIn(shadowOf(e), x, y);
        if (!deeper || deeper === e) break;
        e = deeper;
      }
      return e;
    }
    function within(e, outer) {
      for (let at = e; at; at = outerOf(at) || hostOf(at)) if (at === outer) return true;
      return false;
    }
    const width = top.innerWidth, height = top.innerHeight;
    function blanketOf(doc) { // one element in the way of (nearly) the whole window, such as a modal's scrim
      const votes = new Map();
      for (const fx of [0.1, 0.5, 0.9]) for (const fy of [0.1, 0.5, 0.9]) {
        for (let at = hit(doc, width * fx, height * fy); at; at = around(at)) {
          if (/^(fixed|absolute)$/.test(styleOf(at).position)) { votes.set(at, (votes.get(at) || 0) + 1); break; }
        }
      }
      for (const [e, count] of votes) {
        if (count < 8) continue;
        if (matches(e, 'dialog, [role=dialog], [aria-modal=true]')) return e;
        const text = (e.innerText || '').length, body = bodyIn(doc), all = (body && body.innerText || '').length;
        if (text < all * 0.8) return e;
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
      const label = upTo(on, 'label');
      return !(label && (label.control === e || within(e, label)));
    }

    // --- the walk ---
    let rows = [];
    const lost = [], frames = [], scrollers = [], dropped = new Map();
    function isDropped(name) {
      let value = dropped.get(name);
      if (value === undefined) { value = DROPPED.test(name); dropped.set(name, value); }
      return value;
    }
    const hasHand = (e) => styleOf(e).cursor === 'pointer';
    function handsIn(doc) {
      const some = styledIn(doc);
      return some && some.hand;
    }
    const tenth = (number) => Math.round(number * 10) / 10;
    function flagsOf(e, tag, index, rect, isRendered, isControl, doc, hands) {
      const isVisible = isRendered && rect.width > 0 && rect.height > 0;
      let flags = (isVisible ? 1 : 0) | (isHidden(e) ? 0 : 2);
      if (!((FORM.has(tag) && matches(e, ':disabled')) || attr(e, 'aria-disabled') === 'true')) flags |= 4;
      if (e.checked === true || attr(e, 'aria-checked') === 'true' || attr(e, 'aria-selected') === 'true' ||
          attr(e, 'aria-pressed') === 'true') flags |= 8;
      return isVisible ? flags | seenFlags(e, index, rect, isControl, doc, hands, has(e, 'onclick')) : flags;
    }
    function seenFlags(e, index, rect, isControl, doc, hands, listens) {
      let flags = 0;
      const isPointer = !isControl && (!hands || hands.has(e) || isReached(e)) && hasHand(e) && !(parentOf(e) && hasHand(parentOf(e)));
      if (isPointer || isControl || listens) flags |= isCovered(e, rect, doc) ? 48 : 32;
      const part = heightIn(e);
      if (part > 40 && scrollHeight(e) > part + 40 && /auto|scroll/.test(styleOf(e).overflowY))
        scrollers.push([index, scrollHeight(e), part]);
      return flags;
    }
    let isCut = false, isPlain = true;
    const rendered = [], controls = [], listening = [], foreign = [];
    let still = null; // what of the last look may still hold: { was, own, below }
    function walk(e, parent, edge, ox, oy, doc, hands, isFresh) {
      const tag = tagOf(e);
      if (SKIPPED.has(tag)) return;
      if (rows.length >= MOST) { isCut = true; return; }
      const index = rows.length;
      places.set(e, index);
      const rect = rectOf(e);
      const isRendered = isShown(e);
      isFresh = isFresh || !still || still.below.has(e);
      const at = isFresh || still.own.has(e) ? undefined : still.was.places.get(e);
      if (at !== undefined && !still.was.foreign[at]) {
        again(e, tag, at, parent, rect, isRendered, ox, oy, doc, hands);
        if (tag === 'SVG') return;
        for (let node = firstNode(e); node; node = nextNode(node)) if (typeOf(node) === 1) walk(node, index, '', ox, oy, doc, hands, false);
        return;
      }
      isForeign = FORM.has(tag) || tag === 'TH';
      const type = tag === 'INPUT' ? e.type : '';
      const attributes = {};
      const given = attributesOf(e);
      for (let number = 0; number < given.length; number++) {
        const { name, value } = given[number];
        if (isDropped(name)) continue;
        if (name === 'value' && (type === 'password' || type === 'hidden')) continue;
        attributes[name] = cut(value);
      }
      const pieces = [], below = [];
      let before = 0;
      for (let node = firstNode(e); node; node = nextNode(node)) {
        const kind = typeOf(node);
        if (kind === 1) {
          if (SKIPPED.has(tagOf(node))) { pieces.push([before, tagOf(node) === 'BR' ? '\n' : '']); continue; }
          before += 1;
          below.push(node);
        } else if (kind === 3 && node.data) pieces.push([before, /\S/.test(node.data) ? cut(node.data) : ' ']);
      }
      if (tag === 'SVG') { // its inside is not walked, but people read the labels of a chart
        const drawn = [...allIn(e, 'text')].map((text) => text.textContent).join('');
        pieces.length = 0;
        if (/\S/.test(drawn)) pieces.push([0, cut(drawn)]);
      }
      const own = roleOf(e), role = isEmpty(own) ? '' : own;
      const isControl = INTERACTIVE.has(role) || FORM.has(tag) || tag === 'SUMMARY';
      const flags = flagsOf(e, tag, index, rect, isRendered, isControl, doc, hands);
      rendered.push(isRendered);
      listening.push(has(e, 'onclick'));
      controls.push(isControl);
      const by = attr(e, 'aria-labelledby'), said = attr(e, 'aria-label');
      const isNamed = role || tag === 'SUMMARY' || said !== null || by !== null || has(e, 'title');
      const label = (by && fold(referred(e, by).join(' '))) || (labelsOf(e, tag) ? fold(labelText(e)) : '') || fold(said || '');
      rows.push([parent, tag.toLowerCase(), attributes, pieces, role, isNamed ? nameOf(e) : '', cut(label), edge, flags,
        tenth(rect.left + ox), tenth(rect.top + oy), tenth(rect.width), tenth(rect.height)]);
      foreign.push(isForeign);
      const shadow = shadowOf(e);
      if (shadow) isPlain = false;
      if (shadow) for (const child of shadow.children) walk(child, index, 'shadow', ox, oy, doc, null, true);
      if (tag === 'IFRAME' || tag === 'FRAME') {
        isPlain = false;
        let within = null;
        try { within = e.contentDocument; } catch { /* another origin */ }
        if (!within) { lost.push(index); frames.push(e); }
        else if (rootIn(within)) {
          checkForms(within);
          walk(rootIn(within), index, 'frame', ox + rect.left + leftOf(e), oy + rect.top + topOf(e), within, handsIn(within), true);
        }
      } else if (tag !== 'SVG') {
        for (const child of below) walk(child, index, '', ox, oy, doc, hands, isFresh);
      }
    }
    function flagsAgain(e, tag, index, rect, isRendered, doc, hands, old, isControl, listens) { // 14: what its attributes say
      if (!isRendered || FORM.has(tag)) return flagsOf(e, tag, index, rect, isRendered, isControl, doc, hands);
      if (!(rect.width > 0 && rect.height > 0)) return old & 14;
      return old & 14 | 1 | seenFlags(e, index, rect, isControl, doc, hands, listens);
    }
    function again(e, tag, at, parent, rect, isRendered, ox, oy, doc, hands) { // the row it had, with the numbers of now
      const { was } = still, row = was.rows[at], isControl = was.controls[at], listens = was.listening[at];
      const flags = flagsAgain(e, tag, rows.length, rect, isRendered, doc, hands, row[8], isControl, listens);
      if ((flags ^ row[8]) & 2) throw STALE;
      const numbers = [flags, tenth(rect.left + ox), tenth(rect.top + oy), tenth(rect.width), tenth(rect.height)];
      rows.push(parent === row[0] && numbers.every((number, n) => number === row[8 + n]) ? row
        : [parent, ...row.slice(1, 8), ...numbers]);
      rendered.push(isRendered);
      listening.push(listens);
      controls.push(isControl);
      foreign.push(false);
    }
    // --- a second look ---
    // While nothing has changed the page, what is said of its elements holds: only what the pointer, the keys and time change
    // is looked at anew. Where something has, the elements it may concern are described anew and the others are not. Pages in
    // pieces (frames, shadow roots) are always looked at as a whole.
    const MOST_RECORDS = 500;
    function styledAsIt(was) { // the page's styles, if they are those of the last look
      if (!was || was.isOver || was.root !== root || isCareful) return null;
      was.records.push(...was.observer.takeRecords());
      const some = styledIn(page);
      if (!some || !some.isFixed || some.count !== was.count || was.records.length > MOST_RECORDS) return null;
      for (const [e, value] of was.consulted) if (mark(e) !== value) return null;
      return some;
    }
    function refreshed(was) {
      const some = styledAsIt(was);
      if (!some || was.records.length) return false;
      const ox = top.scrollX, oy = top.scrollY, news = [], { all } = was;
      for (let index = 0; index < all.length; index++) {
        const e = all[index], row = was.rows[index], isRendered = isShown(e);
        if (isRendered !== was.rendered[index] || shadowIn(e)) return false;
        const rect = rectOf(e);
        const flags = flagsAgain(e, tagOf(e), index, rect, isRendered, page, some.hand, row[8], was.controls[index], was.listening[index]);
        if ((flags ^ row[8]) & 2) return false;
        const x = tenth(rect.left + ox), y = tenth(rect.top + oy), wide = tenth(rect.width), tall = tenth(rect.height);
        if (flags !== row[8] || x !== row[9] || y !== row[10] || wide !== row[11] || tall !== row[12])
          news.push([index, flags, x, y, wide, tall]);
      }
      for (const [index, ...numbers] of news) was.rows[index].splice(8, 5, ...numbers); // only now: it holds as a whole
      moved = news;
      rows = was.rows;
      places = was.places;
      isLong = was.isLong;
      isCut = was.isCut;
      return true;
    }
    // What of the last look still holds, or null for nothing. What a row says of an element comes from the element, what is in
    // it and, for roles and aria-hidden, what is around it; rows that say more ("foreign": names by reference, labels, text
    // from styles) never hold. Styles play a part where they show, hide or break lines, which is asked of each element.
    function holding(was) {
      const some = styledAsIt(was);
      if (!some) return null;
      const own = new Set(), below = new Set();
      const spoilUp = (e) => { for (let at = e; at && !own.has(at); at = parentOf(at)) own.add(at); };
      const spoil = (e) => { below.add(e); spoilUp(e); };
      for (const { type, target, addedNodes } of was.records) {
        const e = typeOf(target) === 1 ? target : parentOf(target);
        if (!e) return null;
        if (type === 'attributes') spoil(e);
        else spoilUp(e);
        for (const node of addedNodes) below.add(node);
      }
      const { all } = was;
      for (let index = 0; index < all.length; index++) {
        if (shadowIn(all[index])) return null;
        if (isShown(all[index]) !== was.rendered[index]) spoil(all[index]);
      }
      for (const [e, display] of was.displays) if (e.isConnected && displayOf(e) !== display) spoil(e);
      for (const [these, those] of [[some.added, was.added], [was.added, some.added]])
        for (const e of these) if (!those.has(e)) spoil(e);
      return { was, own, below };
    }
    function lookAnew(what) {
      still = what;
      rows = [];
      places = new Map();
      isCut = false;
      isPlain = true;
      for (const list of [scrollers, lost, frames, rendered, controls, listening, foreign]) list.length = 0;
      if (!still) displays.clear();
      else for (const [e, value] of still.was.consulted) if (e.isConnected) consulted.set(e, value);
      isLong = Boolean(still && still.was.isLong);
      if (root) walk(root, -1, '', top.scrollX, top.scrollY, page, handsIn(page), false);
    }
    function remember() {
      if (kept.was) kept.was.observer.disconnect();
      kept.was = null;
      const some = styledIn(page);
      if (!kept.realm || !isPlain || isCareful || !some || !some.isFixed) return;
      const was = { root, rows, places, rendered, controls, listening, foreign, consulted, displays, isLong, isCut,
        added: some.added, count: some.count, all: [...places.keys()], records: [] };
      was.observer = new MutationObserver((records) => {
        was.records.push(...records);
        if (was.records.length <= MOST_RECORDS) return;
        was.isOver = true;
        was.observer.disconnect();
      });
      was.observer.observe(page, { subtree: true, childList: true, attributes: true, characterData: true });
      kept.was = was;
    }

    // --- what is new since the last time ---
    // A token names one description of one document in one world: it is found again only where both sides have that very one,
    // and never for a document that came after, a frame that was replaced, or a look whose answer was lost.
    let moved = null; // rows of which only the numbers are new: [index, flags, x, y, width, height]
    function isSame(a, b) {
      for (let n = 0; n < 13; n++) if (n !== 2 && n !== 3 && a[n] !== b[n]) return false;
      const names = Object.keys(a[2]), pieces = a[3];
      if (names.length !== Object.keys(b[2]).length || pieces.length !== b[3].length) return false;
      for (const name of names) if (a[2][name] !== b[2][name]) return false;
      for (let n = 0; n < pieces.length; n++)
        if (pieces[n][0] !== b[3][n][0] || pieces[n][1] !== b[3][n][1]) return false;
      return true;
    }
    function told() {
      if (!kept.realm || lost.length || window.top !== top) return { elements: rows };
      const token = `${kept.realm}-${kept.count = (kept.count || 0) + 1}`;
      kept.said = { token, rows };
      if (!last || !known.includes(last.token)) return { token, elements: rows };
      if (moved) return { token, since: last.token, count: rows.length, moved };
      const changed = [];
      for (let n = 0; n < rows.length; n++)
        if (n >= last.rows.length || (rows[n] !== last.rows[n] && !isSame(rows[n], last.rows[n]))) changed.push([n, rows[n]]);
      return { token, since: last.token, count: rows.length, changed };
    }

    const page = top.document, root = rootIn(page);
    let places = new Map();
    if (!refreshed(kept.was)) {
      try { lookAnew(holding(kept.was)); } catch (error) { if (error !== STALE) throw error; lookAnew(null); }
      remember();
    }
    let at = target ? target : null;
    while (at && !places.has(at)) at = around(at); // inside an svg: the svg

    function readOf(e) { // undefined where Playwright has to say it: a label for its field, an element outside of HTML
      const tag = tagOf(e);
      if (read === 'text') return e instanceof HTMLElement || e.ownerDocument !== document ? e.innerText : undefined;
      if (read === 'value') return tag === 'INPUT' || tag === 'TEXTAREA' || tag === 'SELECT' ? e.value : undefined;
      return read.startsWith('attribute:') ? attr(e, read.slice(10)) ?? '' : undefined;
    }
    kept.frames = frames;
    const got = target && read ? readOf(target) : undefined;
    return JSON.stringify({
      url: top.location.href, title: cut(titleIn(page)), language: root ? attr(root, 'lang') || '' : '',
      viewport: [width, height], state: stateOf(page), cut: isCut, scrollers, ...told(),
      target: at ? places.get(at) : null, long: isLong || undefined,
      lost: lost.length ? lost : undefined, // rows of frames with pages of other origins
      outer: window.top !== top || undefined, // this is itself such a page
      realm: kept.realm,
      seen: typeof got === 'string' && got.length <= LONGEST_READ ? got : undefined,
    });
  }
}
