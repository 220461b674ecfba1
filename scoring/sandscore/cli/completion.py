"""Completion for bash, zsh and fish: the script that a shell reads, and the words that can stand where an option's
type does not say them."""

import os
from collections.abc import Callable, Iterable
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import UsageFault
from sandscore.base.whole_files import told, write_file
from sandscore.cli.verb_group import COMPLETING

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    _AnyType = click.ParamType[str]
else:
    _AnyType = click.ParamType

_FILE, _FOLDER = "file", "dir"
_FILES = {"ARCHIVE", "CARD", "FILE", "KEY", "RECORD", "REPORT", "RUN", "TOML"}
_FOLDERS = {"DIR", "FOLDER", "SITE"}
_PATHS = {"file", "notes"}
_OWN_TASKS = {"--task-file", "--challenge"}

Words = Callable[[click.Context], Iterable[str]]


class Suggested(_AnyType):
    """Whatever was typed, with suggestions of how it goes on."""

    name = "suggested"

    def __init__(self, words: Words, places: str | None = None) -> None:
        self._words, self._places = words, places

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Words that begin so; where no word is meant, files or folders."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(word) for word in self._words(ctx) if word.startswith(incomplete)]
        places = [CompletionItem(incomplete, type=self._places)] if self._places else []
        return found or places


def prepare() -> None:
    """``--option=value`` is one word for zsh and fish and three for bash; click looks for its parts in neither."""
    from click.shell_completion import BashComplete, FishComplete, ZshComplete, add_completion_class

    class BashWords(BashComplete):
        def get_completion_args(self) -> tuple[list[str], str]:
            words, last = super().get_completion_args()
            return [word for word in words if word != "="], last

    class ZshWords(ZshComplete):
        def get_completions(self, args: list[str], incomplete: str) -> "list[CompletionItem]":
            return _whole(super().get_completions(args, incomplete), incomplete)

    class FishWords(FishComplete):
        def get_completions(self, args: list[str], incomplete: str) -> "list[CompletionItem]":
            return _whole(super().get_completions(args, incomplete), incomplete)

    for kind in (BashWords, ZshWords, FishWords):
        add_completion_class(kind)


def _whole(found: "list[CompletionItem]", typed: str) -> "list[CompletionItem]":
    """Suggestions for what follows the equals sign, with what stands before it."""
    from click.shell_completion import CompletionItem

    option, equals, begun = typed.partition("=")
    if not equals or not option.startswith("-"):
        return found
    words = [word for item in found for word in (_paths(begun, item.type) or [item.value])]
    return [CompletionItem(f"{option}={word}") for word in words]


def _paths(begun: str, kind: str) -> list[str]:
    """What there is on disk that begins so; a shell would look for the whole word."""
    from glob import escape, glob

    if kind not in (_FILE, _FOLDER):
        return []
    found = sorted(path + "/" * Path(path).is_dir() for path in glob(f"{escape(begun)}*"))  # noqa: PTH207 (as typed)
    return [path for path in found if kind == _FILE or path.endswith("/")]


def suggesting(command: click.Command) -> click.Command:
    """The command, its parameters knowing what can stand there; for a process that only completes."""
    knowing = copy(command)
    knowing.params = [copy(parameter) for parameter in command.params]
    for parameter in knowing.params:
        if (found := _suggested(parameter)) is not None:
            parameter.type = found
    return knowing


def _suggested(parameter: click.Parameter) -> Suggested | None:
    """None where the type knows it, or where nobody can."""
    if isinstance(parameter.type, click.Choice | click.Path | click.File) or getattr(parameter, "is_flag", False):
        return None
    if (words := _WORDS.get(str(parameter.name))) is not None:
        return Suggested(words)
    written = str(parameter.metavar or "")
    if parameter.name == "words":
        return Suggested(_tasks if "TASK" in written else _nothing, _FILE if "PATH" in written else _FOLDER)
    named = written.rpartition("]")[2] or written.strip("[]")
    if named in _FOLDERS:
        return Suggested(_nothing, _FOLDER)
    if named in _FILES or parameter.name in _PATHS or getattr(parameter.type, "func", None) is Path:
        return Suggested(_nothing, _FILE)
    return None


def _nothing(_context: click.Context) -> Iterable[str]:
    return ()


def _tasks(_context: click.Context) -> Iterable[str]:
    """Ours, and those that a file on the line defines; one that cannot be read defines none."""
    from sandscore.task_table.task import TASKS

    line = os.environ.get("COMP_WORDS", "").split()
    return [*TASKS, *(task for option, word in pairwise(line) if option in _OWN_TASKS for task in _defined(word))]


