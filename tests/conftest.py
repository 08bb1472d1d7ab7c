"""What holds for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# No test is judged by the clock: a machine that does other work at the same time would make it fail.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
