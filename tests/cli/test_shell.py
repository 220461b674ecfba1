"""The shell: completion as bash itself does it, near misses, and a terminal that shows no colours."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cli.running import sandscore
from click.shell_completion import BashComplete, get_completion_class

from sandscore.cli.completion import prepare, suggesting
from sandscore.cli.main import SHELLS, VERBS, cli
from sandscore.measures import GENERAL_NAMES
from sandscore.measures.measure_registry import MEASURES, is_general
from sandscore.profiles.profile_registry import CHALLENGE, PROFILES
from sandscore.task_table.task import TASKS

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 30.0


class Bash:
    """An interactive bash on a terminal of its own, whose user has installed completion."""

    def __init__(self, home: Path) -> None:
        (home / "bin").mkdir()
        (home / "bin" / "sandscore").write_text(
            f"#!{sys.executable}\nfrom sandscore.cli.main import main\nmain()\n", encoding="utf-8"
        )
        (home / "bin" / "sandscore").chmod(0o755)
        (home / "inputrc").write_text(
            "set enable-bracketed-paste off\nset show-all-if-ambiguous on\nset completion-query-items 0\n"
            "set page-completions off\nset bell-style none\n",
            encoding="utf-8",
        )
        self._env = {
            "HOME": str(home),
            "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "scoring"),
            "INPUTRC": str(home / "inputrc"),
            "TERM": "dumb",
            "PS1": "READY ",
        }
        subprocess.run(["sandscore", "--install-completion", "bash"], env=self._env, check=True, capture_output=True)
        with (home / ".bashrc").open("a", encoding="utf-8") as profile:
            profile.write("PS1='READY '\n")
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            os.chdir(home)
            os.execvpe("bash", ["bash", "-i"], self._env)
        self.reads("READY ")

    def reads(self, wanted: str) -> str:
        """What is shown until the words are there."""
        shown, end = "", time.monotonic() + SECONDS
        while wanted not in shown:
            if not select.select([self._terminal], [], [], max(0.0, end - time.monotonic()))[0]:
                raise AssertionError(f"{wanted!r} was not shown, but {shown!r}")
            shown += os.read(self._terminal, 1 << 16).decode()
        return shown

    def types(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def forgets(self) -> None:
        """The line that was begun."""
        self.types("\x15\n")
        self.reads("READY ")

    def close(self) -> None:
        self.types("\x15exit\n")
        os.close(self._terminal)
        os.waitpid(self._process, 0)


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bash]:
    home = tmp_path_factory.mktemp("home")
    for name in ("gold one.json", "gold two.json"):
        (home / name).touch()
    (home / "deep").mkdir()
    (home / "deep" / "predictions.json").touch()
    opened = Bash(home)
    try:
        yield opened
    finally:
        opened.close()


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        pytest.param("sandscore vali", "sandscore validate ", id="a verb"),
        pytest.param("sandscore queue resc", "sandscore queue rescore ", id="a verb of the queue"),
        pytest.param("sandscore score --pred", "sandscore score --predictions ", id="an option"),
        pytest.param("sandscore score covid", "sandscore score covid-symptom ", id="a task"),
        pytest.param("sandscore score --profile span", "sandscore score --profile span-labels ", id="a profile"),
        pytest.param("sandscore score --profile=span", "sandscore score --profile=span-labels ", id="after ="),
        pytest.param("sandscore score id --measure id", "sandscore score id --measure id_type ", id="a measure"),
        pytest.param("sandscore score id --gold=dee", "sandscore score id --gold=deep/", id="a folder after ="),
        pytest.param("sandscore convert --from conll-bil", "sandscore convert --from conll-biluo ", id="a format"),
        pytest.param("sandscore score date --gold dee", "sandscore score date --gold deep/", id="a folder on the way"),
        pytest.param(
            "sandscore validate date deep/pre", "sandscore validate date deep/predictions.json ", id="a file in one"
        ),
        pytest.param(
            "sandscore score date --gold gold\\ o", "sandscore score date --gold gold\\ one.json ", id="with a space"
        ),
        pytest.param("sandscore queue list dee", "sandscore queue list deep/", id="a queue's folder"),
        pytest.param("sandscore --install-completion f", "sandscore --install-completion fish ", id="a shell"),
    ],
)
def test_bash_completes(bash: Bash, typed: str, completed: str) -> None:
    bash.types(f"{typed}\t")
    bash.reads(completed)
    bash.forgets()


def test_bash_lists_what_there_is(bash: Bash) -> None:
    bash.types("sandscore score \t")
    shown = bash.reads("phi")
    assert all(task in shown for task in TASKS)
    bash.forgets()


def completed(line: str) -> list[tuple[str, str]]:
    """Kind and word of every suggestion for what the line ends with."""
    *words, last = line.split(" ")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("_SANDSCORE_COMPLETE", "bash_complete")
        patch.setenv("COMP_WORDS", line)
        found = BashComplete(cli, {}, "sandscore", "_SANDSCORE_COMPLETE").get_completions(words[1:], last)
    return [(item.type, item.value) for item in found]


US_NAMES = ("asian-pacific", "black", "common", "hispanic", "native", "rare")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sandscore ", list(VERBS)),
        ("sandscore init ", list(TASKS)),
        ("sandscore queue submit q --task ", list(TASKS)),
        ("sandscore score phi --profile ", [CHALLENGE, *PROFILES.names]),
        ("sandscore score phi --measure ", [*TASKS["phi"].measures, *GENERAL_NAMES]),
        ("sandscore score phi --format ", ["text", "json"]),
        ("sandscore convert da", ["date"]),
        ("sandscore perturb n g --swap names:us-", [f"names:us-{kind}" for kind in US_NAMES]),
        ("sandscore perturb n g --dates i", ["iso"]),
    ],
)
def test_words(line: str, expected: list[str]) -> None:
    assert [word for _, word in completed(line)] == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('[tasks.medication]\narray = "textMedicationAnnotations"\n[tasks.date]\ntie_rule = "none"', ["medication"]),
        ("[tasks", []),
        ("tasks = 3", []),
        ("[tasks]\nmedication = 3", []),
    ],
)
def test_tasks_of_a_file_on_the_line(written: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "tasks.toml").write_text(written)
    assert completed(f"sandscore validate --task-file {tmp_path}/tasks.toml med") == [("plain", w) for w in expected]
    assert completed(f"sandscore validate --task-file {tmp_path}/none.toml dat") == [("plain", "date")]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("sandscore validate date ", "file"),
        ("sandscore validate date x --notes ", "file"),
        ("sandscore score date --html ", "file"),
        ("sandscore score date --errors ", "dir"),
        ("sandscore score date --run ", "file"),
        ("sandscore convert gold/", "file"),
        ("sandscore convert --from ours --to brat --annotations ", "file"),
        ("sandscore convert --from ours --to brat -o ", "file"),
        ("sandscore run date --notes ", "file"),
        ("sandscore run date -o ", "dir"),
        ("sandscore rank ", "file"),
        ("sandscore publish -o ", "dir"),
        ("sandscore queue show ", "dir"),
        ("sandscore queue init --data ", "dir"),
        ("sandscore demo -o ", "dir"),
    ],
)
def test_places(line: str, kind: str) -> None:
    assert [found for found, _ in completed(line)] in ([kind], ["file" if kind == "dir" else kind])


def leaves(command: click.Command) -> Iterator[click.Command]:
    if not isinstance(command, click.Group):
        yield command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from leaves(found)


NOBODY_KNOWS = {
    "annotator", "cause", "created", "dask", "dataset", "evaluation", "gpus", "home", "home_options", "image",
    "image_size", "lines", "local", "key", "listen", "mail", "metrics", "name", "other", "person",
    "proxies", "public_url", "revoke", "shard", "who", "why",
    "memory", "notify", "only", "phase", "submission", "synapse", "synapse_options", "team", "types", "typos", "url",
}  # fmt: skip


def test_every_parameter_that_can_be_completed_is() -> None:
    """A new parameter that takes a free word says what can stand there, or is listed as one where nobody knows."""
    for command in leaves(cli):
        for parameter in suggesting(command).params:
            free = parameter.type.name == "text" or isinstance(parameter.type, click.types.FuncParamType)
            assert not free or parameter.name in NOBODY_KNOWS, f"{command.name} {parameter.opts}"


def test_general_measures_are_listed() -> None:
    assert tuple(name for name in MEASURES.names if is_general(name)) == GENERAL_NAMES


def test_completing_imports_nothing_that_computes() -> None:
    for line in ("sandscore ", "sandscore score date --measure ", "sandscore score date --profile n"):
        program = (
            "import sys\nfrom sandscore.cli.main import run\ntry:\n    run([])\nexcept SystemExit:\n    pass\n"
            "print('\\n' + ' '.join(sys.modules))"
        )
        told = {"_SANDSCORE_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        ran = subprocess.run(
            [sys.executable, "-c", program], env=os.environ | told, capture_output=True, text=True, check=True
        )
        assert len(ran.stdout.splitlines()) > 2
        loaded = set(ran.stdout.splitlines()[-1].split())
        assert not loaded & {"numpy", "pandas", "scipy", "docker", "pydantic", "jsonschema", "jinja2", "matplotlib"}


@pytest.mark.parametrize("shell", SHELLS)
def test_installing_twice_is_installing_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "dotfiles").mkdir()
    profile = tmp_path / f".{shell}rc"
    profile.symlink_to("dotfiles/profile")
    (tmp_path / "dotfiles" / "profile").write_text("mine=1", encoding="utf-8")
    written = []
    for _ in range(2):
        assert sandscore("--install-completion", shell).code == 0
        written.append({path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()})
    assert written[0] == written[1]
    assert profile.is_symlink()
    assert profile.read_text(encoding="utf-8").startswith("mine=1")
    scripts = [path for path in written[0] if "dotfiles" not in path.parts and path != profile]
    assert len(scripts) == 1
    assert b"_SANDSCORE_COMPLETE" in written[0][scripts[0]]


INSTALLED = [shell for shell in SHELLS if shutil.which(shell)]
"""Bash always; ``make test`` installs the others."""


@pytest.mark.parametrize("shell", INSTALLED)
def test_the_script_is_one_that_the_shell_understands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(variable, raising=False)
    assert sandscore("--install-completion", shell).code == 0
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    for path in written:
        subprocess.run([shell, "-n", path], check=True)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("--profile=span", ["--profile=span-labels"]),
        ("--gold=de", ["--gold=deep/"]),
        ("--errors=", ["--errors=deep/"]),
        ("--gold=", ["--gold=deep/", "--gold=one.json"]),
        ("--gold", ["--gold"]),
    ],
)
def test_a_word_with_an_equals_sign_is_kept_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str, typed: str, expected: list[str]
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "one.json").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("_SANDSCORE_COMPLETE", f"{shell}_complete")
    prepare()
    kind = get_completion_class(shell)
    assert kind is not None
    found = kind(cli, {}, "sandscore", "_SANDSCORE_COMPLETE").get_completions(["score", "date"], typed)
    assert [item.value for item in found] == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("validte", "No such command 'validte'. Did you mean 'validate'?"),
        ("queue lst", "No such command 'lst'. Did you mean 'list'?"),
        ("score dates --gold x --predictions y", "unknown task 'dates' (did you mean date?)"),
        (
            "score date --gold x --predictions y --profile Presidio",
            "unknown profile 'Presidio' (did you mean presidio?)",
        ),
        ("score date --gold x --predictions y --measure tokn", "unknown measure 'tokn' (did you mean token?)"),
        ("score date --glod x", "--gold"),
        ("convert --from brta --to ours x", "Did you mean 'brat'?"),
        ("score date --gold x --predictions y --format jsno", "Did you mean 'json'?"),
        ("--install-completion bsh", "bash"),
    ],
)
def test_a_near_miss_is_told(words: str, said: str) -> None:
    ran = sandscore(*words.split())
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_what_is_near_to_nothing_has_no_hint() -> None:
    assert "mean" not in sandscore("xyzzy").err


def on_a_terminal(*words: str, columns: int = 80, told: dict[str, str] | None = None) -> str:
    """What a command shows on a terminal of so many columns."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "TERM")}
    running = subprocess.Popen(
        [sys.executable, "-c", "from sandscore.cli.main import main; main()", *words],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=ROOT, env=env | {"TERM": "xterm"} | (told or {}),
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            block = os.read(ours, 1 << 16)
        except OSError:
            break
        if not block:
            break
        shown += block
    running.wait()
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


WRONG = ("validate", "date", "gold/example/address.json")


def test_how_bad_a_problem_is_is_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert ": error: schema: " in sandscore(*WRONG).out
    assert "\x1b[31merror: schema\x1b[0m" in on_a_terminal(*WRONG)


@pytest.mark.parametrize("told", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colours_where_none_are_wanted(told: dict[str, str]) -> None:
    shown = on_a_terminal(*WRONG, told=told)
    assert ": error: schema: " in shown
    assert "\x1b" not in shown


SCORED = ("score", "address", "--notes", "gold/example/notes.json", "--gold", "gold/example/address.json",
          "--predictions", "submissions/address-good/predictions.json")  # fmt: skip
CARDS = tuple(str(path.relative_to(ROOT)) for path in sorted((ROOT / "leaderboard" / "cards").glob("date-*.json")))


@pytest.mark.parametrize("words", [("tasks",), ("convert", "--formats"), SCORED, ("rank", *CARDS)], ids=lambda w: w[0])
def test_tables_fit_a_terminal_of_80_columns(words: tuple[str, ...]) -> None:
    said = on_a_terminal(*words)
    table = (
        said[said.index("rank  places") :].partition("\n\n")[0]
        if words[0] == "rank"
        else said.partition("\nsignature")[0]
    )
    assert all(len(line) <= 80 for line in table.splitlines())
    assert "…" not in table


@pytest.mark.slow
@pytest.mark.parametrize("words", [("tasks",), SCORED], ids=lambda w: w[0])
def test_a_wide_terminal_is_shown_what_a_file_is(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert on_a_terminal(*words, columns=200) == sandscore(*words).out
