"""``sandscore``: finds the verb, runs it, and turns every error into a sentence and an exit code."""

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

import click

from sandscore import __version__
from sandscore.base.errors import SandscoreError
from sandscore.cli.verb_group import COMPLETING, VerbGroup

SHELLS = ("bash", "zsh", "fish")
VERBS = {
    "tasks": "tasks",
    "init": "init",
    "run": "run",
    "gather": "gather",
    "evaluate": "evaluate",
    "attack": "attack",
    "doctor": "doctor",
    "validate": "validate",
    "score": "score",
    "index": "index",
    "compare": "compare",
    "convert": "convert",
    "perturb": "perturb",
    "rank": "rank",
    "publish": "publish",
    "verify": "verify",
    "witness": "witness",
    "keys": "keys",
    "power": "power",
    "queue": "queue",
    "serve": "serve",
    "submit": "submit",
    "status": "status",
    "demo": "demo",
}
"""Verb on the command line: the module of ``sandscore.cli`` that holds its ``command``."""


def _install_completion(context: click.Context, _option: click.Parameter, shell: str | None) -> None:
    if shell is not None:
        from sandscore.cli.completion import install

        install(context, shell)


@click.group(
    cls=VerbGroup,
    modules={verb: f"sandscore.cli.{module}" for verb, module in VERBS.items()},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="sandscore")
@click.option(
    "--install-completion",
    type=click.Choice(SHELLS),
    is_eager=True,
    expose_value=False,
    callback=_install_completion,
    help="Have this shell complete verbs, options, tasks, measures and files.",
)
def cli() -> None:
    """Run, validate, score and rank annotators of clinical text.

    \b
    Example:
      sandscore demo
      sandscore validate date gold/example/date.json --notes gold/example/notes.json
      sandscore score date --gold gold/example/date.json --predictions submissions/date-good/predictions.json
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: never a traceback for something a user can cause."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # two threads cost twice the CPU, and share it with neighbours
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")  # large pages are emptied whole whenever they are used anew
    _leave_out_plugins()
    code = run(arguments)
    gc.freeze()  # what is left ends with the process; nobody need look through it once more
    sys.exit(code)


def _leave_out_plugins() -> None:
    """Looking for pydantic's reads about every package installed, and importing what would look takes as long as all
    records of ours together."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    if os.environ["PYDANTIC_DISABLE_PLUGINS"] == "1":
        sys.modules[_NoPlugins.NAME] = _NoPlugins(_NoPlugins.NAME)


class _NoPlugins(ModuleType):
    """In the place of the module that looks for them; who asks it for anything else has the module itself."""

    NAME = "pydantic.plugin._loader"

    def __getattr__(self, name: str) -> object:
        if name == "get_plugins":
            return tuple
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop(self.NAME, None)
        found: object = getattr(importlib.import_module(self.NAME), name)
        return found


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    if COMPLETING in os.environ:
        from sandscore.cli.completion import prepare

        prepare()
    try:
        code = cli.main(args=arguments, prog_name="sandscore", standalone_mode=False, color=_colour())
    except click.exceptions.Abort:
        return _say("interrupted", 130)
    except click.ClickException as fault:
        fault.show()
        return fault.exit_code
    except SandscoreError as fault:
        return _say(str(fault), fault.exit_code)
    except KeyboardInterrupt:
        return _say("interrupted", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _say("out of memory", 75)
    except OSError as fault:
        return _say(f"the operating system refused: {fault.strerror or type(fault).__name__}", 75)
    except Exception as fault:
        if os.environ.get("SANDSCORE_DEBUG"):
            raise
        from sandscore.base.removable_rooms import missing_room

        if missing := missing_room(fault):
            return _say(str(missing), missing.exit_code)
        return _say(
            f"a bug of ours ({type(fault).__name__}); SANDSCORE_DEBUG=1 shows where; please report it",
            70,
        )
    return code if isinstance(code, int) else 0


def _colour() -> bool | None:
    """False where none is wanted; else click shows it on terminals alone."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return False if plain else None


def _say(sentence: str, code: int) -> int:
    click.echo(f"sandscore: {sentence}", err=True)
    return code
