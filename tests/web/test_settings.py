"""The settings page: every setting a person would set has a field; what is wrong is told beside it, all at once."""

from __future__ import annotations

import re
from html import unescape

import pytest

from gardener.projects import Project, ProjectSettings
from gardener.store import audit, projects
from tests.acceptance.shop import CHECKOUT
from tests.web.conftest import Office, Visitor
from web.presenters import settings as present

PATH = "/projects/1/settings"


def fields_of(ada: Visitor) -> dict[str, str]:
    """What a browser would send for the form as it stands."""
    form = ada.page[ada.page.index(f'action="{PATH}"') :]
    found = {}
    for tag in re.findall(r"<input[^>]*>", form):
        name = re.search(r'name="([^"]+)"', tag)
        if name and name[1] != "csrf" and ('type="checkbox"' not in tag or " checked" in tag):
            value = re.search(r'value="([^"]*)"', tag)
            found[name[1]] = unescape(value[1]) if value else ""
    for name_, text in re.findall(r'<textarea[^>]*name="([^"]+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL):
        found[name_] = unescape(text)
    for name_, options in re.findall(r'<select[^>]*name="([^"]+)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options)
        found[name_] = chosen[1] if chosen else ""
    return found


async def project(office: Office) -> Project:
    async with office.world.store.reading() as tx:
        return await projects.by_id(tx, 1)


async def open_form(office: Office) -> Visitor:
    ada = await office.ada()
    await ada.get(PATH)
    return ada


def test_every_setting_of_a_project_has_a_field_once() -> None:
    keys = [one.key for one in present.FIELDS]

    assert sorted(keys) == sorted({*ProjectSettings.__dataclass_fields__, "base_url", "auto_repair"})
    assert all(one.label for one in present.FIELDS)


NEW = {
    "sign_in": "checkout",
    "control_cron": "0 3 * * 1",
    "keep_runs": "50",
    "keep_days": "7",
    "model_provider": "openai",
    "rules": "Never touch the price.\nNo step may use a position.",
    "judge_provider": "gemini",
    "judge_model": "judge-1",
    "judge_base_url": "http://127.0.0.1:9",
    "case_tokens": "1000",
    "day_tokens": "",
    "project_tokens": "5000",
    "case_usd": "0.5",
    "day_usd": "2",
    "project_usd": "30.25",
    "forbidden": '.danger, #pay\n{"role": "button", "name": "Delete"}',
    "read_only_hours": "mon-fri 08:00-18:00",
    "toast": ".snackbar",
    "modal": "dialog[open]",
    "validation_error": ".field-error",
}


async def test_each_of_them_is_saved_shown_again_and_audited(office: Office) -> None:
    await office.world.save(CHECKOUT)
    ada = await open_form(office)
    before = fields_of(ada)

    await ada.send(PATH, **{**before, **NEW, "traces": "true"})
    said = ada.said
    shown = fields_of(ada)
    saved = (await project(office)).settings

    assert said == "Saved."
    assert {key: shown[key] for key in NEW} == NEW
    assert (saved.rules, saved.day_tokens, saved.project_usd) == (tuple(NEW["rules"].split("\n")), None, 30.25)
    assert (saved.pictures, saved.traces) == (True, True)
    async with office.world.store.reading() as tx:
        (entry,) = [one for one in await audit.listed(tx, project=1) if one.what == "settings"]
    assert set(NEW) <= {*entry.details, "day_tokens"}


async def test_saving_it_as_it_is_changes_nothing(office: Office) -> None:
    ada = await open_form(office)
    before = await project(office)

    await ada.send(PATH, **fields_of(ada))

    assert ada.said == "Saved."
    assert await project(office) == before
    async with office.world.store.reading() as tx:
        assert [one for one in await audit.listed(tx, project=1) if one.what == "settings"] == []


WRONG = {
    "base_url": "ftp://shop.test",
    "sign_in": "nobody's test",
    "step_timeout_ms": "soon",
    "keep_days": "0",
    "sweep_cron": "every day",
    "timezone": "Mars/Base",
    "digest_hour": "25",
    "judge_provider": "oracle",
    "rules": "x" * 501,
    "case_tokens": "-1",
    "day_usd": "1,50",
    "forbidden": "button >",
    "read_only_hours": "at night",
}


async def test_all_that_is_wrong_is_told_beside_its_field_and_everything_typed_stays(office: Office) -> None:
    ada = await open_form(office)
    typed = {**fields_of(ada), **WRONG, "toast": ".mine", "urls": "/a\n/b"}
    typed.pop("pictures")
    before = await project(office)

    await ada.send(PATH, **typed)

    assert ada.status == 422
    assert await project(office) == before
    assert f"Nothing was saved: {len(WRONG)} fields need another look." in ada.text
    shown = fields_of(ada)
    for key, value in WRONG.items():
        assert f'id="wrong-{key}"' in ada.page, key
        assert f'aria-describedby="wrong-{key}"' in ada.page, key
        if key != "judge_provider":  # a select shows only what it offers
            assert shown[key] == value
    assert (shown["toast"], shown["urls"], "pictures" in shown) == (".mine", "/a\n/b", False)
    assert ada.page.count('class="wrong"') == len(WRONG)


@pytest.mark.parametrize(
    ("key", "text", "says"),
    [
        ("day_usd", "much", "It is an amount of US dollars such as 2.50"),
        ("rules", "x" * 501, "Rules are at most 30 sentences"),
        ("sign_in", "nope", "There is no test 'nope' in this project"),
        ("base_url", "x", "The base URL is an address such as"),
    ],
)
async def test_a_message_beside_a_field_reads_as_a_sentence(office: Office, key: str, text: str, says: str) -> None:
    ada = await open_form(office)

    await ada.send(PATH, **{**fields_of(ada), key: text})

    assert says in ada.text


async def test_a_member_may_look_and_not_change(office: Office) -> None:
    ben = await office.ben()
    await ben.get(PATH)

    assert "Only an admin changes these." in ben.text
    assert ben.page.count("<fieldset") == ben.page.count(" disabled>")
    await ben.send(PATH, base_url="http://elsewhere.test")
    assert ben.status == 403
    assert (await project(office)).base_url == "http://shop.test"


async def test_a_field_that_is_no_setting_is_passed_over(office: Office) -> None:
    ada = await open_form(office)

    await ada.send(PATH, **fields_of(ada), id="7", name="other")

    assert ada.said == "Saved."
    assert (await project(office)).name == "shop"
