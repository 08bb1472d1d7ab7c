"""The wheel works far from the checkout: commands, migrations, scripts for the page and the sample shop are inside."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment that holds the built wheel and sees the packages it needs, but not the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=CHECKOUT,
        check=True,
        capture_output=True,
    )
    wheel = next(folder.glob("*.whl"))
    home = folder / "venv"
    venv.create(home, with_pip=False, symlinks=True)
    purelib = home / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    # A plain path line: the .pth files over there, which lead to the checkout, are not followed.
    (purelib / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(purelib), str(wheel)],
        check=True,
        capture_output=True,
    )
    return home / "bin" / "python"


def ask(python: Path, folder: Path, *args: str) -> str:
    done = subprocess.run(
        [str(python), "-m", "gardener", *args],
        cwd=folder,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "GARDENER_DATA_DIR": str(folder / "data")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_sets_up_a_database_and_answers(installed: Path, tmp_path: Path) -> None:
    ask(installed, tmp_path, "project", "add", "shop", "--base-url", "http://127.0.0.1:9")

    assert "shop" in ask(installed, tmp_path, "project", "list")


def test_the_wheel_holds_what_is_no_python(installed: Path, tmp_path: Path) -> None:
    code = (
        "import radar, radar.browser, gardener.sample_shop as s; "
        "print(radar.__file__, len(radar.browser.COLLECT) > 1000, len(list(s.TESTS_FOLDER.glob('*.yaml'))) >= 12)"
    )
    said = subprocess.run([str(installed), "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert str(CHECKOUT) not in said
    assert said.split()[1:] == ["True", "True"]


def test_the_wheel_holds_the_pages_and_what_they_need(installed: Path, tmp_path: Path) -> None:
    code = (
        "from web import assets, view; "
        "print(assets.templates_folder(), len(view.environment().list_templates()) > 20, "
        "all(assets.asset(name).content for name in assets.FILES))"
    )
    said = subprocess.run([str(installed), "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert str(CHECKOUT) not in said
    assert said.split()[1:] == ["True", "True"]
    templates = {path.relative_to(CHECKOUT / "templates") for path in (CHECKOUT / "templates").rglob("*.html")}
    assert all((Path(said.split()[0]) / one).is_file() for one in templates)
