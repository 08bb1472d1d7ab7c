"""Apprise: what a URL means, and one message to one place. Nothing that it says or logs leaves here unread.

A URL is a secret as a whole: it may hold a token anywhere. So errors are our own sentences, made of what is recognised
in the library's log, and that log goes nowhere else.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

from gardener.errors import BadSetting
from gardener.notices import Notice, Weight

if TYPE_CHECKING:
    from apprise import NotifyBase

# Services whose URL has a host where others have a token; only there a host is shown.
WITH_HOST: Final = frozenset(
    "json jsons xml xmls form forms mailto mailtos gotify gotifys mmost mmosts rocket rockets ncloud nclouds "
    "nctalk nctalks apprise apprises mqtt mqtts xmpp xmpps".split()
)
LONGEST_URL: Final = 4000
# Messages to one place that are still under way although their time is over; a thread cannot be stopped.
MOST_HANGING: Final = 3


@dataclass(frozen=True, slots=True)
class Place:
    """What people may see of a URL."""

    shown: str  # "json://127.0.0.1:8080/…", "slack://…"
    service: str  # "JSON", "Slack"


@dataclass(frozen=True, slots=True)
class Sent:
    """The other side took it."""


@dataclass(frozen=True, slots=True)
class Failed:
    """It did not arrive."""

    why: str


@dataclass(frozen=True, slots=True)
class Unsure:
    """It may have arrived: the connection or the time was over before an answer came."""

    why: str


Outcome: TypeAlias = Sent | Failed | Unsure


def read_url(url: str) -> Place:
    """Raises BadSetting, which never repeats the URL."""
    url = url.strip()
    if not url or len(url) > LONGEST_URL or not url.isprintable() or " " in url:
        raise BadSetting("a target is one URL without spaces, such as mailto://…, slack://… or json://HOST:PORT/PATH")
    service = _service(url)
    if service is None:
        raise BadSetting(
            "no service is known for this URL, or a part of it is missing; the forms of each service are listed in the "
            "documentation of Apprise"
        )
    if len(service) > 1:
        # One that fails would be tried again, and the others would get the message again with it.
        raise BadSetting("this URL names several recipients: add a target for each")
    return Place(_shown(url, service), str(service.service_name))


def _shown(url: str, service: NotifyBase) -> str:
    schema = url.partition("://")[0].lower()
    if schema in WITH_HOST:
        with suppress(ValueError):
            parts = urlsplit(url)
            if parts.hostname:
                return f"{schema}://{parts.hostname}{f':{parts.port}' if parts.port else ''}/…"
    names = (*_names(service.secure_protocol), *_names(service.protocol))
    return f"{schema if schema in names else names[0]}://…"


def _names(protocol: Any) -> tuple[str, ...]:
    if isinstance(protocol, str):
        return (protocol,)
    return tuple(protocol or ())


async def send(url: str, notice: Notice, *, key: object, patience: timedelta) -> Outcome:
    """Send it once, with an end to waiting whatever the other side does. `key` names the place, whatever its URL."""
    hanging = [thread for thread in _hanging.get(key, ()) if thread.is_alive()]
    _hanging[key] = hanging
    if len(hanging) >= MOST_HANGING:
        return Failed(f"{len(hanging)} earlier messages to it are still under way and get no answer")
    await asyncio.to_thread(_load)  # which is not the other side's time
    wait_s = patience.total_seconds()
    thread, answer = _in_thread(lambda: _send(url, notice, wait_s))
    try:
        async with asyncio.timeout(wait_s):
            return await answer
    except TimeoutError:
        hanging.append(thread)
        return Unsure(f"no answer within {wait_s:g} seconds")
    except asyncio.CancelledError:
        hanging.append(thread)
        raise


_hanging: dict[object, list[threading.Thread]] = {}


def _in_thread(work: Callable[[], Outcome]) -> tuple[threading.Thread, asyncio.Future[Outcome]]:
    """A thread of its own that no end of the program waits for, unlike one of an executor."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Outcome] = loop.create_future()

    def tell(outcome: Outcome) -> None:
        if not answer.done():
            answer.set_result(outcome)

    def run() -> None:
        outcome = work()
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(tell, outcome)

    thread = threading.Thread(target=run, name="gardener-notify", daemon=True)
    thread.start()
    return thread, answer


