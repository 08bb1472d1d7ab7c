"""A small pottery shop in two releases: the app under test that `gardener demo` looks after.

Release 2 brings the ordinary drift of a working team, and one bug. `tests/` holds what a tester recorded on
release 1, `truth.py` what is right for each of those tests once release 2 is out.
"""

from pathlib import Path

from gardener.sample_shop.server import ReleaseName, Shop
from gardener.sample_shop.state import ADA_EMAIL, ADA_PASSWORD

TESTS_FOLDER = Path(__file__).parent / "tests"
SECRETS = {"SHOP_PASSWORD": ADA_PASSWORD}

__all__ = ["ADA_EMAIL", "SECRETS", "TESTS_FOLDER", "ReleaseName", "Shop"]
