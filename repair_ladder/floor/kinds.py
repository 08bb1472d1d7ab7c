"""Kinds of steps, as the floor tells them apart."""

from __future__ import annotations

from typing import Final

NEUTRAL: Final = frozenset({"wait", "screenshot", "extract", "a11y_audit"})
STEERING: Final = frozenset({"goto", "back", "reload"})
ENTERING: Final = frozenset({"fill", "type"})
SWITCHING: Final = frozenset({"check", "uncheck"})
# What changes the element it is played on, so that a check of that element says nothing of the app.
SETTING: Final = frozenset({"fill", "type", "select", "check", "uncheck", "upload"})
DOING: Final = SETTING | {"click", "dblclick", "press", "drag"}
# What brings up no native dialog.
QUIET: Final = frozenset({"fill", "type", "hover", "scroll", "set"})
RENAMABLE: Final = {"select": frozenset({"option", "value", "index"}), "goto": frozenset({"url"})}
WITHOUT_MOVES: Final = frozenset({"assert_console", "assert_request", "assert_url", "assert_title", "assert_variable"})
