"""What a script expects: of a page, of an element, of a value that it has read."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from repair_ladder.formats.gathering import Unsayable, quote
from repair_ladder.formats.script import Call
from repair_ladder.formats.script_addresses import url_condition
from repair_ladder.formats.script_locators import Rx, pick
from repair_ladder.formats.script_values import (
    STATES,
    Found,
    Options,
    Page,
    Read,
    Value,
    matches_nothing,
    text_condition,
)
from repair_ladder.formats.selectors import FOCUSED, UNCHECKED, UNWRITABLE, WRITABLE, inside
from repair_ladder.values import PLACEHOLDER

if TYPE_CHECKING:
    from repair_ladder.formats.script_reading import Reader

TWO_VALUES: Final = frozenset({"have_attribute", "have_css", "have_js_property"})


def expectation(reader: Reader, subject: Value, name: str, call: Call) -> None:
    negative = name.startswith("not_")
    what = name.removeprefix("not_").removeprefix("to_")
    options = reader.options(call)
    wanted = reader.value(options.given[0]) if options.given else None
    takes = 2 if what in TWO_VALUES else 0 if what.startswith("be_") and isinstance(subject, Found) else 1
    if len(options.given) > takes:
        raise Unsayable(f"what to_{quote(what)} is given beside its expectation")
    match subject:
        case Page():
            reader.check_options(options, "ignore_case")
            page_expectation(reader, subject, what, wanted, negative, options)
        case Found():
            reader.check_options(
                options,
                "visible",
                "enabled",
                "checked",
                "editable",
                "attached",
                "ignore_case",
                "use_inner_text",
                "ratio",
            )
            found_expectation(reader, subject, what, wanted, negative, options)
        case _:
            value_expectation(reader, subject, what, wanted, negative)


def page_expectation(reader: Reader, page: Page, what: str, wanted: Value, negative: bool, options: Options) -> None:
    if what == "have_url":
        condition = url_condition(reader, wanted, negative=negative, any_case=in_any_case(reader, options))
        reader.add({"assert_url": condition}, page, options)
    elif what == "have_title":
        reader.add({"assert_title": text_condition(wanted, negative=negative, folded=True)}, page, options)
    else:
        raise Unsayable(f"the check to_{quote(what)} of a page")


def in_any_case(reader: Reader, options: Options) -> bool | None:
    """What `ignore_case` says; it counts more than the flags of an expression."""
    return truth(reader, options, "ignore_case")


def truth(reader: Reader, options: Options, key: str) -> bool | None:
    value = reader.value(options.named[key]) if key in options.named else None
    if not isinstance(value, bool | None):
        raise Unsayable(f"the option {quote(key)}")
    return value


def found_expectation(reader: Reader, found: Found, what: str, wanted: Value, negative: bool, options: Options) -> None:
    raw = found.spot.raw()
    for key in ("visible", "enabled", "checked", "editable", "attached"):
        if truth(reader, options, key) is False:
            negative = not negative
    any_case = in_any_case(reader, options)
    if negative and what in ("have_text", "contain_text") and not truth(reader, options, "use_inner_text"):
        reader.out.note("that a text is not there is checked of what is shown: parts that are hidden do not count")
    second = reader.value(options.given[1]) if len(options.given) > 1 else None
    match what, wanted:
        case "have_text" | "contain_text", list():
            if negative:
                raise Unsayable("a list of texts that is not there")
            if what == "contain_text":
                raise Unsayable("a list of texts among others")
            reader.add({"assert_count": raw | {"equals": len(wanted)}}, found.page, options)
            for number, one in enumerate(wanted):
                spot = pick(found.spot, number).raw()
                condition = text_condition(one, any_case=any_case, folded=True)
                reader.add({"assert_text": spot | condition}, found.page, options)
            return
        case "have_attribute", str() if not re.fullmatch(r"[\w:.\-]+", wanted):
            raise Unsayable("an attribute that is not known")
        case "have_attribute", str() if isinstance(second, Rx) and not negative and matches_nothing(second):
            # An attribute that is not there reads as an empty text.
            is_in_state(reader, found, raw, f":scope[{wanted}]", False, options)
        case "have_attribute", str() if len(options.given) == 1 or second == "":
            selector = f":scope[{wanted}]" if len(options.given) == 1 else f':scope[{wanted}=""]'
            is_in_state(reader, found, raw, selector, negative, options)
            return
    for check in found_checks(reader, found, raw, what, wanted, second, negative, any_case, len(options.given)):
        reader.add(check, found.page, options)


def found_checks(
    reader: Reader, found: Found, raw: dict[str, Any], what: str, wanted: Value, second: Value, negative: bool,
    any_case: bool | None, count: int,
) -> list[dict[str, Any]]:  # fmt: skip
    def text(value: Value, *, part: bool = False, folded: bool = False) -> dict[str, Any]:
        return text_condition(value, part=part, negative=negative, any_case=any_case, folded=folded)

    def either(yes: list[dict[str, Any]], no: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return no if negative else yes

    visible, hidden = [{"assert_visible": raw}], [{"assert_hidden": raw}]
    enabled, disabled = [{"assert_enabled": raw}], [{"assert_disabled": raw}]
    writable = [*enabled, {"assert_count": inside(raw, WRITABLE) | {"equals": 1}}]
    match what:
        case "be_visible":
            return either(visible, hidden)
        case "be_hidden":
            return either(hidden, visible)
        case "be_enabled":
            return either(enabled, disabled)
        case "be_disabled":
            return either(disabled, enabled)
        case "be_checked":
            return either([{"assert_checked": raw}], [{"assert_count": inside(raw, UNCHECKED) | {"equals": 1}}])
        case "be_editable":
            return either(writable, [{"assert_count": inside(raw, UNWRITABLE) | {"equals": 1}}])
        case "be_focused":
            return [{"assert_count": inside(raw, FOCUSED) | {"equals": 0 if negative else 1}}]
        case "be_attached":
            return [{"assert_count": raw | {"equals": 0 if negative else 1}}]
        case "have_count" if isinstance(wanted, int) and not isinstance(wanted, bool):
            if negative and wanted:
                raise Unsayable("a count that is not to be")
            return [{"assert_count": raw | ({"at_least": 1} if negative else {"equals": wanted})}]
        case "have_text":
            return [{"assert_text": raw | text(wanted, folded=True)}]
        case "contain_text":
            return [{"assert_text": raw | text(wanted, part=True, folded=True)}]
        case "have_value":
            return [{"assert_value": raw | text(wanted)}]
        case "have_attribute" if isinstance(wanted, str) and count > 1:
            return [{"assert_attribute": raw | {"attribute": wanted} | text(second)}]
        case "have_id":
            return [{"assert_attribute": raw | {"attribute": "id"} | text(wanted)}]
        case "have_class":
            return [{"assert_attribute": raw | {"attribute": "class"} | text(wanted)}]
        case "contain_class" if isinstance(wanted, str) and wanted and not PLACEHOLDER.search(wanted):
            names = [rf"(?:^|\s){re.escape(one)}(?:\s|$)" for one in wanted.split()]
            if negative and len(names) > 1:
                raise Unsayable("several classes that are not there")
            return [
                {"assert_attribute": raw | {"attribute": "class"} | text_condition(Rx(one), negative=negative)}
                for one in names
            ]
    raise Unsayable(f"the check to_{quote(what)}")


def is_in_state(reader: Reader, found: Found, raw: dict[str, Any], css: str, negative: bool, options: Options) -> None:
    if negative:
        reader.add({"assert_count": raw | {"equals": 1}}, found.page, options)
    reader.add({"assert_count": inside(raw, css) | {"equals": 0 if negative else 1}}, found.page, options)


def value_expectation(reader: Reader, subject: Value, what: str, wanted: Value, negative: bool) -> None:
    how = {
        "be": "==", "equal": "==", "strict_equal": "==", "contain": "contains", "match": "matches",
        "be_greater_than": ">", "be_greater_than_or_equal": ">=", "be_less_than": "<",
        "be_less_than_or_equal": "<=",
    }.get(what)  # fmt: skip
    if what in ("be_truthy", "be_falsy"):
        how, wanted = "==", (what == "be_truthy")
        if not (isinstance(subject, Read) and subject.what in STATES):
            raise Unsayable(f"the check to_{quote(what)} of a value")
    if how is None:
        raise Unsayable(f"the check to_{quote(what)} of a value")
    if negative:
        how = {"==": "!=", "contains": "not contains", "matches": "not matches"}.get(how, "")
    compare(reader, subject, how, wanted)


def compare(reader: Reader, left: Value, how: str, right: Value) -> None:
    if isinstance(left, str) and (found := PLACEHOLDER.fullmatch(left)):
        reader.add({"assert_variable": {"variable": found[1]} | compared(how, right, folded=True)})
        return
    if not isinstance(left, Read):
        raise Unsayable("a comparison of values that no page has")
    if left.at is not None and left.at != reader.done:
        raise Unsayable(f"a comparison with the {left.what} of before something else was done")
    if left.what in STATES:
        compare_state(reader, left, how, right)
        return
    if left.what == "count":
        compare_count(reader, left, how, right)
        return
    if left.what == "url":
        reader.add({"assert_url": compared(how, right, partial(url_condition, reader))}, left.page)
        return
    raw = left.spot.raw() if left.spot else {}
    extra = {"attribute": left.attribute} if left.what == "attribute" else {}
    condition = compared(how, right, folded=left.what in ("text", "title"))
    reader.add({f"assert_{left.what}": raw | extra | condition}, left.page)


def compared(
    how: str, right: Value, condition: Callable[..., dict[str, Any]] | None = None, **more: bool
) -> dict[str, Any]:
    made = condition or text_condition
    match how:
        case "==" | "!=" if not isinstance(right, Rx):
            return made(right, negative=how == "!=", **more)
        case "contains" | "not contains" if not isinstance(right, Rx):
            return made(right, part=True, negative=how.startswith("not"), **more)
        case "matches" | "not matches" if isinstance(right, Rx):
            return made(right, negative=how.startswith("not"), **more)
    raise Unsayable(f"a comparison by {quote(how)}")


def compare_state(reader: Reader, left: Read, how: str, right: Value) -> None:
    if how not in ("==", "!=", "is") or not isinstance(right, bool) or left.spot is None:
        raise Unsayable("a comparison of a state")
    negative = right != (how != "!=")
    found_expectation(reader, Found(left.page, left.spot), f"be_{left.what}", None, negative, Options([]))


def compare_count(reader: Reader, left: Read, how: str, right: Value) -> None:
    assert left.spot is not None
    if isinstance(right, bool) or not isinstance(right, int):
        raise Unsayable("a count that is not known")
    condition = {
        "==": {"equals": right}, ">": {"at_least": right + 1}, ">=": {"at_least": right},
        "<": {"at_most": right - 1}, "<=": {"at_most": right},
    }.get(how) or ({"at_least": 1} if (how, right) == ("!=", 0) else None)  # fmt: skip
    if condition is None:
        raise Unsayable("a count that is not to be")
    reader.add({"assert_count": left.spot.raw() | condition}, left.page)
