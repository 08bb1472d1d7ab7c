"""Covers gardener/sealing.py: what is sealed can be read with the same key only, and the key file is one's own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gardener.errors import BadSetting
from gardener.sealing import KEY_FILE, OLD_KEY_FILE, Sealer, sealer_of
from gardener.settings import Settings, read_settings

URL = "slack://T0KEN/of/ada"


def settings(folder: Path, secret_key: str | None = None) -> Settings:
    return Settings("unused", folder, secret_key=secret_key)


def test_what_is_sealed_can_be_read_again_and_shows_nothing(tmp_path: Path) -> None:
    token = sealer_of(settings(tmp_path)).seal(URL)

    assert sealer_of(settings(tmp_path)).unseal(token) == URL
    assert "T0KEN" not in token
    assert token != sealer_of(settings(tmp_path)).seal(URL)


def test_the_key_file_is_made_at_first_use_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"

    sealer_of(settings(folder))

    assert (folder / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert [one.name for one in folder.iterdir()] == [KEY_FILE]


def test_several_who_meet_an_empty_folder_at_once_get_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        sealers = list(pool.map(lambda _: sealer_of(settings(tmp_path)), range(16)))

    tokens = [one.seal(URL) for one in sealers]
    assert {one.unseal(token) for one in sealers for token in tokens} == {URL}


def test_with_a_key_of_its_own_no_file_is_made(tmp_path: Path) -> None:
    token = sealer_of(settings(tmp_path, "a long secret of Ada's")).seal(URL)

    assert not (tmp_path / KEY_FILE).exists()
    assert sealer_of(settings(tmp_path / "elsewhere", "a long secret of Ada's")).unseal(token) == URL


def test_what_the_file_sealed_can_be_read_after_a_key_was_set(tmp_path: Path) -> None:
    token = sealer_of(settings(tmp_path)).seal(URL)
    both = sealer_of(settings(tmp_path, "a long secret of Ada's"))

    assert both.unseal(token) == URL
    (tmp_path / KEY_FILE).unlink()
    assert sealer_of(settings(tmp_path, "a long secret of Ada's")).unseal(both.seal(URL)) == URL


@pytest.mark.parametrize("spoil", [lambda token: token[:-4] + "AAA=", lambda token: "", lambda token: "x" * 200])
def test_what_was_changed_is_noticed(spoil: object) -> None:
    sealer = Sealer("a long secret of Ada's")
    assert callable(spoil)

    with pytest.raises(BadSetting, match="cannot be read with this key"):
        sealer.unseal(spoil(sealer.seal(URL)))


def test_another_key_says_what_to_do_and_shows_nothing(tmp_path: Path) -> None:
    token = Sealer("a long secret of Ada's").seal(URL)

    with pytest.raises(BadSetting, match="GARDENER_SECRET_KEY") as caught:
        Sealer("a long secret of Ben's").unseal(token)

    assert token not in str(caught.value)


def test_a_key_file_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    sealer_of(settings(tmp_path))
    (tmp_path / KEY_FILE).chmod(0o640)

    with pytest.raises(BadSetting, match="chmod 600"):
        sealer_of(settings(tmp_path))


def test_a_key_file_that_was_cut_is_not_used(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).touch(0o600)

    with pytest.raises(BadSetting, match="damaged"):
        sealer_of(settings(tmp_path))


def test_a_key_is_nowhere_shown(tmp_path: Path) -> None:
    given = read_settings({"GARDENER_SECRET_KEY": "a long secret of Ada's"}, tmp_path)

    assert given.secret_key == "a long secret of Ada's"
    assert "secret of" not in repr(given)
    assert repr(sealer_of(settings(tmp_path, given.secret_key))) == "Sealer(…)"


def test_a_key_that_can_be_guessed_is_refused_without_being_shown(tmp_path: Path) -> None:
    (tmp_path / "gardener.toml").write_text('anthropic_api_key = ["sk-very-secret"]\n')

    with pytest.raises(BadSetting, match="at least 16 characters") as caught:
        read_settings({"GARDENER_SECRET_KEY": "hunter2"}, tmp_path)

    assert "hunter2" not in str(caught.value)
    assert "sk-very" not in str(caught.value)


def test_what_was_sealed_for_one_purpose_cannot_be_read_for_another() -> None:
    sealer = Sealer("a long secret of Ada's")
    token = sealer.seal(URL, "secret:1:SHOP_PASSWORD")

    assert sealer.unseal(token, "secret:1:SHOP_PASSWORD") == URL
    for purpose in ("", "secret:2:SHOP_PASSWORD", "secret:1:SHOP_PASSWORD2"):
        with pytest.raises(BadSetting, match="cannot be read with this key"):
            sealer.unseal(token, purpose)


def test_the_older_keys_can_still_unseal_and_never_seal(tmp_path: Path) -> None:
    token = sealer_of(settings(tmp_path)).seal(URL)
    (tmp_path / KEY_FILE).rename(tmp_path / OLD_KEY_FILE)
    fresh = sealer_of(settings(tmp_path))

    assert fresh.unseal(token) == URL
    resealed = fresh.seal(URL)
    (tmp_path / OLD_KEY_FILE).unlink()
    assert sealer_of(settings(tmp_path)).unseal(resealed) == URL

    named = Settings("unused", tmp_path / "x", secret_key="the key of today", secret_key_old="the key before")
    assert sealer_of(named).unseal(Sealer("the key before").seal(URL)) == URL
    assert "the key" not in repr(named)
