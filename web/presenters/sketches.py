"""A page as it is remembered -> a picture of it with one element marked.

What is kept of a page is its elements, not its pixels: a sketch draws boxes, fields and texts where they stood. It
needs no browser, shows a green run as well as a red one, and holds nothing that was not redacted when it was read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from radar.elements import Box, Element, PageSnapshot
from web.presenters.words import cut

WIDTH: Final = 960.0  # of the page that is shown, in its own pixels; a narrower page is shown whole
HEIGHT: Final = 400.0
MOST: Final = 500  # elements that are drawn
FIELDS: Final = frozenset({"input", "textarea", "select"})
PICTURES: Final = frozenset({"img", "svg", "canvas", "video", "picture", "iframe"})
QUIET_TYPES: Final = frozenset({"checkbox", "radio"})
BUTTON_TYPES: Final = frozenset({"submit", "button", "reset", "image"})
# Fixed colours on paper of its own: the same in light and dark.
PAPER, INK, LINE, FILL, LINK = "#fdfdfb", "#30343b", "#c9cdd4", "#e7eaef", "#1f5fa8"
TONES: Final = {"before": "#b3261e", "after": "#1a7f4b"}


@dataclass(frozen=True, slots=True)
class Window:
    x: float
    y: float
    width: float
    height: float

    def shows(self, box: Box) -> bool:
        return (
            box.width > 0
            and box.height > 0
            and box.x < self.x + self.width
            and box.x + box.width > self.x
            and box.y < self.y + self.height
            and box.y + box.height > self.y
        )


def sketch(page: PageSnapshot, target: int | None, *, tone: str) -> str:
    """An SVG: the part of the page around the target, or its beginning. `tone` is "before" or "after"."""
    marked = page.elements[target] if target is not None and 0 <= target < len(page.elements) else None
    window = window_of(page, marked.box if marked else None)
    drawn = [one for one in page.elements if one.visible and window.shows(one.box)][:MOST]
    parts = [_draw(page, one) for one in drawn]
    if marked is not None:
        parts.append(_mark(page, marked, TONES[tone]))
    view = f"{window.x:.0f} {window.y:.0f} {window.width:.0f} {window.height:.0f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" width="{window.width:.0f}" '
        f'height="{window.height:.0f}" font-family="system-ui, sans-serif">'
        f'<rect x="{window.x:.0f}" y="{window.y:.0f}" width="100%" height="100%" fill="{PAPER}"/>'
        + "".join(parts)
        + "</svg>"
    )


def window_of(page: PageSnapshot, box: Box | None) -> Window:
    """As much of the page as is shown: around the box if there is one, never beyond the page."""
    shown = [one.box for one in page.elements if one.visible]
    wide = max([min(float(page.viewport[0]), 4000.0), 200.0])
    bottom = max([box.y + box.height for box in shown if box.width > 0], default=HEIGHT)
    width = min(wide, WIDTH)
    height = min(max(bottom + 16, 120.0), HEIGHT)
    if box is None:
        return Window(0, 0, width, height)
    x = min(max(0.0, box.centre[0] - width / 2), max(0.0, wide - width))
    y = min(max(0.0, box.centre[1] - height / 2), max(0.0, bottom + 16 - height))
    return Window(x, y, width, height)


def describe(page: PageSnapshot, target: int | None) -> str:
    """The same for those who do not see it."""
    if target is None or not 0 <= target < len(page.elements):
        return f"Sketch of the page {cut(page.title or page.url, 80)}"
    one = page.elements[target]
    said = one.name or page.texts[target] or one.label
    what = f"{one.role or one.tag} “{cut(said, 60)}”" if said else one.role or one.tag
    return f"Sketch of the page {cut(page.title or page.url, 80)} with {what} marked"


def _draw(page: PageSnapshot, one: Element) -> str:
    kind = one.get("type").lower()
    if one.tag in FIELDS and kind not in BUTTON_TYPES:
        radius = one.box.height / 2 if kind == "radio" else 3
        inside = "" if kind in QUIET_TYPES else _text(one, one.get("value") or one.get("placeholder"), pad=8)
        dot = _rect(_inner(one.box, 0.3), INK, "none", 2) if one.checked and kind in QUIET_TYPES else ""
        return _rect(one.box, "#ffffff", LINE, radius) + inside + dot
    if one.tag == "button" or (one.tag == "input" and kind in BUTTON_TYPES) or one.role == "button":
        said = one.own_text or one.get("value") or page.texts[one.index] or one.name
        return _rect(one.box, FILL, LINE, 5) + _text(one, said, middle=True, weight=600)
    if one.tag in PICTURES:
        return _rect(one.box, FILL, "none", 2)
    if not one.own_text:
        return ""
    heading = one.tag in ("h1", "h2", "h3", "h4", "th", "strong", "b", "legend")
    return _text(one, one.own_text, weight=700 if heading else 400, ink=LINK if one.role == "link" else INK)


def _mark(page: PageSnapshot, one: Element, colour: str) -> str:
    box = one.box
    around = Box(box.x - 5, box.y - 5, box.width + 10, box.height + 10)
    return (
        f'<rect x="{around.x:.1f}" y="{around.y:.1f}" width="{around.width:.1f}" height="{around.height:.1f}" rx="7" '
        f'fill="{colour}" fill-opacity="0.10" stroke="{colour}" stroke-width="3"/>'
    )


def _rect(box: Box, fill: str, stroke: str, radius: float) -> str:
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{radius:.0f}" '
        f'fill="{fill}" stroke="{stroke}"/>'
    )


def _inner(box: Box, part: float) -> Box:
    return Box(
        box.x + box.width * part, box.y + box.height * part, box.width * (1 - 2 * part), box.height * (1 - 2 * part)
    )


def _text(one: Element, said: str, *, pad: float = 0, middle: bool = False, weight: int = 400, ink: str = INK) -> str:
    """The text in its box: as large as one line of it would be, cut where it would run out."""
    box = one.box
    if not said or box.width < 6:
        return ""
    # A box of several lines is as high as they are together; a line of a page is rarely higher than 24 pixels.
    lines = max(1, round(box.height / 24)) if box.height > 34 and len(said) * 7 > box.width else 1
    size = min(max(box.height / lines * 0.72, 9), 15 if weight < 700 else 24)
    if pad or middle:
        size = min(size, 14)
    fits = max(1, int((box.width - 2 * pad) / (size * 0.5)))
    anchor = ' text-anchor="middle"' if middle else ""
    x = box.x + (box.width / 2 if middle else pad)
    made = []
    for number, line in enumerate(_broken(cut(said, fits * lines), fits, lines)):
        y = box.y + box.height * (number + 0.5) / lines + size * 0.35
        made.append(
            f"<text x={quoteattr(f'{x:.1f}')} y={quoteattr(f'{y:.1f}')} font-size={quoteattr(f'{size:.1f}')} "
            f'font-weight="{weight}" fill="{ink}"{anchor}>{escape(line)}</text>'
        )
    return "".join(made)


def _broken(text: str, fits: int, lines: int) -> list[str]:
    """Lines of so many characters, broken at blanks where there are some."""
    made: list[str] = []
    left = text
    while left and len(made) < lines:
        at = len(left) if len(left) <= fits else max(left.rfind(" ", 0, fits + 1), 0) or fits
        made.append(left[:at].strip())
        left = left[at:].strip()
    return made
