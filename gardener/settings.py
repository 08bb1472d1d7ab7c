"""Settings, read once from variables and gardener.toml; nothing else reads the environment."""

from __future__ import annotations

import getpass
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from gardener.errors import BadSetting
from gardener.prices import known_prices
from repair_ladder.models import PROVIDERS, ProviderName

FILE: Final = "gardener.toml"
PREFIX: Final = "GARDENER_"
# key in gardener.toml (in capitals and with the prefix: the variable) -> what it is, for messages
KEYS: Final = {
    "database_url": "sqlite:///FILE or postgresql://…",
    "data_dir": "a folder for pictures and other files",
    "chromium": "the path of a Chromium",
    "browser_endpoint": "the CDP address of a running browser",
    "lease_seconds": "a number of seconds from 1 to 3600",
    "anthropic_api_key": "a key (also ANTHROPIC_API_KEY)",
    "anthropic_base_url": "an address (also ANTHROPIC_BASE_URL)",
    "openai_api_key": "a key (also OPENAI_API_KEY)",
    "openai_base_url": "the address of OpenAI or of a server that speaks its API (also OPENAI_BASE_URL)",
    "gemini_api_key": "a key (also GEMINI_API_KEY)",
    "gemini_base_url": "an address",
    "claude_command": "the path of the Claude CLI",
    "model_provider": f"one of {', '.join(PROVIDERS)}",
    "model": "the name of a model",
    "prices_file": "the path of a TOML file with prices of models, in the form of the one that is shipped",
    "most_usd_a_day": "an amount of US dollars, such as 2.50",
    "most_tokens_a_day": "a number of tokens",
    "plugins": "names of Python modules with hooks, apart by commas",
    "by": "the name that decisions are recorded under",
    "host": "the address that `serve` listens on, such as 127.0.0.1",
    "port": "the port that `serve` listens on, a whole number from 0 to 65535",
    "public_url": "the address that people reach `serve` under, such as https://gardener.example.org",
    "secret_key": "a secret of at least 16 characters, which stored secrets are sealed with",
    "secret_key_old": "the secret that was the 'secret_key' before, until `secret rekey` has run",
}
# Never shown, not even where they cannot be used.
SECRET: Final = frozenset({"anthropic_api_key", "openai_api_key", "gemini_api_key", "secret_key", "secret_key_old"})


@dataclass(frozen=True, slots=True)
class Settings:
    database_url: str
    data_dir: Path
    chromium: str | None = None
    browser_endpoint: str | None = None
    lease: timedelta = timedelta(seconds=30)  # a job whose worker is silent for so long is taken up by another
    anthropic_api_key: str | None = field(default=None, repr=False)
    anthropic_base_url: str | None = None
    openai_api_key: str | None = field(default=None, repr=False)
    openai_base_url: str | None = None
    gemini_api_key: str | None = field(default=None, repr=False)
    gemini_base_url: str | None = None
    claude_command: str | None = None
    model_provider: ProviderName | None = None
    model: str | None = None
    prices_file: Path | None = None
    # What models may cost in a day, all projects together.
    most_usd_a_day: float | None = None
    most_tokens_a_day: int | None = None
    plugins: tuple[str, ...] = ()  # modules with hooks, beside those of installed packages; see gardener/hooks.py
    by: str = "somebody"
    host: str = "127.0.0.1"
    port: int = 8420  # 0: any that is free
    public_url: str | None = None  # where a reverse proxy shows the pages; None: they are asked for directly
    secret_key: str | None = field(default=None, repr=False)  # see gardener/sealing.py
    secret_key_old: str | None = field(default=None, repr=False)  # can still unseal
    # The environment as it was at the start: where the tests' secrets come from. Never printed.
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)


