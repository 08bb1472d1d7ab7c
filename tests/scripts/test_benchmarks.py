"""scripts/: what the benchmarks stand on, for a benchmark that measures wrongly is worse than none."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from radar.elements import PageSnapshot
from radar.locators import Locator
from repair_ladder.step_format import read_steps
from tests.builders import a_page, index_of

SCRIPTS = str(Path(__file__).resolve().parents[2] / "scripts")


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCRIPTS)

    def load(name: str) -> Any:
        __import__(name)
        return sys.modules[name]

    return load


OLD = """
nav
  a#home href=/ "Home"
  a#help href=/help "Help"
main
  button#save.btn "Save profile"
  button#cancel.btn "Cancel"
"""


def scored(scripts: Any, method: str, old: PageSnapshot, target: int, new: PageSnapshot) -> list[float]:
    peers = scripts("peers")
    marked = peers.Marked(new, {})
    candidates = [marked.of(e.index) for e in new.elements]
    return [float(x) for x in getattr(peers, method)().scores(peers.Marked(old, {}).of(target), candidates)]


@pytest.mark.parametrize(("method", "most"), [("Similo", 11.5), ("HealeniumStyle", 1.0)])
def test_the_same_element_gets_about_full_marks_and_no_other_more(scripts: Any, method: str, most: float) -> None:
    page = a_page(OLD)
    target = index_of(page, id="help")

    scores = scored(scripts, method, page, target, page)

    assert max(scores) == scores[target]
    assert 0.6 * most < scores[target] <= most


def test_a_sibling_of_the_same_tag_and_classes_passes_the_default_cap(scripts: Any) -> None:
    """The known weakness of the score, so that the comparison is with what it is."""
    old, new = a_page(OLD), a_page(OLD.replace('  button#save.btn "Save profile"\n', ""))

    scores = scored(scripts, "HealeniumStyle", old, index_of(old, id="save"), new)

    assert scores[index_of(new, id="cancel")] >= scripts("peers").CAP


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ('internal:role=link[name="Log in"s]', Locator(role="link", name="Log in", exact=True)),
        ('internal:role=main >> internal:role=button[name="Save"i]',
         Locator(role="button", name="Save", within=Locator(role="main"))),
        ('internal:text="Say \\"hi\\""s', Locator(text='Say "hi"', exact=True)),
        ('internal:label="E-mail"i', Locator(label="E-mail")),
        ('internal:attr=[title="Close"s]', Locator(title="Close", exact=True)),
        ('internal:role=row >> nth=2', Locator(role="row", nth=2)),
        ("xpath=/html[1]/body[1]", Locator(xpath="/html[1]/body[1]")),
        ("#save > b", Locator(css="#save > b")),
        ("internal:control=enter-frame", None),
    ],
)  # fmt: skip
def test_a_recorded_selector_is_read_as_a_locator(scripts: Any, selector: str, expected: Locator | None) -> None:
    assert scripts("selectors_read").read_selector(selector) == expected


def test_a_page_is_rebuilt_from_an_attribute_table_with_what_was_recorded(scripts: Any) -> None:
    sets = scripts("matching_sets")
    box = {"x": 1, "y": 2, "width": 3, "height": 4}
    rows = [
        {"tag": "DIV", "xpath": "/html[1]/body[1]/div[2]", "visibleText": ["Pay", "now", "please"], "location": box},
        {"tag": "A", "xpath": "/html[1]/body[1]/div[2]/a[1]", "visibleText": ["Pay", "now"], "href": "/pay",
         "location": box},
    ]  # fmt: skip

    page, (div, link) = sets.page_of([sets._row(row) for row in rows], sort=False)

    assert (page.texts[div], page.texts[link]) == ("Pay now please", "Pay now")
    assert page.elements[link].parent == div
    assert (page.elements[link].role, page.elements[link].get("href")) == ("link", "/pay")
    assert [e.visible for e in page.elements] == [False, False, True, True]


def test_what_is_taken_out_of_a_page_goes_with_all_below_it(scripts: Any) -> None:
    page = a_page(OLD)

    thin, moved = scripts("drift_corpus").without(page, [index_of(page, tag="nav")])

    assert [e.get("id") for e in thin.elements if e.get("id")] == ["save", "cancel"]
    assert thin.elements[moved[index_of(page, id="save")]].get("id") == "save"
    assert all(e.index == at for at, e in enumerate(thin.elements))


def test_what_is_taken_out_leaves_no_name_on_what_was_around_it(scripts: Any) -> None:
    """An element that was called by its content is not called by what is no longer in it."""
    sets = scripts("matching_sets")
    wide, small = ({"x": 0, "y": 0, "width": size, "height": 20} for size in (200, 60))
    said = {"visibleText": ["All", "categories"]}
    rows: list[dict[str, Any]] = [
        {"tag": "A", "xpath": "/html[1]/body[1]/a[1]", "href": "/all", "location": wide, **said},
        {"tag": "SPAN", "xpath": "/html[1]/body[1]/a[1]/span[1]", "location": small, **said},
    ]
    page, (link, span) = sets.page_of([sets._row(row) for row in rows], sort=False)

    near = {link: "Cart", span: "Cart"}

    thin = sets.taken_out(sets.Site("shop", page, page, (link, span), near, near), span).new

    assert page.elements[link].name == "All categories"
    assert [(e.tag, e.name) for e in thin.elements if e.visible] == [("a", "")]


def test_a_curve_is_a_picture_that_can_be_read(scripts: Any) -> None:
    drawn = scripts("curves").svg([("ours & <others>", [(0.1, 0.0), (0.9, 0.02), (1.0, 0.9)])], across="x", up="y")

    lines = ElementTree.fromstring(drawn).findall("{http://www.w3.org/2000/svg}polyline")

    assert [len(line.get("points", "").split()) for line in lines] == [2]  # what lies above the axis is cut off


def test_every_test_of_the_demo_can_be_written_by_hand(scripts: Any) -> None:
    from gardener.actions.importing import read_file
    from gardener.sample_shop import TESTS_FOLDER

    bare_steps = scripts("bare_steps")
    files = sorted(TESTS_FOLDER.glob("*.yaml"))

    written = [
        bare_steps.bare(test.steps, dict.fromkeys(test.variables or {}, "x"))
        for file in files
        for test in read_file(file)
    ]

    assert len(written) >= len(files) > 10
    assert min(map(len, written)) >= 4
    with pytest.raises(bare_steps.NotBare):
        bare_steps.bare(read_steps([{"scroll": {"by": 10}}]), {})


def a_corpus(folder: Path, *names: str) -> Path:
    """One app with a page of links."""
    (folder / "pairs").mkdir(parents=True)
    rows = [
        {
            "id": f"shop/1..2/home/{name}",
            "app": "shop",
            "from_version": "1",
            "to_version": "2",
            "state": "home",
            "label": "match",
            "old_snapshot": "snapshots/shop/1/home.html.gz",
            "new_snapshot": "snapshots/shop/2/home.html.gz",
            "old": {"xpath": f"/html[1]/body[1]/ul[1]/li[{number}]/a[1]", "pw_name": name, "pw_role": "link",
                    "visible": True, "tag": "a", "attrs": {"id": name.lower()}},
            "new": {"xpath": f"/html[1]/body[1]/a[{number}]"},
            "locators": [{"style": "id", "selector": f"#{name.lower()}", "outcome": "same"}],
        }
        for number, name in enumerate(names, 1)
    ]  # fmt: skip
    with gzip.open(folder / "pairs" / "shop.jsonl.gz", "wt") as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_every_rule_makes_a_drift_of_an_element_with_a_truth_and_a_name_of_its_own(
    scripts: Any, tmp_path: Path
) -> None:
    made = list(scripts("page_drifts").page_drifts(a_corpus(tmp_path, "Orders", "Basket", "Help")))

    assert len({one.name for one in made}) == len(made) > 12
    assert all(one.element and one.place == "2" for one in made if one.right == "heal")
    assert all(one.verdicts for one in made if one.right in ("not", "environment"))
    assert [one.script for one in made] == [one.script for one in scripts("page_drifts").page_drifts(tmp_path)], (
        "the same ones every time"
    )


def test_a_page_is_served_with_its_drift_and_nothing_outside_the_corpus(scripts: Any, tmp_path: Path) -> None:
    module = scripts("page_drifts")
    page = a_corpus(tmp_path / "corpus", "Orders") / "snapshots" / "shop" / "1" / "home.html.gz"
    page.parent.mkdir(parents=True)
    page.write_bytes(gzip.compress(b"<body>home</body>"))
    (tmp_path / "secret.html.gz").write_bytes(gzip.compress(b"mine"))
    renamed = next(one for one in module.page_drifts(tmp_path / "corpus") if "rename" in one.rule)
    pages = module.CapturedPages(tmp_path / "corpus")

    as_captured = pages._answer("/shop/1/home")
    pages.drift = renamed
    drifted = pages._answer("/shop/1/home")

    assert as_captured[1].startswith(b"<body>home</body>")
    assert renamed.script.encode() not in as_captured[1]
    assert renamed.script.encode() in drifted[1]
    assert pages._answer("/../../secret")[0] == 404
    pages._server.server_close()
