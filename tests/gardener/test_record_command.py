"""`gardener record` where there is no screen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
def test_a_recording_without_a_display_is_one_line(tmp_path: Path) -> None:
    environ = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}

    def run(*given: str) -> subprocess.CompletedProcess[str]:
        whole = [sys.executable, "-m", "gardener", "--data-dir", str(tmp_path / "data"), *given]
        return subprocess.run(whole, env=environ, capture_output=True, text=True, timeout=120)

    run("project", "add", "shop", "--base-url", "http://127.0.0.1:1")
    said = run("record", "shop")

    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.startswith("recording opens a window, and there is no display here")
    assert said.stderr.count("\n") == 1