def read_settings(environ: Mapping[str, str], folder: Path, **given: str | None) -> Settings:
    """Command line before variables before gardener.toml before defaults. Raises BadSetting naming every mistake."""
    mistakes: list[str] = []
    values: dict[str, Any] = dict(_from_file(folder / FILE, mistakes))
    for key in KEYS:
        if environ.get(PREFIX + key.upper()):
            values[key] = environ[PREFIX + key.upper()]
    values |= {key: value for key, value in given.items() if value is not None}
    for key, value in list(values.items()):
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            mistakes.append(f"'{key}' is {KEYS[key]}" + ("" if key in SECRET else f", got {value!r}"))
            del values[key]
    secret_key = str(values.get("secret_key") or "") or None
    if secret_key is not None and len(secret_key) < 16:
        mistakes.append(f"'secret_key' is {KEYS['secret_key']}")
    lease = _lease(values.pop("lease_seconds", None), mistakes)
    port = _port(values.pop("port", None), mistakes)
    public_url = _public_url(values.pop("public_url", None), mistakes)
    provider = values.get("model_provider") or None
    if provider is not None and provider not in PROVIDERS:
        mistakes.append(f"'model_provider' is {KEYS['model_provider']}, got '{provider}'")
    usd = _amount("most_usd_a_day", values, mistakes)
    tokens = _amount("most_tokens_a_day", values, mistakes)
    own_prices = Path(str(values["prices_file"])).expanduser() if values.get("prices_file") else None
    try:
        if own_prices is not None:
            known_prices(own_prices)
    except BadSetting as error:
        mistakes.append(f"prices_file: {error}")
    plugins = tuple(one.strip() for one in str(values.get("plugins") or "").split(",") if one.strip())
    if not all(part.isidentifier() for one in plugins for part in one.split(".")):
        mistakes.append(f"'plugins' are {KEYS['plugins']}, got {str(values['plugins'])[:200]!r}")
    if mistakes:
        raise BadSetting("; ".join(mistakes))
    data_dir = Path(str(values.get("data_dir") or default_data_dir(environ))).expanduser().absolute()
    return Settings(
        database_url=str(values.get("database_url") or f"sqlite:///{data_dir / 'gardener.db'}"),
        data_dir=data_dir,
        chromium=values.get("chromium"),
        browser_endpoint=values.get("browser_endpoint"),
        lease=lease,
        anthropic_api_key=values.get("anthropic_api_key") or environ.get("ANTHROPIC_API_KEY") or None,
        anthropic_base_url=values.get("anthropic_base_url") or environ.get("ANTHROPIC_BASE_URL") or None,
        openai_api_key=values.get("openai_api_key") or environ.get("OPENAI_API_KEY") or None,
        openai_base_url=values.get("openai_base_url") or environ.get("OPENAI_BASE_URL") or None,
        gemini_api_key=values.get("gemini_api_key") or environ.get("GEMINI_API_KEY") or None,
        gemini_base_url=values.get("gemini_base_url") or None,
        claude_command=values.get("claude_command") or None,
        model_provider=provider,
        model=values.get("model"),
        prices_file=own_prices,
        most_usd_a_day=usd,
        most_tokens_a_day=int(tokens) if tokens is not None else None,
        plugins=plugins,
        by=str(values.get("by") or login_name()),
        host=str(values.get("host") or "127.0.0.1"),
        port=port,
        public_url=public_url,
        secret_key=secret_key,
        secret_key_old=str(values.get("secret_key_old") or "") or None,
        environ=dict(environ),
    )


def default_data_dir(environ: Mapping[str, str]) -> Path:
    """The user's data folder, as the XDG base directory specification has it."""
    home = environ.get("XDG_DATA_HOME") or Path(environ.get("HOME") or Path.home()) / ".local" / "share"
    return Path(home) / "drift-gardener"


def login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def _from_file(path: Path, mistakes: list[str]) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        mistakes.append(f"{path.name}: {error}")
        return {}
    unknown = [key for key in raw if key not in KEYS]
    mistakes += [f"{path.name}: '{key}' is not a setting; known are {', '.join(KEYS)}" for key in unknown]
    return {key: value for key, value in raw.items() if key in KEYS}


def _lease(value: Any, mistakes: list[str]) -> timedelta:
    if value is None:
        return timedelta(seconds=30)
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0
    if not 1 <= seconds <= 3600:
        mistakes.append(f"'lease_seconds' is {KEYS['lease_seconds']}, got {value!r}")
        return timedelta(seconds=30)
    return timedelta(seconds=seconds)


def _port(value: Any, mistakes: list[str]) -> int:
    if value is None:
        return 8420
    if not str(value).isdecimal() or int(value) > 65535:
        mistakes.append(f"'port' is {KEYS['port']}, got {value!r}")
        return 8420
    return int(value)


def _public_url(value: Any, mistakes: list[str]) -> str | None:
    if value is None:
        return None
    parts = urlsplit(str(value))
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
        mistakes.append(f"'public_url' is {KEYS['public_url']}, got {str(value)[:200]!r}")
        return None
    return f"{parts.scheme}://{parts.netloc}"


def _amount(key: str, values: Mapping[str, Any], mistakes: list[str]) -> float | None:
    raw = values.get(key)
    if raw is None or raw == "":
        return None
    try:
        amount = float(raw)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < 1e12:
        mistakes.append(f"'{key}' is {KEYS[key]}, got {raw!r}")
        return None
    return amount
