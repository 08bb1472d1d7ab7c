"""The commands; the door to the terminal. `--json` prints one JSON document on standard output and nothing else."""

from __future__ import annotations

import os
import sys

import rich_click as click
from click.exceptions import Exit

# Each adds its commands to the root command.
from gardener.cli import news, projects, queue, runs, secrets, serving, tests, users  # noqa: F401
from gardener.cli.terminal import NO, USAGE, cli, say
from gardener.errors import BadSetting, Conflict, GardenerError, NotFound, Refused
from radar.errors import RadarError
from repair_ladder.errors import LadderError

__all__ = ["cli", "main"]


def main() -> None:
    """The entry point: one clear line on standard error instead of a traceback."""
    try:
        cli(standalone_mode=False)
    except Exit as error:
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(130)
    except click.ClickException as error:
        say(error.format_message())
        sys.exit(USAGE)
    except (Refused, Conflict) as error:
        say(str(error))
        sys.exit(NO)
    except (NotFound, BadSetting, LadderError, RadarError) as error:
        say(str(error))
        sys.exit(USAGE)
    except GardenerError as error:
        say(str(error))
        sys.exit(NO)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(NO)
