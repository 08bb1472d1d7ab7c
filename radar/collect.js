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
  const SECTIONING = 'article, aside, main, nav, section, [role=article], [role=complementary], [role=main], ' +
    '[role=navigation], [role=region]';
  const INPUTS = { button: 'button', image: 'button', reset: 'button', submit: 'button', file: 'button',
    checkbox: 'checkbox', radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox' };
  const TAGS = { ARTICLE: 'article', ASIDE: 'complementary', BLOCKQUOTE: 'blockquote', BUTTON: 'button', CAPTION: 'caption',
    CODE: 'code', DATALIST: 'listbox', DD: 'definition', DEL: 'deletion', DETAILS: 'group', DFN: 'term', DIALOG: 'dialog',
    DT: 'term', EM: 'emphasis', FIELDSET: 'group', FIGURE: 'figure', H1: 'heading', H2: 'heading', H3: 'heading',
    H4: 'heading', H5: 'heading', H6: 'heading', HR: 'separator', HTML: 'document', INS: 'insertion', LI: 'listitem',
    MAIN: 'main', MATH: 'math', MENU: 'list', METER: 'meter', NAV: 'navigation', OL: 'list', OPTGROUP: 'group',
    OPTION: 'option', OUTPUT: 'status', P: 'paragraph', PROGRESS: 'progressbar', SEARCH: 'search', STRONG: 'strong',
    SUB: 'subscript', SUP: 'superscript', SVG: 'img', TABLE: 'table', TBODY: 'rowgroup', TEXTAREA: 'textbox',
    TFOOT: 'rowgroup', THEAD: 'rowgroup', TIME: 'time', TR: 'row', UL: 'list', ADDRESS: 'group', HGROUP: 'group' };

  const fold = (text) => text.replace(/[\s\u200b]+/g, ' ').trim();
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

  function implied(e, tag) {
    switch (tag) {
      case 'A': case 'AREA': return has(e, 'href') ? 'link' : '';
      case 'INPUT': {
        const type = e.type;
        if (type === 'hidden') return '';
        if (INPUTS[type]) return type === 'search' && attr(e, 'list') ? 'combobox' : INPUTS[type];
        return attr(e, 'list') ? 'combobox' : 'textbox';
      }
      case 'SELECT': return e.multiple || e.size > 1 ? 'listbox' : 'combobox';
      case 'IMG': return attr(e, 'alt') === '' && !attr(e, 'title') && !attr(e, 'aria-label') ? 'presentation' : 'img';
      case 'HEADER': return parentOf(e)?.closest(SECTIONING) ? '' : 'banner';
      case 'FOOTER': return parentOf(e)?.closest(SECTIONING) ? '' : 'contentinfo';
      case 'SECTION': return named(e) ? 'region' : '';
      case 'FORM': return named(e) ? 'form' : '';
      case 'TD': { const role = e.closest('table')?.getAttribute('role'); return role === 'grid' || role === 'treegrid' ? 'gridcell' : 'cell'; }
      case 'TH': return e.scope === 'row' || e.scope === 'rowgroup' ? 'rowheader' : 'columnheader';
      default: return TAGS[tag] || '';
    }
  }
  const named = (e) => has(e, 'aria-label') || has(e, 'aria-labelledby') || has(e, 'title');

  const roles = new Map();
  function roleOf(e) {
    let role = roles.get(e);
    if (role === undefined) {
      const said = attr(e, 'role');
      role = said ? said.trim().split(/\s+/)[0].toLowerCase() : implied(e, tagOf(e));
      if (role === 'none' || role === 'presentation') role = '';
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

  // --- accessible names (a shortened reading of the W3C accessible name computation) ---
  const names = new Map();
  function nameOf(e) {
    let name = names.get(e);
    if (name === undefined) {
      names.set(e, ''); // a circle of labels ends here
      name = cut(fold(compute(e, false, new Set([e]))));
      names.set(e, name);
    }
    return name;
  }
  function byIds(e, attribute, seen) {
    const ids = attr(e, attribute);
    if (!ids) return '';
    const root = e.getRootNode();
    return ids.trim().split(/\s+/).map((id) => {
      const found = root.getElementById ? root.getElementById(id) : null;
      if (!found) return '';
      return compute(found, true, new Set([...seen, found]), true);
    }).filter(Boolean).join(' ');
  }
  function labelText(e) {
    return e.labels && e.labels.length
      ? [...e.labels].map((label) => fold(content(label, new Set([e, label])))).filter(Boolean).join(' ') : '';
  }
  function compute(e, inContent, seen, referenced) {
    const tag = tagOf(e);
    if (!referenced) {
      const by = byIds(e, 'aria-labelledby', seen);
      if (fold(by)) return by;
    }
    const said = attr(e, 'aria-label');
    if (said && said.trim()) return said;
    const role = roleOf(e);
    if (tag === 'INPUT') {
      const type = e.type;
      if (type === 'submit' || type === 'button' || type === 'reset') {
        if (fold(e.value)) return e.value;
        return type === 'submit' ? 'Submit' : type === 'reset' ? 'Reset' : attr(e, 'title') || '';
      }
      if (type === 'image') return attr(e, 'alt') || attr(e, 'title') || 'Submit';
    }
    if (tag === 'IMG' || tag === 'AREA') return attr(e, 'alt') || attr(e, 'title') || '';
    if (e.labels && e.labels.length && !inContent) {
      const text = labelText(e);
      if (text) return text;
    }
    if (inContent && (tag === 'INPUT' || tag === 'TEXTAREA') && role === 'textbox') return e.type === 'password' ? '' : e.value;
    if (inContent && tag === 'SELECT') return [...e.selectedOptions].map((o) => o.textContent).join(' ');
    if (tag === 'FIELDSET') { const l = e.querySelector(':scope > legend'); if (l) return content(l, seen); }
    if (tag === 'TABLE') { const c = e.querySelector(':scope > caption'); if (c) return content(c, seen); }
    if (tag === 'FIGURE') { const c = e.querySelector(':scope > figcaption'); if (c) return content(c, seen); }
    if (tag === 'SVG') { const t = e.querySelector(':scope > title'); if (t) return t.textContent; }
    if (inContent || FROM_CONTENT.has(role) || tag === 'SUMMARY') {
      const text = content(e, seen);
      if (fold(text)) return text;
    }
    if (attr(e, 'title')) return attr(e, 'title');
    if (tag === 'INPUT' || tag === 'TEXTAREA') return attr(e, 'placeholder') || '';
    return '';
  }
  function content(e, seen) {
    let text = '';
    for (const node of inner(e)) {
      if (text.length > 4 * LONGEST) break;
      if (node.nodeType === 3) text += node.data;
      else if (node.nodeType === 1 && !seen.has(node) && !SKIPPED.has(tagOf(node))) {
        if (attr(node, 'aria-hidden') === 'true' || !isShown(node)) continue;
        seen.add(node);
        const part = compute(node, true, seen);
        if (part) text += getComputedStyle(node).display.startsWith('inline') && !FORM.has(tagOf(node)) ? part : ` ${part} `;
      } else if (node.nodeType === 1 && tagOf(node) === 'BR') text += ' ';
    }
    return text;
  }
  function inner(e) {
    if (shadowOf(e)) return shadowOf(e).childNodes;
    if (tagOf(e) === 'SLOT') { const given = e.assignedNodes(); if (given.length) return given; }
    return nodesOf(e);
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
  function walk(e, parent, edge, hidden, ox, oy, doc) {
    const tag = tagOf(e);
    if (SKIPPED.has(tag)) return;
    if (rows.length >= MOST) { isCut = true; return; }
    const index = rows.length;
    places.set(e, index);
    const rect = e.getBoundingClientRect();
    const isRendered = isShown(e);
    const ariaHidden = hidden || attr(e, 'aria-hidden') === 'true';
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
      if (node.nodeType === 1) { if (!SKIPPED.has(tagOf(node))) before += 1; else if (tagOf(node) === 'BR') pieces.push([before, ' ']); }
      else if (node.nodeType === 3) { const data = node.data; if (/\S/.test(data)) pieces.push([before, cut(data)]); else if (data) pieces.push([before, ' ']); }
    }
    while (pieces.length && pieces[pieces.length - 1][1] === ' ') pieces.pop();
    const role = roleOf(e);
    const isControl = INTERACTIVE.has(role) || FORM.has(tag) || tag === 'SUMMARY';
    let flags = (isVisible ? 1 : 0) | (isRendered && !ariaHidden ? 2 : 0);
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
    const label = fold(byIds(e, 'aria-labelledby', new Set([e]))) || (FORM.has(tag) ? labelText(e) : '') || fold(attr(e, 'aria-label') || '');
    rows.push([parent, tagName(e).toLowerCase(), attributes, pieces, role, isNamed ? nameOf(e) : '', cut(label), edge, flags,
      Math.round((rect.left + ox) * 10) / 10, Math.round((rect.top + oy) * 10) / 10,
      Math.round(rect.width * 10) / 10, Math.round(rect.height * 10) / 10]);
    if (shadowOf(e)) for (const child of shadowOf(e).children) walk(child, index, 'shadow', ariaHidden, ox, oy, doc);
    if (tag === 'IFRAME' || tag === 'FRAME') {
      let inside = null;
      try { inside = e.contentDocument; } catch { /* another origin */ }
      if (inside?.documentElement)
        walk(inside.documentElement, index, 'frame', ariaHidden, ox + rect.left + e.clientLeft, oy + rect.top + e.clientTop, inside);
    } else if (tag !== 'SVG') {
      for (const child of childrenOf(e)) walk(child, index, '', ariaHidden, ox, oy, doc);
    }
  }
  const page = top.document;
  if (page.documentElement) walk(page.documentElement, -1, '', false, top.scrollX, top.scrollY, page);
  let at = target ? target : null;
  while (at && !places.has(at)) at = at.parentElement || at.getRootNode().host || null; // inside an svg: the svg
  return JSON.stringify({
    url: top.location.href, title: cut(page.title), language: page.documentElement?.lang || '',
    viewport: [width, height], state: page.readyState, cut: isCut, scrollers, elements: rows,
    target: at ? places.get(at) : null,
  });
}