def _send(url: str, notice: Notice, wait_s: float) -> Outcome:
    from apprise import NotifyFormat, NotifyType

    weights = {
        Weight.INFO: NotifyType.INFO,
        Weight.SUCCESS: NotifyType.SUCCESS,
        Weight.WARNING: NotifyType.WARNING,
    }
    with _listening() as heard:
        try:
            service = _service(url)
            if service is None:
                return Failed("its URL is not understood any more: remove the target and add it again")
            service.socket_connect_timeout = wait_s / 4
            service.socket_read_timeout = wait_s / 2
            took = service.notify(
                title=notice.subject,
                body="\n".join(notice.lines),
                notify_type=weights[notice.weight],
                body_format=NotifyFormat.TEXT,
            )
        except Exception as error:  # a service's own code; what it says may hold the URL
            return Unsure(f"the client of this service broke off with a {type(error).__name__}")
        return Sent() if took else _why_not("\n".join(heard))


def _service(url: str) -> NotifyBase | None:
    """With what a URL may ask for beside its place taken out: our outbox alone decides what is sent again."""
    _load()
    from apprise import Apprise, AppriseAsset, OverflowMode

    with _listening():
        made = Apprise.instantiate(url, asset=AppriseAsset(app_id="Drift Gardener", storage_mode="memory"))
    if made is None or not hasattr(made, "notify"):
        return None
    made.retry, made.wait, made.optional = 0, 0.0, False
    made.overflow_mode = OverflowMode.TRUNCATE
    return made


# --- what the library says -------------------------------------------------------------------------------

STATUS: Final = re.compile(r"\berror ?[=:] ?(\d{3})\b")
NEVER_SENT: Final = re.compile(
    r"NewConnectionError|ConnectTimeout|Connection refused|Name or service not known|NameResolution|getaddrinfo|"
    r"Temporary failure in name resolution|No route to host|Network is unreachable|CERTIFICATE_VERIFY_FAILED|SSLError"
)
NO_ANSWER: Final = re.compile(
    r"[Tt]imed? ?out|RemoteDisconnected|Connection aborted|Connection reset|Broken pipe|IncompleteRead|without response"
)
BAD_NAME: Final = re.compile(r"Name or service|NameResolution|getaddrinfo|name resolution")


def _why_not(log: str) -> Failed | Unsure:
    if found := STATUS.search(log):
        # A proxy that gave up waiting does not know either.
        said = f"it answered with {found[1]}"
        return Unsure(said) if found[1] in ("408", "504") else Failed(said)
    if NEVER_SENT.search(log):
        if "SSL" in log or "CERTIFICATE" in log:
            return Failed("its certificate is not valid")
        return Failed("its host name is not known" if BAD_NAME.search(log) else "no connection could be made")
    if NO_ANSWER.search(log):
        return Unsure("the connection ended before an answer came")
    return Failed("it was not taken; the service gave no reason that is known")


class _Ear(logging.Filter):
    """Keeps what each thread logs while that thread listens, and lets nothing of it through to any handler."""

    def __init__(self) -> None:
        super().__init__()
        self.of_thread = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        heard: list[str] | None = getattr(self.of_thread, "heard", None)
        if heard is not None and len(heard) < 100:
            with suppress(Exception):  # a log line that cannot be formatted is no reason to fail
                heard.append(record.getMessage()[:2000])
        return False


_ear: Final = _Ear()


_loading: Final = threading.Lock()
_is_loaded: Final[list[bool]] = []


def _load() -> None:
    """The library with all its services, which takes a second or two, once.

    Its log may hold tokens: it comes here and goes no further.
    """
    logger = logging.getLogger("apprise")
    with _loading:
        if _is_loaded:
            return
        for name in ("urllib3", "requests_oauthlib", "oauthlib", "paho"):  # they log addresses when asked for more
            logging.getLogger(name).setLevel(logging.CRITICAL)
        logger.setLevel(logging.DEBUG)
        logger.addFilter(_ear)
        with warnings.catch_warnings():  # some of its services use what Python will not have for ever
            warnings.simplefilter("ignore")
            from apprise import Apprise

            Apprise.instantiate("json://127.0.0.1/")
        _is_loaded.append(True)


@contextmanager
def _listening() -> Iterator[list[str]]:
    before = getattr(_ear.of_thread, "heard", None)
    heard: list[str] = [] if before is None else before
    _ear.of_thread.heard = heard
    try:
        yield heard
    finally:
        _ear.of_thread.heard = before
