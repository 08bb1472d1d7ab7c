"""What holds for all tests; and in which order files of them go to the workers of `scripts/test`."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings

# No test is judged by the clock: a machine that does other work at the same time would make it fail.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Few tests that take long. xdist hands out files with many tests first, so that these would come last, and the one
# worker that got them would run on alone.
LONGEST: Final = (
    "tests/gardener/test_demo.py",
    "tests/acceptance/test_killed_serving.py",
    "tests/acceptance/test_crashes.py",
    "tests/test_packaging.py",
    "tests/scripts/test_benchmarks.py",
    "tests/test_architecture.py",
)
BY_PARAMETER: Final = LONGEST[:2]  # what their tests share is made for each parameter anew


def piece_of(nodeid: str) -> str:
    """What stays on one worker: a file, or the tests of a parameter of one."""
    file, _, test = nodeid.partition("::")
    return f"{file}[{test.partition('[')[2]}" if file in BY_PARAMETER and "[" in test else file


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not hasattr(config, "workerinput"):
        return  # one after another: as they stand
    counts = Counter(piece_of(item.nodeid) for item in items)

    def place(item: pytest.Item) -> tuple[int, int]:
        file = item.nodeid.partition("::")[0]
        return (LONGEST.index(file) if file in LONGEST else len(LONGEST)), -counts[piece_of(item.nodeid)]

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByPiece(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return piece_of(nodeid)

    config.option.loadscopereorder = False
    return ByPiece(config, log)
