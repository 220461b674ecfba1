"""A row of the table of homes: what the command line, the doctor and the conformance suite need to know of one.

Rows are listed whenever a verb of the queue explains itself, so a row's module imports nothing but what it is made of;
what does the work is imported by the method that needs it.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sandscore.base.errors import UsageFault
from sandscore.base.registry import TableRow

if TYPE_CHECKING:
    from sandscore.containers.host_checks import Finding
    from sandscore.queue.home_protocol import QueueHome, SubmissionDoor
    from sandscore.queue.new_submission import NewSubmission
    from sandscore.queue.outgoing_messages import OutgoingMessage, SentAgain
    from sandscore.queue.queue_setup import NewQueue, QueueMade
    from sandscore.queue.queue_status import AttemptFacts
    from sandscore.queue.workspace import Workspace

Chosen = Mapping[str, Any]
"""What the command line said: the options of all homes by name, those that were not given None or empty."""


class HomeOption:
    """An option of the command line that belongs to one home."""

    def __init__(
        self,
        flag: str,
        metavar: str,
        description: str,
        kind: Literal["text", "file", "folder", "path", "flag"] = "text",
        *,
        repeatable: bool = False,
        name: str | None = None,
    ) -> None:
        self.flag, self.metavar, self.description = flag, metavar, description
        self.kind, self.repeatable = kind, repeatable
        self.name = name or flag.lstrip("-").replace("-", "_")
        """Under which it is found in ``Chosen``."""


class HomeRow(TableRow):
    """Where queues of one kind live, and how they are made, opened and named.

    A row of somebody else's package is chosen with ``queue init DIR --home NAME``; the folder remembers it. It must
    bring ``init`` and ``open``; everything else may stay as it is here.
    """

    where: ClassVar[str]
    """The place where such a queue lives: "in …", "on …"."""
    making: ClassVar[str]
    """A paragraph for the help of ``queue init``: what is made, and what is in it."""
    naming: ClassVar[str] = ""
    """For the help of all verbs: what they take in place of DIR."""
    place: ClassVar[str] = ""
    """How a command names a queue of this home, where that is not by its DIR alone."""
    new_place: ClassVar[str] = ""
    """How ``queue init`` is told to make one, where that is not by its DIR alone."""
    options: ClassVar[Sequence[HomeOption]] = ()
    """Of every verb that is about a queue which is there already."""
    init_options: ClassVar[Sequence[HomeOption]] = ()
    check_options: ClassVar[Sequence[HomeOption]] = ()
    """Of ``doctor``."""
    registries: ClassVar[Sequence[str]] = ()
    """Where its images are, if the challenge says nothing else; without any only those on the engine are taken."""
    takes_submissions: ClassVar[bool] = True
    """Whether ``submit`` is how submissions get here."""
    is_service: ClassVar[bool] = False
    """Whether the queue is on somebody else's machine, which may be away for a while: workers wait for it."""
    submitting: ClassVar[str] = ""
    """A sentence for the help of ``queue submit``, where they get here otherwise."""
    own_files: ClassVar[Sequence[str]] = ()
    """Files and folders that the home has in the private half of the queue's folder, the one first without which there
    is no queue."""
    edited_files: ClassVar[Sequence[str]] = ()
    """Those of them that organisers edit."""
    backs_up: ClassVar[str] = ""
    """What ``back_up`` copies; empty where that is not possible from here."""

    def folder(self, chosen: Chosen) -> Path | None:
        """The folder that this home's own options name, where they do."""
        return None

    def owns(self, root: Path, chosen: Chosen) -> str | None:
        """What the folder is to this home, in words; None where it is none of its own.

        Options that contradict what the folder says are a usage error.
        """
        return None

    def wants(self, chosen: Chosen) -> bool:
        """Whether these options of ``queue init`` ask for a queue of this home."""
        return False

    def resting(self, root: Path) -> AbstractContextManager[bool]:
        """Whether nobody works with the queue, and nobody begins to as long as this is entered. A home that cannot
        tell keeps the folder as an older version made it."""
        return nullcontext(False)

    def init(self, new: "NewQueue") -> "QueueMade":
        """Make the folder, or mend one whose queue is lost."""
        raise NotImplementedError

    def open(self, workspace: "Workspace", chosen: Chosen) -> "QueueHome":
        """The home of that queue; nothing is asked of it before its own ``open``."""
        raise NotImplementedError

    def makes_boards(self, root: Path) -> bool:
        """Whether workers with this folder make the queue's boards and keep its log: one folder's do, where several
        share a queue."""
        return True

    def submit(self, workspace: "Workspace", handed_in: "NewSubmission") -> str:
        """Take a submission in; its id, once it can be lost no more."""
        raise UsageFault(f"a queue of the home '{self.name}' takes no submissions from here")

    def door(self, workspace: "Workspace") -> "SubmissionDoor":
        """What ``sandscore serve`` needs of a queue that teams hand in to themselves."""
        raise UsageFault(f"to a queue of the home '{self.name}' teams hand in elsewhere: sandscore serve is not for it")

    def back_up(self, workspace: "Workspace", target: Path) -> None:
        """A copy of the queue itself as it stands, while workers go on."""
        raise UsageFault(f"a queue of the home '{self.name}' cannot be backed up from here")

    def history(self, workspace: "Workspace", submission_id: str) -> dict[str, object]:
        """Attempts and versions of a submission, where the home keeps them."""
        return {}

    def attempt_facts(self, workspace: "Workspace") -> "AttemptFacts":
        """What the home knows of attempts that have ended."""
        from sandscore.queue.queue_status import AttemptFacts

        return AttemptFacts()

    def outbox(self, workspace: "Workspace", *, every: bool = False) -> "Sequence[OutgoingMessage]":
        """Messages to teams that have not certainly arrived, oldest first; with ``every`` all there have been."""
        return ()

    def resend(self, workspace: "Workspace", chosen: Chosen, submissions: Sequence[str]) -> "SentAgain":
        """Send again what has not certainly arrived, of these submissions or (none named) of all."""
        raise UsageFault(f"a queue of the home '{self.name}' has no outbox: its notices are sent as they come about")

    def faults(self, workspace: "Workspace") -> list[str]:
        """What is wrong with what the home itself keeps, a sentence each; ``queue check`` asks."""
        return []

    def accept_damage(self, workspace: "Workspace") -> list[str]:
        """Go on without what is damaged beyond repair; what that is and what is missing, a line each."""
        raise UsageFault(f"a queue of the home '{self.name}' keeps nothing here that could be damaged")

    def check(self, chosen: Chosen) -> "list[Finding]":
        """What the doctor says of this home; empty where the options do not ask for it."""
        return []
