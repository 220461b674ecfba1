"""The Synapse home's row: an evaluation queue, and the folder of local state that a worker keeps beside it."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sandscore.base.errors import UsageFault
from sandscore.queue.homes.home_row import Chosen, HomeOption, HomeRow

if TYPE_CHECKING:
    from sandscore.containers.host_checks import Finding
    from sandscore.queue.homes.synapse.synapse_home import SynapseHome
    from sandscore.queue.homes.synapse.synapse_options import SynapseOptions
    from sandscore.queue.new_submission import NewSubmission
    from sandscore.queue.outgoing_messages import OutgoingMessage, SentAgain
    from sandscore.queue.queue_setup import NewQueue, QueueMade
    from sandscore.queue.workspace import Workspace

_OPTIONS = "synapse.json"


class SynapseRow(HomeRow):
    """An evaluation queue on Synapse: submissions are made there, and workers of many machines share it."""

    name: ClassVar[str] = "synapse"
    description: ClassVar[str] = "an evaluation queue on Synapse"
    source: ClassVar[str] = "docs/synapse.md"
    where: ClassVar[str] = "on Synapse"
    making: ClassVar[str] = """\
With --synapse it makes the local state of a worker: synapse.json in place of queue.sqlite. Synapse is asked
whether the queue may be worked on: what is missing is said (78), and what teams will see. The other verbs then
need no more than --state DIR."""
    naming: ClassVar[str] = (
        "for a Synapse evaluation queue they take --state DIR instead, the folder that queue init --synapse "
        "EVALUATION_ID has made"
    )
    place: ClassVar[str] = "the state of a Synapse queue with --state"
    new_place: ClassVar[str] = "a Synapse queue with --synapse and --state"
    registries: ClassVar[tuple[str, ...]] = ("docker.synapse.org", "repo-prod.prod.sagebase.org")
    takes_submissions: ClassVar[bool] = False
    is_service: ClassVar[bool] = True
    own_files: ClassVar[tuple[str, ...]] = (_OPTIONS, "results", "synapse-cache", "outbox", "budget")
    edited_files: ClassVar[tuple[str, ...]] = (_OPTIONS,)
    submitting: ClassVar[str] = "Submissions to a Synapse queue are made on Synapse."
    options: ClassVar[tuple[HomeOption, ...]] = (
        HomeOption("--synapse", "EVALUATION_ID", "A Synapse evaluation queue in place of DIR."),
        HomeOption("--synapse-config", "FILE", "A .synapseConfig, in place of the one in the home directory.", "file"),
        HomeOption(
            "--state",
            "DIR",
            "Local state of a Synapse queue (caches, logs, attempts), made by queue init --synapse.",
            "folder",
        ),
    )
    init_options: ClassVar[tuple[HomeOption, ...]] = (
        HomeOption("--synapse", "EVALUATION_ID", "For a Synapse evaluation queue; with --state in place of DIR."),
        HomeOption("--state", "DIR", "With --synapse: the worker's local state, made here.", "folder"),
        HomeOption(
            "--synapse-config",
            "FILE",
            "With --synapse: a .synapseConfig, in place of the one in the home directory; remembered.",
            "file",
        ),
        HomeOption(
            "--synapse-option",
            "KEY=VALUE",
            "With --synapse: a setting for synapse.json, such as task=date or share_cards=true. Repeatable.",
            repeatable=True,
            name="synapse_options",
        ),
        HomeOption(
            "--write-quota",
            "",
            "With --synapse: write the challenge's quota into the queue's rounds; else workers enforce it.",
            "flag",
        ),
    )
    check_options: ClassVar[tuple[HomeOption, ...]] = (
        HomeOption("--synapse", "EVALUATION_ID", "Also check access to this queue on Synapse."),
        HomeOption("--synapse-config", "FILE", "In place of ~/.synapseConfig.", "path"),
    )

    def folder(self, chosen: Chosen) -> Path | None:
        state, evaluation = chosen.get("state"), chosen.get("synapse")
        if state is None and evaluation is not None:
            made = f"sandscore queue init --synapse {evaluation} --state DIR --challenge FILE"
            raise UsageFault(f"--synapse needs --state DIR, a folder made by: {made}")
        return state

    def owns(self, root: Path, chosen: Chosen) -> str | None:
        evaluation = _evaluation(root, chosen)
        given = next((flag for name, flag in _WITH_SYNAPSE.items() if chosen.get(name)), None)
        if evaluation is None and given:
            raise UsageFault(f"{given} goes with --synapse: {root} does not say which queue")
        return None if evaluation is None else f"the state of the Synapse queue {evaluation}"

    def wants(self, chosen: Chosen) -> bool:
        return chosen.get("synapse") is not None

    def init(self, new: "NewQueue") -> "QueueMade":
        from sandscore.queue.homes.synapse.synapse_setup import found_state, options_of
        from sandscore.queue.layout_move import MOVED, update_layout
        from sandscore.queue.queue_setup import QueueMade

        state = new.chosen["state"]
        root = state or new.folder
        if root is None or (state and new.folder):
            raise UsageFault("--synapse needs --state DIR, and no other folder")
        options = options_of(new.chosen["synapse"], new.chosen["synapse_config"], new.chosen["synapse_options"])
        if update_layout(root, self):
            return QueueMade(root, None, mended=MOVED)
        written = bool(new.chosen.get("write_quota"))
        workspace, said = found_state(root, new.challenge, new.settings, options, write_quota=written)
        return QueueMade(root, workspace, {"synapse": options.evaluation}, said=said)

    def resting(self, root: Path) -> AbstractContextManager[bool]:
        from sandscore.queue.homes.synapse.synapse_session import in_use

        return nullcontext(not in_use(root))

    def open(self, workspace: "Workspace", chosen: Chosen) -> "SynapseHome":
        from sandscore.queue.homes.synapse.synapse_home import SynapseHome

        remembered = _options(workspace.root).config
        config = chosen.get("synapse_config") or (Path(remembered) if remembered else None)
        return SynapseHome(str(_evaluation(workspace.root, chosen)), config, workspace)

    def makes_boards(self, root: Path) -> bool:
        return _options(root).publish

    def submit(self, workspace: "Workspace", handed_in: "NewSubmission") -> str:
        evaluation = _evaluation(workspace.root, {})
        raise UsageFault(f"submissions to the Synapse queue {evaluation} are made on Synapse")

    def back_up(self, workspace: "Workspace", target: Path) -> None:
        raise UsageFault("a Synapse queue is backed up by Synapse")

    def outbox(self, workspace: "Workspace", *, every: bool = False) -> "Sequence[OutgoingMessage]":
        from sandscore.queue.homes.synapse.synapse_outbox import outbox_of

        return outbox_of(workspace.root).listed(every)

    def resend(self, workspace: "Workspace", chosen: Chosen, submissions: Sequence[str]) -> "SentAgain":
        import asyncio

        from sandscore.queue.homes.synapse.synapse_outbox import outbox_of
        from sandscore.queue.outgoing_messages import SentAgain

        found = outbox_of(workspace.root)
        again = found.resend(submissions)
        if again:
            asyncio.run(_deliver(self.open(workspace, chosen)))
        return SentAgain(len(again), found.waiting())

    def check(self, chosen: Chosen) -> "list[Finding]":
        evaluation, config = chosen.get("synapse"), chosen.get("synapse_config")
        if not (evaluation or config):
            return []
        from sandscore.queue.homes.synapse.synapse_access import check_access

        return check_access(config, evaluation)


_DELIVERY_SECONDS = 20.0


async def _deliver(home: "SynapseHome") -> None:
    try:
        await home.open()
        await home.deliver(_DELIVERY_SECONDS)
    finally:
        await home.close()


_WITH_SYNAPSE = {"state": "--state", "synapse_config": "--synapse-config"}


def _options(root: Path) -> "SynapseOptions":
    from sandscore.queue.homes.synapse.synapse_options import read_options

    return read_options(root)


def _evaluation(root: Path, chosen: Chosen) -> str | None:
    """The evaluation queue whose state the folder is; what the command says and what the folder says must agree."""
    from sandscore.queue.queue_layout import edited_path, stands

    known = stands(edited_path(root, _OPTIONS))  # only then is there anything to read
    remembered, given = _options(root).evaluation if known else None, chosen.get("synapse")
    if given is not None and remembered not in (None, given):
        raise UsageFault(f"{root} is the state of the queue {remembered}, not of {given}")
    return given or remembered
