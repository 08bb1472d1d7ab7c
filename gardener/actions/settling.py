"""Add a project and change its settings, with who did it."""

from __future__ import annotations

from collections.abc import Mapping

from gardener.errors import BadSetting, NotFound
from gardener.projects import Project, change_settings, read_base_url, wrong_settings
from gardener.store import Transaction, audit, projects, saved_tests
from gardener.tools import Tools


async def add_project(tools: Tools, name: str, base_url: str, by: str) -> Project:
    """Raises Refused where the name is taken or none."""
    async with tools.store.transaction() as tx:
        made = await projects.add(tx, name, base_url, now=tools.now())
        details = {"base_url": base_url}
        await audit.write(
            tx, project=made.id, who=by, what="add project", subject=name, details=details, now=tools.now()
        )
    return made


async def change_project(tools: Tools, project: int, changes: Mapping[str, str], by: str) -> Project:
    """Settings as a person types them, `auto_repair` and `base_url` among them. BadSetting: none changed."""
    given = dict(changes)
    switch, url = given.pop("auto_repair", None), given.pop("base_url", None)
    if switch is not None and switch not in ("true", "false"):
        raise BadSetting(f"'auto_repair' is true or false, got '{switch}'")
    async with tools.store.transaction() as tx:
        old = await projects.by_id(tx, project)
        new = await projects.update(
            tx,
            project,
            base_url=read_base_url(url) if url is not None else None,
            auto_repair=switch == "true" if switch is not None else None,
            settings=change_settings(old.settings, given) if given else None,
        )
        await check_sign_in(tx, old, new)
        changed = _changed(old, new)
        if changed:
            await audit.write(
                tx, project=project, who=by, what="settings", subject=new.name, details=changed, now=tools.now()
            )
    return new


async def wrong_changes(tools: Tools, project: int, changes: Mapping[str, str]) -> dict[str, str]:
    """What `change_project` would refuse, key by key, for a form that says it beside each field."""
    given = dict(changes)
    switch, url = given.pop("auto_repair", None), given.pop("base_url", None)
    async with tools.store.reading() as tx:
        old = await projects.by_id(tx, project)
        wrong = wrong_settings(old.settings, given)
        name = given.get("sign_in")
        try:
            if name:
                await saved_tests.get(tx, project, name)
        except NotFound as error:
            wrong["sign_in"] = str(error)
    if switch not in (None, "true", "false"):
        wrong["auto_repair"] = f"'auto_repair' is true or false, got '{switch}'"
    if url is not None:
        try:
            read_base_url(url)
        except BadSetting as error:
            wrong["base_url"] = str(error)
    return wrong


async def check_sign_in(tx: Transaction, old: Project, new: Project) -> None:
    """Raises NotFound where the project shall sign in with a test that it does not have."""
    name = new.settings.sign_in
    if name is not None and name != old.settings.sign_in:
        await saved_tests.get(tx, new.id, name)


def _changed(old: Project, new: Project) -> dict[str, object]:
    keys = old.settings.__dataclass_fields__
    pairs = {key: (getattr(old.settings, key), getattr(new.settings, key)) for key in keys}
    pairs |= {"auto_repair": (old.auto_repair, new.auto_repair), "base_url": (old.base_url, new.base_url)}
    return {key: [was, now] for key, (was, now) in pairs.items() if was != now}
