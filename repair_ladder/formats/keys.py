"""Keys going down and up, as recorders write them, as presses of keys and as modifiers of clicks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MODIFIERS: Final = ("Alt", "Control", "Meta", "Shift")


class Keyboard:
    """What is held down. A key that is no modifier is pressed when it goes down: nothing waits for it to come up."""

    def __init__(self) -> None:
        self.held: dict[str, bool] = {}  # modifier -> has it been used by a key or a click?
        self.down_keys: set[str] = set()

    def down(self, key: str) -> str | None:
        """The press that this means, if any."""
        if key in MODIFIERS:
            self.held.setdefault(key, False)
            return None
        self.down_keys.add(key)
        return "+".join([*self.modifiers(), key])

    def up(self, key: str) -> str | None:
        """The press that this means: a modifier that nothing used was pressed for itself."""
        self.down_keys.discard(key)
        used = self.held.pop(key, True)
        return None if used else key

    def modifiers(self) -> list[str]:
        """Those held now; whoever asks uses them."""
        for key in self.held:
            self.held[key] = True
        return sorted(self.held)


def taken_apart(press: str) -> tuple[list[str], str] | None:
    """The modifiers and the key of `Control+a`; None where it is none of these. `+` itself is a key."""
    head, key = "", press
    if press.endswith("++"):
        head, key = press[:-2], "+"
    elif "+" in press and press != "+":
        head, _, key = press.rpartition("+")
    names = head.split("+") if head else []
    if not key or any(name not in MODIFIERS for name in names) or names != sorted(set(names)):
        return None
    return names, key


def are_modifiers(names: Iterable[str]) -> bool:
    return all(name in MODIFIERS for name in names)
