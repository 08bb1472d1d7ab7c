"""Drifts of the pages of a release corpus, made by rules, each with the one right outcome; what bench_ladder plays.

A page is served as it was captured, with a little app in it: whatever is clicked or typed into, a status says "Done".
So a test of it is green on every element, and only who the element is tells a right heal from a wrong one. The rules
are those of ladder_drifts.py where they need nothing of an app.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Self

import drift_corpus as corpus
from drift_corpus import Pair
from ladder_drifts import PRELUDE, WORST, Drift, a, hash_of
from selectors_read import read_selector

from radar.locators import Locator
from repair_ladder.steps import Step, Steps

DONE: Final = "Done"
PLACE: Final = "2"  # goto, the step that uses the element, a check of the status
ROLES: Final = ("link", "button", "textbox", "searchbox", "combobox")
# What a locator is recorded by: a rule has to break it.
NAMED: Final = ("id", "role_name", "text", "label")
PLACED: Final = ("id", "css_path", "xpath_rel")
APP: Final = """
const said = make('p', {role: 'status', style: 'position:fixed;bottom:0;right:0;background:#fff;pointer-events:none'});
said.textContent = 'Ready';
document.body.append(said);
const say = () => { said.textContent = SAYS; };
document.addEventListener('click', (event) => {
  const used = event.target.closest('a,button,input,select,textarea,[role]');
  if (used && !['checkbox', 'radio'].includes(used.type)) event.preventDefault();
  if (used) say();
}, true);
document.addEventListener('input', say, true);
document.addEventListener('submit', (event) => event.preventDefault(), true);
const everyone = () => {
  let count = 0;
  for (const one of document.querySelectorAll('button,a,select,textarea,input:not([type=hidden])'))
    if (!one.id) one.id = 'k' + (count++ * 7919 + 4711).toString(36);
};
const at = (path) => document.evaluate(path, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue;
"""


@dataclass(frozen=True)
class PageTest:
    """A test of one element of a captured page."""

    name: str
    snapshot: str
    xpath: str
    words: str
    steps: Steps
    own_id: str
    row: bool  # stands in a row of a table or an entry of a list


@dataclass(frozen=True)
class PageDrift(Drift):
    """A drift and the test that it is for."""

    page: PageTest | None = None
    says: str = DONE
    is_down: bool = False


class CapturedPages:
    """Serves the captured pages on loopback; `drift` stands in front of them, None: as they were captured."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.drift: PageDrift | None = None
        pages = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                code, body = pages._answer(self.path)
                self.send_response(code)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reset(self) -> None:
        """Pages keep nothing."""

    def _answer(self, path: str) -> tuple[int, bytes]:
        file = self._folder / "snapshots" / f"{path.strip('/')}.html.gz"
        if ".." in path or not file.is_file():
            return 404, b"<h1>Not found</h1>"
        drift = self.drift
        if drift and drift.is_down:
            return 500, b"<h1>Error</h1>"
        script = f"const SAYS = {a(drift.says if drift else DONE)};{PRELUDE}{APP}{drift.script if drift else ''}"
        return 200, gzip.decompress(file.read_bytes()) + f"<script>(() => {{{script}}})();</script>".encode()


def page_drifts(folder: Path) -> Iterator[PageDrift]:
    """For every app of the corpus each rule once, on one of its elements; the same ones every time."""
    by_app: dict[str, list[Pair]] = {}
    for pair in corpus.read_pairs(folder):
        by_app.setdefault(pair.app, []).append(pair)
    for app, pairs in sorted(by_app.items()):
        oldest = min((pair.old_version for pair in pairs), key=_version)
        usable = {
            pair.old_xpath + pair.state: pair for pair in pairs if pair.old_version == oldest and _is_usable(pair)
        }
        yield from _of_app(app, list(usable.values()))


def _version(text: str) -> list[int]:
    return [int(part) for part in text.split(".")]


def _is_usable(pair: Pair) -> bool:
    name = str(pair.old["pw_name"] or "")
    readable = sum(letter.isascii() and letter.isalpha() for letter in name) > 2 and len(name) < 60
    return readable and pair.old["pw_role"] in ROLES and pair.old["visible"] and ">>>" not in pair.old_xpath


def _test(pair: Pair, styles: Sequence[str]) -> PageTest | None:
    by_style = {style: selector for style, selector, _ in pair.outcomes}
    recorded = [read_selector(by_style[style]) for style in styles if style in by_style]
    locator = next(filter(None, recorded), None)
    if locator is None:
        return None
    fills = pair.old["pw_role"] in ("textbox", "searchbox") and pair.old["tag"] in ("input", "textarea")
    act = Step("fill", locator, {"value": "Ada"}) if fills else Step("click", locator)
    path = pair.old_page.removeprefix("snapshots/").removesuffix(".html.gz")
    check = Step("assert_text", Locator(role="status"), {"equals": DONE})
    steps = (Step("goto", parameters={"url": f"/{path}"}), act, check)
    words = str(pair.old["pw_name"])
    row = "/tr[" in pair.old_xpath or "/li[" in pair.old_xpath
    return PageTest(f"{pair.id} by {locator}", path, pair.old_xpath, words, steps, pair.old["attrs"].get("id", ""), row)


RENEW: Final = "if (e.type === 'submit' && e.tagName === 'INPUT') e.value = TEXT; anew(e, ID, TEXT); everyone();"
SAME: Final = "anew(e, ID, ''); everyone();"
GONE: Final = "const l = e.id && q(`label[for='${e.id}']`); if (l) l.remove(); e.remove(); everyone();"
WRAPPED: Final = SAME + "const w = make('div'); const v = make('span'); e.before(w); w.append(v); v.append(e);"
MOVED: Final = SAME + "said.before(withLabel(e));"
ROWS: Final = (
    "const r = e.closest('tr,li'); const rows = [...r.parentElement.children].reverse();"
    "for (const [i, one] of rows.entries()) { one.id = 'r' + i; r.parentElement.append(one); }" + SAME
)
ANOTHER: Final = "e.replaceWith(make('button', {type: 'button', class: e.className}, 'Ask us a question')); everyone();"
HIDDEN: Final = "e.style.setProperty('display', 'none', 'important'); everyone();"
FOLDED: Final = (
    "const b = make('div', {id: 'more-box', hidden: ''}); const o = make('button', {type: 'button', id: 'opener',"
    "'aria-expanded': 'false', 'aria-controls': 'more-box'}, 'More choices');"
    "o.onclick = () => { b.hidden = !b.hidden; o.setAttribute('aria-expanded', String(!b.hidden)); };"
    "const t = e.labels && e.labels.length ? withLabel(e) : e; t.before(o, b); b.append(t); everyone();"
)
MENU: Final = (
    "const t = e.labels && e.labels.length ? withLabel(e) : e; const o = make('button', {type: 'button', id: 'opener',"
    "'aria-haspopup': 'menu', 'aria-expanded': 'false'}, 'Actions'); t.before(o); t.remove();"
    "o.onclick = () => { o.setAttribute('aria-expanded', 'true'); o.after(t); }; everyone();"
)
SLOW: Final = (
    "const p = make('div', {role: 'progressbar', class: 'spinner'}, 'Loading'); e.before(p); e.remove();"
    "setTimeout(() => { p.replaceWith(e); }, 5000);"
)
TRANSLATED: Final = (
    "document.documentElement.lang = 'xx'; const turn = (t) => t.replace(/[A-Za-z]{2,}/g,"
    "(x) => x.split('').reverse().join('') + 'en');"
    "for (const w of document.querySelectorAll('h1,h2,h3,p,a,button,label,td,th,span,li,option,strong'))"
    "for (const n of w.childNodes) if (n.nodeType === 3) n.nodeValue = turn(n.nodeValue);"
    "for (const w of document.querySelectorAll('input[type=submit]')) w.value = turn(w.value);"
    "for (const w of document.querySelectorAll('[placeholder],[title],[aria-label]'))"
    "for (const k of ['placeholder', 'title', 'aria-label'])"
    "if (w.hasAttribute(k)) w.setAttribute(k, turn(w.getAttribute(k)));"
)
HARMLESS: Final = "said.before(make('p', {}, 'Now open on Sundays')); everyone();"


def _of_app(app: str, pairs: Sequence[Pair]) -> Iterator[PageDrift]:
    healed: tuple[tuple[str, str, Sequence[str], tuple[tuple[str, str | None], ...], bool], ...] = (
        ("rename", RENEW, NAMED, (), True),
        ("wrap", WRAPPED, PLACED, (), True),
        ("move", MOVED, PLACED, (), True),
        ("swap rows", ROWS, NAMED, (), True),  # by a place it would be green on another row: a sweep's to find
        ("folded away", FOLDED, NAMED, (("click", "#opener"),), False),
        ("into a menu", MENU, NAMED, (("click", "#opener"),), False),
        ("slow", SLOW, NAMED, (("wait", None),), False),
    )
    for rule, work, styles, inserts, is_new in healed:
        test = _choose(app, rule, pairs, styles)
        if test is None:
            continue
        name = f"{app}: {rule}: {test.words}"
        ident = f"n{hash_of(name) % 10**6}"
        css = f"#{ident}" if is_new or not test.own_id else f'[id="{test.own_id}"]'
        kept = "" if is_new else f"if (!e.id) e.id = {a(ident)};"
        yield _drift(name, rule, test, "heal", kept + _filled(work, ident, test), element=css, inserts=inserts)
    left: tuple[tuple[str, str], ...] = (
        ("remove", GONE),
        ("replaced by another", ANOTHER),
        ("only a hidden copy is left", HIDDEN),
    )
    for rule, work in left:
        test = _choose(app, rule, pairs, NAMED)
        if test is not None:
            yield _drift(f"{app}: {rule}: {test.words}", rule, test, "not", work, verdicts=WORST)
    test = _choose(app, "broken", pairs, NAMED)
    if test is None:
        return
    yield _drift(f"{app}: translated", "translated", test, "environment", TRANSLATED, verdicts=("environment",))
    down = ("environment", "product_defect")
    yield _drift(f"{app}: server broken", "server broken", test, "environment", "", verdicts=down, is_down=True)
    yield _drift(f"{app}: logic broken", "logic broken", test, "not", "", says="Error 17")
    both = _filled(RENEW, "n77", test)
    yield _drift(f"{app}: drift and a bug", "drift and a bug", test, "not", both, says="Error 17")
    yield _drift(f"{app}: nothing that matters", "nothing that matters", test, "left", HARMLESS)


def _choose(app: str, rule: str, pairs: Sequence[Pair], styles: Sequence[str]) -> PageTest | None:
    tests = [test for pair in pairs if (test := _test(pair, styles))]
    if rule == "swap rows":
        tests = [test for test in tests if test.row]
    return tests[hash_of(f"{app} {rule}") % len(tests)] if tests else None


def _filled(work: str, ident: str, test: PageTest) -> str:
    return work.replace("ID", a(ident)).replace("TEXT", a(f"{test.words} now"))


def _drift(name: str, rule: str, test: PageTest, right: Any, work: str, **more: Any) -> PageDrift:
    script = f"const e = at({json.dumps(test.xpath)}); if (e) {{ {work} }}"
    return PageDrift(name, f"page: {rule}", test.name, right, script, PLACE, page=test, **more)
