"""What collect.js leaves out of a snapshot. Whoever is asked for it has to say that the snapshot cannot answer."""

from __future__ import annotations

import re
from typing import Final

# Elements nobody acts on, and attributes that are noise to everybody else.
UNRECORDED_TAGS: Final = frozenset("script style noscript template link meta head base title br wbr".split())
UNRECORDED_ATTRIBUTES: Final = re.compile(r"(style|nonce|on.*|d|points|srcset|integrity|transform|viewbox|jsaction)\Z")
SVG_INSIDES: Final = frozenset(
    "path g use circle rect line polyline polygon ellipse text tspan symbol defs marker mask clippath stop "
    "lineargradient radialgradient pattern foreignobject animate desc".split()
)
# Among the pieces of an Element: what stands for a child that is not recorded.
OTHER_ELEMENT: Final = ""
LINE_BREAK: Final = "\n"  # a br