def _defined(path: str) -> list[str]:
    import tomllib

    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8")).get("tasks", {})
        return [name for name, table in tables.items() if "array" in table]
    except (OSError, ValueError, AttributeError, TypeError):
        return []


def _profiles(_context: click.Context) -> Iterable[str]:
    from sandscore.profiles.profile_registry import CHALLENGE, PROFILES

    return (CHALLENGE, *PROFILES.names)


def _measures(_context: click.Context) -> Iterable[str]:
    """Those of the task, where the line names one."""
    from sandscore.measures import GENERAL_NAMES
    from sandscore.task_table.task import TASKS

    line = os.environ.get("COMP_WORDS", "").split()
    named = [task for task in TASKS.values() if task.id in line] or TASKS.values()
    return dict.fromkeys((*(measure for task in named for measure in task.measures), *GENERAL_NAMES))


def _statuses(_context: click.Context) -> Iterable[str]:
    from sandscore.records.submission import Status

    return map(str, Status)


def _name_sets(_context: click.Context) -> Iterable[str]:
    """Those that come with us; reading one imports more than a shell waits for."""
    folder = Path(__file__).resolve().parents[1] / "perturbation" / "names"
    return sorted(f"names:{file.stem}" for file in folder.glob("*.json"))


def _slice_rules(_context: click.Context) -> Iterable[str]:
    from sandscore.records.slicing_names import SLICE_RULES

    return SLICE_RULES


def _engines(_context: click.Context) -> Iterable[str]:
    from sandscore.containers.engines.engine_registry import ENGINES

    return ENGINES.names


_WORDS: dict[str, Words] = {
    "engine": _engines,
    "slices": _slice_rules,
    "swap": _name_sets,
    "task": _tasks,
    "profile": _profiles,
    "measure": _measures,
    "measures": _measures,
    "statuses": _statuses,
}


def install(context: click.Context, shell: str) -> None:
    """Write the shell's script where the shell finds it, once and again, and say where; then end."""
    if context.resilient_parsing:
        return
    script = _script(shell)
    place, line = _PLACES[shell]()
    with told(place, fault=UsageFault):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, script.encode())
    click.echo(f"{place}: words of sandscore are completed in every new {shell}")
    if line is not None:
        _add_line(*line)
    context.exit()


def _script(shell: str) -> str:
    from click.shell_completion import get_completion_class

    from sandscore.cli.main import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise UsageFault(f"there is no completion for {shell}")
    return kind(cli, {}, "sandscore", COMPLETING).source_template % {
        "complete_func": "_sandscore_completion",
        "complete_var": COMPLETING,
        "prog_name": "sandscore",
    }


def _add_line(profile: Path, line: str) -> None:
    """To what the shell reads when it starts; a file that is a link, as dotfiles may be, stays one."""
    with told(profile, fault=UsageFault):
        profile = profile.resolve()
        before = profile.read_bytes() if profile.exists() else b""
        if line.encode() in before.splitlines():
            return
        gap = b"\n" if before and not before.endswith(b"\n") else b""
        mode = profile.stat().st_mode & 0o777 if before else 0o644
        write_file(profile, before + gap + line.encode() + b"\n", mode=mode)
    click.echo(f"{profile}: a line that reads it")


def _home(variable: str, *otherwise: str) -> Path:
    return Path(os.environ.get(variable) or Path.home().joinpath(*otherwise))


def _quoted(path: Path) -> str:
    import shlex

    return shlex.quote(str(path))


def _bash() -> tuple[Path, tuple[Path, str] | None]:
    place = _home("XDG_DATA_HOME", ".local", "share") / "sandscore" / "completion.bash"
    return place, (Path.home() / ".bashrc", f"[ ! -r {_quoted(place)} ] || . {_quoted(place)}")


def _zsh() -> tuple[Path, tuple[Path, str] | None]:
    place = _home("XDG_DATA_HOME", ".local", "share") / "sandscore" / "completion.zsh"
    ready = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }"
    return place, (_home("ZDOTDIR") / ".zshrc", f"[ ! -r {_quoted(place)} ] || {{ {ready}; . {_quoted(place)}; }}")


def _fish() -> tuple[Path, tuple[Path, str] | None]:
    return _home("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / "sandscore.fish", None


_PLACES: dict[str, Callable[[], tuple[Path, Any]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
