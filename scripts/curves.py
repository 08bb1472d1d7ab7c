"""A small line chart as SVG text, for the figures in docs/: no library, readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 20, 52
COLOURS: Final = ("#1a7f5a", "#b4582a", "#7a5ca8")
DASHES: Final = ("", "6 4")
HIGHEST: Final = 0.3  # of the upward axis; what lies above is cut off

Line = tuple[str, Sequence[tuple[float, float]]]


def svg(lines: Sequence[Line], *, across: str, up: str) -> str:
    """Lines of points (0..1, 0..1), both shown in per cent; three colours, the second three dashed."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for step in range(7):
        value = HIGHEST * step / 6
        y = _y(value)
        parts.append(f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{round(100 * value)} %</text>')
    for step in range(11):
        x = _x(step / 10)
        parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{10 * step} %</text>')
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{escape(across)}</text>'
        f'<text transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(up)}</text>'
    )
    for at, (name, points) in enumerate(lines):
        colour, dash = COLOURS[at % 3], DASHES[at // 3 % 2]
        shown = [(x, y) for x, y in points if y <= HIGHEST]
        path = " ".join(f"{_x(x)},{_y(y)}" for x, y in shown)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        )
        y = TOP + 14 + 17 * at
        parts.append(
            f'<path d="M{LEFT + 14} {y}h26" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
            f'<text x="{LEFT + 48}" y="{y + 4}">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _x(value: float) -> float:
    return round(LEFT + value * (WIDTH - LEFT - RIGHT), 1)


def _y(value: float) -> float:
    return round(HEIGHT - BOTTOM - value / HIGHEST * (HEIGHT - TOP - BOTTOM), 1)
