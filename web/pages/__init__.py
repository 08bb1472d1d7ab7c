"""The pages, one module each: parse, call one action or read, hand the answer to a presenter, name a template."""

from typing import Final

from litestar.handlers import HTTPRouteHandler

from web.pages import issues, jobs, news, people, projects, queue, radar, repairs, runs, signing_in, static, tests

HANDLERS: Final[list[HTTPRouteHandler]] = [
    handler
    for module in (static, signing_in, projects, radar, queue, tests, runs, repairs, issues, news, jobs, people)
    for handler in module.HANDLERS
]
