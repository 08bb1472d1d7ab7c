"""Drifts of the sample shop, made by rules, each with the one right outcome; what bench_ladder plays.

A rule is a script that the shop's pages carry before their own: it changes the page the way a release would, for any
target. Nothing in the page tells which element is right: every control gets an id of the same kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from gardener.sample_shop import Shop, assets
from gardener.sample_shop.routes import Request, Response

RightOutcome = Literal["heal", "not", "environment", "left"]

PRELUDE = r"""
'use strict';
const q = (s) => document.querySelector(s);
const make = (tag, attributes, text) => {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
};
const jobs = [];
const later = (work) => jobs.push(work);  // once the shop's own script has found its elements
const relabel = (e, id) => {
  if (e.id) for (const l of document.querySelectorAll(`label[for="${e.id}"]`)) l.htmlFor = id;
  e.id = id;
};
const reword = (e, text) => {
  if (!text) return;
  const label = e.id && q(`label[for="${e.id}"]`);
  if (label) label.textContent = text;
  else if (e.firstChild && e.firstChild.nodeType === 3) e.firstChild.nodeValue = text + ' ';
  else e.textContent = text;
};
const others = () => {
  let count = 0;
  const all = 'main button, main a, main select, main textarea, main input:not([type=hidden])';
  for (const e of document.querySelectorAll(all)) if (!e.id) e.id = 'k' + (count++ * 7919 + 4711).toString(36);
};
const anew = (e, id, text) => {
  reword(e, text);
  relabel(e, id);
  e.removeAttribute('data-testid');
  e.className = 'c' + id.slice(1);
  others();
};
const block = (e) => e.closest('form') || e.closest('tr') || e.closest('p') || e;
const withLabel = (e) => {
  const box = make('div');
  const label = e.id && q(`label[for="${e.id}"]`);
  e.before(box);
  if (label) box.append(label);
  box.append(e);
  return box;
};
"""


@dataclass(frozen=True)
class Target:
    """A step of a bundled test and the element that it uses on release 1. `text` is what a release would call it."""

    key: str
    test: str
    place: str
    css: str
    text: str = ""


LETTER = "Subscribe to the newsletter"
SIGN_IN = "Sign in and see the orders"
CHECKOUT = "Check out as a guest"
CONTACT = "Send a message to the shop"
VOUCHER = "A voucher lowers the total"
DELIVERY = "See how long delivery to Germany takes"
BASKET = "Go from the basket to the checkout"
GIFT = "Preview a gift card"
SETTINGS = "Switch the offers on and off"
TARGETS = {
    one.key: one
    for one in (
        Target("letter address", LETTER, "2", "#newsletter-email"),
        Target("letter button", LETTER, "3", "form[action='/newsletter'] button", "Sign me up"),
        Target("email", SIGN_IN, "2", "#email", "Mail address"),
        Target("password", SIGN_IN, "3", "#password"),
        Target("sign in button", SIGN_IN, "4", "#sign-in button", "Log in"),
        Target("full name", CHECKOUT, "4", "#name", "Name on the parcel"),
        Target("street", CHECKOUT, "5", "#street"),
        Target("country", CHECKOUT, "7", "#country", "Where does it go?"),
        Target("order button", CHECKOUT, "8", "[data-testid=place-order]"),
        Target("topic", CONTACT, "3", "#topic"),
        Target("message", CONTACT, "4", "#message", "What happened?"),
        Target("send button", CONTACT, "5", "form[action='/contact'] button", "Send it off"),
        Target("voucher", VOUCHER, "4", "#voucher", "Discount code"),
        Target("apply button", VOUCHER, "5", "form[action='/basket/voucher'] button", "Apply the code"),
        Target("zone", DELIVERY, "3", "#zone-de button"),
        Target("basket link", BASKET, "3", "#basket-link"),
        Target("add button", BASKET, "2", "form.buy-box button:not([type])", "Put into the basket"),
        Target("checkout link", BASKET, "4", "[data-testid=to-checkout]", "Check out now"),
        Target("giver", GIFT, "3", "#giver"),
        Target("preview button", GIFT, "5", "#gift-form button", "Show me the card"),
    )
}


@dataclass(frozen=True)
class Drift:
    """One change of the shop and what is right for one test.

    `right` "heal": the step at `place` uses `element` (CSS on the changed page), with exactly those inserts before it
    that `inserts` names, each by its kind and the CSS of its element (None: none to be judged). "not": nothing may be
    written. "left": the test is green as it is.
    """

    name: str
    rule: str
    test: str
    right: RightOutcome
    script: str = ""
    place: str = ""
    element: str = ""
    inserts: tuple[tuple[str, str | None], ...] = ()
    verdicts: tuple[str, ...] = ("product_defect",)  # right ones where nothing may be written
    server: Callable[[Request], Response | None] = field(default=lambda request: None)


class DriftingShop(Shop):
    """Release 1 with a drift in front of it; None: as the tests were recorded."""

    drift: Drift | None = None

    def answer(self, request: Request) -> Response:
        drift = self.drift
        instead = drift.server(request) if drift else None
        response = instead or super().answer(request)
        if drift and drift.script and response.kind == "text/html":
            response = replace(response, body=_drifted(response.body, drift.script))
        return response


def _drifted(page: str, script: str) -> str:
    """The page as its release makes it: nobody, however fast, sees it before the script has changed it."""
    head, _, rest = page.partition("<body>")
    inside, _, end = rest.partition('<script src="/assets/shop.js')
    own = assets.find("shop.js")
    assert own is not None, "the shop has its script"
    work = (
        f"const t = document.getElementById('whole'); document.body.append(t.content); t.remove(); {{{script}}}"
        f"(() => {{{own.text}}})(); for (const job of jobs) job();"
    )
    return (
        f'{head}<body><template id="whole">{inside}</template><script>(() => {{{PRELUDE}{work}}})();</script>'
        f"{end.partition('</script>')[2]}"
    )


def a(value: str) -> str:
    """A text as it stands in a script."""
    return json.dumps(value)


def _on(target: Target, work: str) -> str:
    return f"const e = q({a(target.css)}); if (e) {{ {work} }}"


def _healed(rule: str, key: str, work: str, *, element: str | None = None, **more: object) -> Drift:
    target = TARGETS[key]
    name = f"{rule}: {key}"
    ident = f"n{abs(hash_of(name)) % 10**6}"
    script = _on(target, work.replace("ID", a(ident)).replace("TEXT", a(target.text)))
    css = element or f"#{ident}"
    return Drift(name, rule, target.test, "heal", script, target.place, css, **more)  # type: ignore[arg-type]


def _not(rule: str, key: str, work: str, *, verdicts: tuple[str, ...]) -> Drift:
    target = TARGETS[key]
    work = work.replace("ID", a("n41")).replace("TEXT", a(target.text))
    return Drift(f"{rule}: {key}", rule, target.test, "not", _on(target, work), target.place, verdicts=verdicts)


def hash_of(text: str) -> int:
    """The same in every process."""
    value = 7
    for letter in text:
        value = (value * 31 + ord(letter)) % 1_000_003
    return value


REMOVED = "const l = e.id && q(`label[for='${e.id}']`); if (l) l.remove(); e.remove(); others();"
WORST = ("product_defect", "incurable", "refused")


def drifts() -> Iterator[Drift]:
    yield from _moved()
    yield from _gone()
    yield from _another_way()
    yield from _another_kind()
    yield from _broken_app()


def _moved() -> Iterator[Drift]:
    for key in TARGETS:
        yield _healed("rename", key, "anew(e, ID, TEXT);")
    for key in ("letter address", "email", "street", "topic", "voucher", "zone", "add button", "preview button"):
        work = (
            "anew(e, ID, TEXT); const w = make('div'); const v = make('span'); e.before(w); w.append(v); v.append(e);"
        )
        yield _healed("wrap", key, work)
    for key in ("letter address", "voucher", "password", "giver"):
        yield _healed("move", key, "anew(e, ID, TEXT); const b = block(e); q('main').append(b);")
    for key in ("letter address", "street", "giver"):
        # The old id now belongs to another field of the same kind, in the old place: green for the wrong reason.
        work = (
            "const old = e.id; const b = withLabel(e); relabel(e, ID);"
            "const n = make('div'); n.append(make('label', {for: old}, 'Nickname'), "
            "make('input', {id: old, name: 'nick', type: e.type || 'text'})); b.before(n); others();"
        )
        yield _healed("neighbour", key, work)
    work = (
        "const r = e.closest('tr'); const body = r.parentElement; const rows = [...body.children].reverse();"
        "for (const [i, one] of rows.entries()) { one.id = 'r' + i; body.append(one); } anew(e, ID, '');"
    )
    yield _healed("swap rows", "zone", work)


def _gone() -> Iterator[Drift]:
    for key in ("letter address", "letter button", "sign in button", "send button", "apply button", "zone", "giver"):
        yield _not("remove", key, REMOVED, verdicts=WORST)
    for key in ("letter button", "apply button", "preview button", "checkout link"):
        work = "e.replaceWith(make('button', {type: 'button', class: e.className}, 'Ask us a question')); others();"
        yield _not("replaced by another", key, work, verdicts=WORST)
    for key in ("letter button", "preview button"):
        # The button of a menu stands in its place, and nothing in the menu is what it was.
        work = (
            "const o = make('button', {type: 'button', class: e.className, 'aria-haspopup': 'menu',"
            "'aria-expanded': 'false'}, 'More'); o.onclick = () => { const m = make('div', {role: 'menu'});"
            "m.append(make('button', {type: 'button', role: 'menuitem'}, 'Print')); document.body.append(m);"
            "o.setAttribute('aria-expanded', 'true'); }; e.replaceWith(o); others();"
        )
        yield _not("a menu of other things in its place", key, work, verdicts=WORST)
    for key, wanted in (("topic", "A broken piece"), ("country", "Germany")):
        work = (
            f"for (const o of [...e.options]) if (o.text === {a(wanted)}) o.remove();"
            "e.append(make('option', {value: 'lookalike'}, 'A piece by piece delivery'));"
        )
        yield _not("option gone", key, work, verdicts=WORST)
    for key in ("apply button", "preview button"):
        # What is left has the right words, and cannot be seen.
        yield _not("only a hidden copy is left", key, "e.style.display = 'none'; others();", verdicts=WORST)


def _another_way() -> Iterator[Drift]:
    for key in ("letter button", "apply button", "topic", "zone"):
        work = (
            "const b = make('div', {id: 'more-box', hidden: ''}); const o = make('button', {type: 'button', "
            "id: 'opener', 'aria-expanded': 'false', 'aria-controls': 'more-box'}, 'More choices');"
            "o.onclick = () => { b.hidden = !b.hidden; o.setAttribute('aria-expanded', String(!b.hidden)); };"
            "const t = e.labels && e.labels.length ? withLabel(e) : e; t.before(o, b); b.append(t); others();"
        )
        element = TARGETS[key].css
        yield _healed("folded away", key, work, element=element, inserts=(("click", "#opener"),))
    for key in ("letter button", "apply button", "message", "checkout link"):
        work = (
            "later(() => { const t = e.labels && e.labels.length ? withLabel(e) : e;"
            "const o = make('button', {type: 'button', id: 'opener', 'aria-haspopup': 'menu',"
            "'aria-expanded': 'false'}, 'Actions'); t.before(o); t.remove();"
            "o.onclick = () => { o.setAttribute('aria-expanded', 'true'); o.after(t); }; others(); });"
        )
        yield _healed("into a menu", key, work, element=TARGETS[key].css, inserts=(("click", "#opener"),))
    # Each row's button went into the row's own menu, which hangs at the end of the page.
    work = (
        "later(() => { for (const b of document.querySelectorAll('[id^=zone-] button')) {"
        "const o = make('button', {type: 'button', 'aria-haspopup': 'menu', 'aria-expanded': 'false',"
        "'aria-label': 'Actions for ' + b.closest('tr').children[0].textContent.trim()}, '\u22ee');"
        "if (b === e) o.id = 'opener'; b.before(o); b.remove(); b.setAttribute('role', 'menuitem'); o.onclick = () => {"
        "const m = make('div', {role: 'menu'});"
        "m.append(make('button', {type: 'button', role: 'menuitem'}, 'Print'), b); document.body.append(m);"
        "o.setAttribute('aria-expanded', 'true'); if (b === e) b.id = 'inside'; };"
        "b.onclick = () => { q('#zone-note').textContent = b.dataset.note; }; } others(); });"
    )
    yield _healed("into the row's menu", "zone", work, element="#inside", inserts=(("click", "#opener"),))
    for key in ("letter button", "preview button"):
        work = (
            "const d = make('div'); d.append(make('label', {for: 'deals'}, 'Monthly deals'),"
            "make('input', {type: 'checkbox', id: 'deals'}), make('label', {for: 'rules'}, 'I have read the rules'),"
            "make('input', {type: 'checkbox', id: 'rules'})); e.before(d); e.disabled = true;"
            "q('#rules').onchange = () => { e.disabled = !q('#rules').checked; }; others();"
        )
        drift = _healed("a box enables it", key, work, element=TARGETS[key].css, inserts=(("check", "#rules"),))
        yield drift
    for key in ("voucher", "message"):
        work = (
            "later(() => { const t = withLabel(e); const list = make('div', {role: 'tablist'});"
            "const one = make('button', {type: 'button', role: 'tab', 'aria-selected': 'true'}, 'Overview');"
            "const two = make('button', {type: 'button', role: 'tab', id: 'tab2', 'aria-selected': 'false'},"
            "'Details');"
            "list.append(one, two); t.before(list); t.remove(); two.onclick = () => {"
            "two.setAttribute('aria-selected', 'true'); one.setAttribute('aria-selected', 'false'); list.after(t); };"
            "others(); });"
        )
        yield _healed("into a tab", key, work, element=TARGETS[key].css, inserts=(("click", "#tab2"),))
    for key in ("town", "password"):
        target = TARGETS.get(key) or Target("town", CHECKOUT, "6", "#town")
        work = (
            "later(() => { const f = e.form; const all = [...f.children].filter((c) => c.type !== 'hidden');"
            "const at = all.indexOf(q(`label[for='${e.id}']`)); const second = all.slice(at);"
            "for (const c of second) c.remove(); const n = make('button', {type: 'button', id: 'onwards'}, 'Next');"
            "n.onclick = () => { n.remove(); for (const c of all.slice(0, at)) c.hidden = true; f.append(...second); };"
            "f.append(n); others(); });"
        )
        drift = Drift(f"split into pages: {key}", "split into pages", target.test, "heal", _on(target, work),
                      target.place, target.css, inserts=(("click", "#onwards"),))  # fmt: skip
        yield drift
    extra = (
        ("a box", "make('label', {for: 'terms'}, 'I have read the terms'), "
                  "make('input', {type: 'checkbox', id: 'terms', name: 'terms', required: ''})", "check", "#terms"),
        ("a number", "make('label', {for: 'pieces'}, 'Pieces'), "
                     "make('input', {type: 'number', min: '2', id: 'pieces', name: 'pieces', required: ''})",
         "fill", "#pieces"),
    )  # fmt: skip
    for what, made, kind, css in extra:
        for key in ("letter button", "order button", "preview button"):
            work = f"const d = make('div'); d.append({made}); e.before(d);"
            yield _healed(f"asks for {what}", key, work, element=TARGETS[key].css, inserts=((kind, css),))
    choices = (
        ("cookies", "We use cookies", ("Accept all", "Only what is needed"), 1),
        ("a tour", "Let us show you around", ("Start", "Skip"), 1),
    )
    for what, text, names, right in choices:
        for key in ("letter button", "send button"):
            buttons = ", ".join(
                f"make('button', {{type: 'button', id: 'w{number}'}}, {a(name)})" for number, name in enumerate(names)
            )
            work = (
                "const s = make('div', {style: 'position:fixed;inset:0;background:rgba(0,0,0,.5);z-index:99'});"
                f"const d = make('div', {{role: 'dialog', style: 'background:#fff;margin:4rem'}});"
                f"const bs = [{buttons}];"
                f"d.append(make('p', {{}}, {a(text)}), ...bs); for (const b of bs) b.onclick = () => s.remove();"
                "s.append(d); document.body.append(s);"
            )
            drift = _healed(f"in the way: {what}", key, work, element=TARGETS[key].css,
                            inserts=(("click", f"#w{right}"),))  # fmt: skip
            yield drift
    for key in ("letter button", "zone", "apply button"):
        work = (
            "later(() => { const p = make('div', {role: 'progressbar', class: 'spinner'}, 'Loading'); e.before(p);"
            "e.remove(); setTimeout(() => { p.replaceWith(e); }, 5000); });"
        )
        yield _healed("slow", key, work, element=TARGETS[key].css, inserts=(("wait", None),))


def _another_kind() -> Iterator[Drift]:
    work = (
        "const b = make('button', {type: 'button', class: e.className, id: ID}, e.firstChild.nodeValue.trim());"
        "b.onclick = () => { location.href = e.href; }; e.replaceWith(b); others();"
    )
    yield _healed("link turned button", "checkout link", work)
    for key, wanted in (("topic", "A broken piece"), ("country", "Germany")):
        work = (
            "const label = q(`label[for='${e.id}']`).textContent;"
            "const h = make('input', {type: 'hidden', name: e.name});"
            "const box = make('div', {role: 'combobox', tabindex: '0', 'aria-haspopup': 'listbox',"
            "'aria-expanded': 'false', 'aria-label': label, id: 'box',"
            "style: 'border:1px solid;padding:8px'}, e.options[0].text);"
            "h.value = e.options[0].value; const opts = [...e.options]; e.replaceWith(h, box);"
            "box.onclick = () => { const l = make('ul', {role: 'listbox'}); for (const o of opts) {"
            "const i = make('li', {role: 'option'}, o.text); i.onclick = () => { h.value = o.value;"
            "box.textContent = o.text; l.remove(); }; l.append(i); } box.after(l); };"
        )
        drift = _healed("select turned list box", key, work, inserts=(("click", "#box"), ("click", None)))
        yield replace(drift, place="", element="")
        work = (
            f"for (const o of e.options) if (o.text === {a(wanted)}) o.text = {a(wanted + ', or what is left of it')};"
        )
        yield _healed("option renamed", key, work, element=TARGETS[key].css)
        work = "const o = make('option', {value: 'abroad'}, " + a(wanted + " abroad") + ");" + work + "e.prepend(o);"
        yield _healed("option renamed beside a look-alike", key, work, element=TARGETS[key].css)
    work = (
        "const box = e; const l = e.closest('label'); const b = make('button', {type: 'button', role: 'switch',"
        "'aria-checked': String(box.checked), id: 'switch'}, 'Offers by e-mail');"
        "const h = make('input', {type: 'hidden', name: 'offers', value: 'on'}); h.disabled = !box.checked;"
        "b.onclick = () => { h.disabled = !h.disabled; b.setAttribute('aria-checked', String(!h.disabled)); };"
        "l.replaceWith(h, b); others();"
    )
    target = Target("offers", SETTINGS, "6", "input[name=offers]")
    script = _on(target, work)
    yield Drift("checkbox turned switch: offers", "checkbox turned switch", SETTINGS, "heal", script, "6", "#switch")


def _broken_app() -> Iterator[Drift]:
    words = "for (const w of document.querySelectorAll('h1,h2,p,a,button,label,td,th,span,option,strong'))"
    translate = (
        "document.documentElement.lang = 'xx'; const turn = (t) => t.replace(/[A-Za-z]{2,}/g,"
        "(x) => x.split('').reverse().join('') + 'en');"
        f"{words} for (const n of w.childNodes) if (n.nodeType === 3) n.nodeValue = turn(n.nodeValue);"
    )
    for test in (LETTER, CONTACT, DELIVERY):
        yield Drift(f"translated: {test}", "translated", test, "environment", translate, verdicts=("environment",))

    away = (
        "document.title = 'Sign in - Shop ID'; document.body.replaceChildren(make('h1', {}, 'Sign in'),"
        "make('label', {for: 'who'}, 'E-mail'), make('input', {type: 'email', id: 'who'}), make('button', {}, 'Next'));"
    )
    for test in (LETTER, CONTACT):
        yield Drift(f"sent to sign in: {test}", "sent to sign in", test, "environment", f"later(() => {{ {away} }});",
                    verdicts=("environment",))  # fmt: skip

    def fails(path: str) -> Callable[[Request], Response | None]:
        return lambda request: Response(500, "<h1>Error</h1>") if request.path == path else None

    for test, path in ((LETTER, "/newsletter"), (CHECKOUT, "/checkout"), (VOUCHER, "/basket/voucher")):
        yield Drift(f"server broken: {test}", "server broken", test, "environment",
                    verdicts=("environment", "product_defect"), server=fails(path))  # fmt: skip
    wrong = (
        (VOUCHER, "const t = q('#basket-total'); if (t && q('main').textContent.includes('WELCOME10'))"
                  " t.textContent = '£38.00';"),
        (CHECKOUT, "const t = q('[data-testid=order-total]'); if (t) t.textContent = '£14.90';"),
        (DELIVERY, "for (const b of document.querySelectorAll('[data-note]')) b.dataset.note = 'Ask us.';"),
        (GIFT, "const g = q('[data-testid=gift-preview]'); if (g) g.lastElementChild.textContent = 'from nobody';"),
    )  # fmt: skip
    drifted = {VOUCHER: "apply button", CHECKOUT: "street", DELIVERY: "zone", GIFT: "giver"}
    for test, script in wrong:
        yield Drift(f"logic broken: {test}", "logic broken", test, "not", script)
        target = TARGETS[drifted[test]]
        both = script + _on(target, f"anew(e, 'n77', {a(target.text)});")
        yield Drift(f"drift and a bug: {test}", "drift and a bug", test, "not", both)
    reworded = "const s = q('main [role=status]'); if (s && s.textContent.includes('Thank'))"
    yield Drift("message reworded", "message reworded", CONTACT, "not",
                reworded + " s.textContent = 'Got it, we will write back soon.';", verdicts=WORST)  # fmt: skip
    for test in (LETTER, BASKET):
        harmless = "const f = q('footer'); if (f) f.append(make('p', {}, 'Now open on Sundays')); others();"
        yield Drift(f"nothing that matters: {test}", "nothing that matters", test, "left", harmless)
