"""What a step needs of its element: a click something to press, a fill something that takes text."""

from __future__ import annotations

from typing import Final

from radar.elements import Element
from radar.things import group_of, is_control

FIELDS: Final = frozenset(("type", "choose", "tick", "upload"))  # groups of radar.things that hold a value
CLICKS: Final = frozenset(("click", "dblclick", "press"))
_TEXT_INPUTS: Final = frozenset(
    (
        "",
        "text",
        "email",
        "password",
        "search",
        "tel",
        "url",
        "number",
        "date",
        "time",
        "datetime-local",
        "month",
        "week",
    )
)


def can_take(action: str | None, old: Element, new: Element) -> bool:
    """Can the step do with the new element what it did with the old one?"""
    if action is None:
        return new.visible or not old.visible
    if action in ("upload", "assert_hidden"):
        return action != "upload" or group_of(new) == "upload"
    if not new.visible and old.visible:
        return False
    if action in ("fill", "type"):
        return _takes_text(new)
    if action == "select":
        return new.tag == "select" or new.role in ("combobox", "listbox")
    if action in ("check", "uncheck"):
        return group_of(new) == "tick" or new.role == "switch" or new.tag == "label"
    if action in CLICKS:
        was = is_control(old) or old.clickable
        return is_control(new) or new.clickable or not was
    return True


def _takes_text(element: Element) -> bool:
    if element.tag == "input":
        return element.get("type").lower() in _TEXT_INPUTS
    editable = element.get("contenteditable") not in ("", "false") or element.attributes.get("contenteditable") == ""
    return element.tag == "textarea" or editable or element.role in ("textbox", "searchbox", "spinbutton")
