"""Boards and site from the score cards of a queue: only what changed is made anew."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.json import decode, encode
from msgspec.structs import replace

from sandscore import __version__
from sandscore.attestation.log_lines import HandedIn, Opening
from sandscore.base.errors import OrganiserFault, ParticipantFault, UsageFault
from sandscore.base.whole_files import write_file, write_synced
from sandscore.challenges.challenge_reading import rules_for
from sandscore.challenges.ladder import LadderState
from sandscore.disclosure.board_release import release_board
from sandscore.disclosure.card_view import card_content
from sandscore.disclosure.gate import release
from sandscore.disclosure.keyed_names import keyed_gold, with_keyed_gold
from sandscore.disclosure.outcome_views import ScoreItem, ladder_after
from sandscore.disclosure.released import pack
from sandscore.queue.children.child_messages import BoardsAnswer, ScoredSubmission
from sandscore.queue.public_log import PublicLog
from sandscore.queue.queue_layout import LOG, OWNER_FILE, OWNER_FOLDER, public_path
from sandscore.queue.shared_data import policy_in
from sandscore.queue.workspace import SCRATCH, Workspace, read_salt
from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import RankedCard, read_card, refuse_incomparable
from sandscore.records.board import Board
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.record_reading import read_record
from sandscore.records.released_view import Audience, LedgerLine, PackedView, Released, lines_of
from sandscore.records.scorecard import Scorecard
from sandscore.site.board_files import references
from sandscore.site.publication import PublicationSettings, publish
from sandscore.site.site_folder import file_name, write_page, writing

WITHDRAWN = "withdrawn"
"""The folder in the private half for boards and cards that were public once and may not be any more."""

Positions = Mapping[str, int]
"""Where the log's lines stand, by submission."""


class BoardGroup(Struct, frozen=True):
    """The submissions that one board is made of."""

    task: str
    phase: str | None
    rules: BoardRules
    members: Sequence[ScoredSubmission]

    @property
    def slug(self) -> str:
        return slug_of(self.task, self.phase)


def slug_of(task: str, phase: str | None) -> str:
    """The name of a board's files."""
    return file_name("-".join(part for part in (task, phase) if part))


def rebuild(
    workspace: Workspace, submissions: Sequence[ScoredSubmission], accepted: Sequence[HandedIn]
) -> BoardsAnswer:
    """The log of all that was accepted, boards whose cards changed, then the site. Says what teams may now be told,
    and what went wrong. A board's line is in the log before the board is shown."""
    feedback: dict[str, PackedView] = {}
    warnings: list[str] = []
    log = PublicLog(workspace)
    log.begin()
    positions = log.follow(accepted)
    known = dict[str, RankedCard]()
    for group in groups(workspace, submissions, warnings):
        try:
            feedback |= waiting_views(workspace, group)
            known |= _board(workspace, group, log, positions)
        except ParticipantFault as fault:
            warnings.append(f"the board of {group.slug} stays as it was: {fault}; {_way_out(workspace)}")
        except OrganiserFault as fault:
            warnings.append(_stays(group.slug, fault))
    log.publish(dict.fromkeys(_openings(log, workspace, submissions, accepted)))
    _withdraw(workspace)
    boards = list(versions(workspace))
    if boards:
        _publish(workspace, boards, known)
    lines = tuple(pending_lines(workspace))
    return BoardsAnswer(tuple(str(board) for board in boards), feedback, tuple(warnings), lines)


def _way_out(workspace: Workspace) -> str:
    root = workspace.root
    return (
        f"its cards are brought up to date by sandscore queue upgrade {root} --apply, or queue rescore where gold "
        "alone has changed (--plan says who would move); what cannot be scored any more, by sandscore queue requeue "
        f"{root} ID"
    )


def _stays(slug: str, fault: OrganiserFault) -> str:
    return f"the board of {slug} stays as it was: {fault}; sandscore queue check says more"


def groups(
    workspace: Workspace, submissions: Sequence[ScoredSubmission], warnings: list[str] | None = None
) -> Iterator[BoardGroup]:
    """One for each task and phase that has been scored and has rules; ``warnings`` is told of those that have none."""
    keys = dict.fromkeys((one.task, one.phase) for one in submissions)
    for task, phase in sorted(keys, key=lambda key: (key[0], key[1] or "")):
        members = [one for one in submissions if (one.task, one.phase) == (task, phase)]
        try:
            rules, _ = rules_for(workspace.challenge, task, phase)
        except (OrganiserFault, UsageFault) as fault:
            if warnings is not None:
                warnings.append(_stays(slug_of(task, phase), OrganiserFault(str(fault))))
            continue
        yield BoardGroup(task, phase, rules, members)


def waiting_views(workspace: Workspace, group: BoardGroup) -> dict[str, PackedView]:
    """What teams are told that wait: for the Ladder, from all of a team's submissions in the order they came."""
    told: dict[str, PackedView] = {}
    policy = policy_in(workspace, group.task, group.phase)
    climbs = policy.feedback == "ladder" and not policy.ended
    waiting = {one.team for one in group.members if one.waiting}
    for team in sorted(waiting):
        state: LadderState | None = None
        mine = [one for one in group.members if one.team == team]
        for one in sorted(mine, key=lambda one: (one.created, one.id)):
            card = read_card(Path(one.card))
            state = ladder_after(card, group.rules, state) if climbs else None
            if one.waiting:
                item = ScoreItem(card=card, rules=group.rules, ladder=state, team=one.team, submission=one.id)
                told[one.id] = pack(release(item, Audience.TEAM, policy))
    return told


def versions(workspace: Workspace) -> Iterator[Path]:
    """Every board, older versions of the same first."""
    for current in sorted(workspace.boards.glob("*.json")):
        if ".v" in current.stem:
            continue
        older = workspace.boards.glob(f"{current.stem}.v*.json")
        yield from sorted(older, key=lambda path: int(path.stem.rpartition(".v")[2]))
        yield current


def shown(group: BoardGroup, most: int) -> list[ScoredSubmission]:
    """All of them, or each team's best where they are too many to be compared with one another."""
    if len(group.members) <= most:
        return list(group.members)
    best: dict[str, ScoredSubmission] = {}
    for one in sorted(group.members, key=lambda one: (-(one.score or 0.0), one.created, one.id)):
        best.setdefault(one.team, one)
    return list(best.values())[:most]


def _publish(workspace: Workspace, boards: Sequence[Path], known: Mapping[str, RankedCard]) -> None:
    """The site is all ours: where it does not know itself any more (its writer was killed), it is made anew."""
    log = os.path.relpath(public_path(workspace.root, LOG), workspace.site)
    settings = PublicationSettings(workspace.challenge, log=Path(log).as_posix(), known=known)
    try:
        publish(boards, workspace.site, settings)
    except UsageFault:
        if not workspace.site.exists():
            raise
        workspace.site.rename(workspace.private / f"{SCRATCH}site-{secrets.token_hex(4)}")
        publish(boards, workspace.site, settings)


def _openings(
    log: PublicLog, workspace: Workspace, submissions: Sequence[ScoredSubmission], accepted: Sequence[HandedIn]
) -> Iterator[Opening]:
    """Of what was scored, where exact values may leave the house; and of data whose gold will not be used again."""
    by_id = {one.submission: one for one in accepted}
    for group in groups(workspace, submissions):
        policy = policy_in(workspace, group.task, group.phase)
        if policy.exact:
            yield from log.submission_openings(by_id[one.id] for one in group.members if one.id in by_id)
        if not policy.gold_hidden:
            yield from log.data_openings(group.task, group.phase, notes=policy.notes_public)


def _log_board(workspace: Workspace, group: BoardGroup, board: Board, log: PublicLog, positions: Positions) -> None:
    """Its gold, where that has changed, and the board itself."""
    known, salt = log.gold_known(group.task, group.phase), read_salt(workspace.salt)
    for shown in board.gold.values():
        if known not in (shown, keyed_gold(str(shown), salt)):
            for copy in sorted(workspace.gold_seen.glob(f"{group.task}.*.json")):
                if shown in ((digest := copy.name.split(".")[1]), keyed_gold(digest, salt)):
                    log.scored_with(group.task, group.phase, hashlib.sha256(copy.read_bytes()).hexdigest())
    scored = [positions[one.id] for one in group.members if one.id in positions]
    log.board(group.task, group.phase, json.loads(as_json(board)), scored)


def _board(workspace: Workspace, group: BoardGroup, log: PublicLog, positions: Positions) -> dict[str, RankedCard]:
    """Ranked from the organiser's exact cards; what everybody may have of board and cards is written. Its cards as
    they were released, by the SHA-256 of their bytes: none where the board stays."""
    members = shown(group, workspace.settings.board_rows)
    policy = policy_in(workspace, group.task, group.phase)
    stamp = _stamp(workspace, members, policy)
    place, stamped = workspace.boards / f"{group.slug}.json", _stamp_file(workspace, group)
    if place.exists() and stamped.exists() and stamped.read_text(encoding="ascii") == stamp:
        return {}
    workspace.boards.mkdir(parents=True, exist_ok=True)
    salt = read_salt(workspace.salt)
    board, entries = exact_board(workspace, group, log)
    names = {entry.sha256: name for name, entry in entries.items()}
    made = release_board(
        board,
        [*entries.values()],
        policy,
        place=lambda entry: _listed(workspace, names[entry.sha256]),
        salt=salt,
        columns=workspace.challenge.publication.columns,
    )
    _log_board(workspace, group, made.board.view, log, positions)
    log.publish()
    _note_lines(workspace, policy, [made.board, *(card.released for card in made.cards.values())])
    known: dict[str, RankedCard] = {}
    for card in made.cards.values():
        if (view := card.released.view) is not None:
            content = card_content(view)
            workspace.cards.mkdir(parents=True, exist_ok=True)
            write_page(workspace.cards / names[card.entry.sha256], content)
            if isinstance(view, Scorecard):
                sha256 = hashlib.sha256(content).hexdigest()
                known[sha256] = replace(card.entry, card=view, sha256=sha256)
    _keep_older(place, made.board.view)
    write_page(place, as_json(made.board.view).encode())
    stamped = _stamp_file(workspace, group)  # the folder may have been moved since
    with writing(stamped):
        write_file(stamped, stamp.encode(), mode=OWNER_FILE)
    return known


def exact_board(workspace: Workspace, group: BoardGroup, log: PublicLog) -> tuple[Board, dict[str, RankedCard]]:
    """Ranked from the organiser's own cards, which are named as they are published.

    Their gold is named by a keyed hash; by its own only where everybody may have it, and the seed follows from names
    alone, as it did in the first release.
    """
    members, salt = shown(group, workspace.settings.board_rows), read_salt(workspace.salt)
    by_names = group.rules.seed_rule == "names"
    open_gold = by_names and not policy_in(workspace, group.task, group.phase).gold_hidden
    read = read_card if open_gold else partial(_exact, salt=salt)
    entries = {f"{one.id}.v{one.version}.json": read(Path(one.card)) for one in members}
    refuse_incomparable([*entries.values()])
    root = None if by_names else log.opening_root(group.phase)
    return rank([*entries.values()], group.rules, group.phase, log_root=root), entries


def _stamp_file(workspace: Workspace, group: BoardGroup) -> Path:
    """What a board was made from, as it lies now."""
    return workspace.private / f".{group.slug}.stamp"


def _note_lines(workspace: Workspace, policy: DisclosurePolicy, released: Sequence[Released[object]]) -> None:
    """Lines about what everybody is about to see, on disk before anybody does. Public gold and notes tell nothing."""
    lines = pending_lines(workspace)
    for line in lines_of(released):
        bits = line.bits if policy.gold_hidden or not policy.notes_public else 0.0
        mark = f"{line.submission or ''}.{line.mark}"
        lines.append(replace(line, bits=bits, mark=mark, team=None, submission=None))
    write_synced(workspace.pending, encode(lines))


def pending_lines(workspace: Workspace) -> list[LedgerLine]:
    """Lines that the ledger may not hold yet: they are added to it, each once, and then forgotten."""
    try:
        return decode(workspace.pending.read_bytes(), type=list[LedgerLine])
    except FileNotFoundError:
        return []


def _exact(path: Path, salt: bytes) -> RankedCard:
    """The organiser's own card, its gold named as others may know it."""
    entry = read_card(path)
    return replace(entry, card=with_keyed_gold(entry.card, salt))


def _listed(workspace: Workspace, card: str) -> str:
    return Path(os.path.relpath(workspace.cards / card, workspace.boards)).as_posix()


def _withdraw(workspace: Workspace) -> None:
    """Boards of older versions are for the organiser alone where they say nothing of a policy that keeps anything back,
    or name hidden gold by its own hash, at which one could guess; and so is every card that no board names."""
    withdrawn = workspace.private / WITHDRAWN
    named = set[str]()
    for place in list(versions(workspace)):
        board = read_record(Board, place.read_bytes(), place, "a board", ParticipantFault)
        if _bare_gold(workspace, board) or (board.policy is None and not _all_exact(workspace, board)):
            _take(place, withdrawn)
            continue
        named |= {reference.path.rpartition("/")[2] for row in board.rows for reference in references(row).values()}
    for card in workspace.cards.glob("*.json"):
        if card.name not in named:
            _take(card, withdrawn)


def _bare_gold(workspace: Workspace, board: Board) -> bool:
    """Whether the board names hidden gold that was scored with by the hash of its file."""
    seen = {copy.name.split(".")[1] for copy in workspace.gold_seen.glob(f"{board.task}.*.json")}
    if seen.isdisjoint(filter(None, board.gold.values())):
        return False
    try:
        return policy_in(workspace, board.task, board.phase).gold_hidden
    except (OrganiserFault, UsageFault):
        return True


def _all_exact(workspace: Workspace, board: Board) -> bool:
    """Whether everybody may have all of it; not where the rules do not hold together."""
    try:
        policy = policy_in(workspace, board.task, board.phase)
    except (OrganiserFault, UsageFault):
        return False
    return policy.cards == "notes" and policy.exact


def _take(path: Path, folder: Path) -> None:
    folder.mkdir(mode=OWNER_FOLDER, exist_ok=True)
    path.replace(folder / path.name)
    (folder / path.name).chmod(OWNER_FILE)


def _keep_older(place: Path, board: Board) -> None:
    """A board made with other gold or another harness stays, for the history."""
    if not place.exists():
        return
    before = json.loads(place.read_bytes())
    if (before["gold"], before["sandscore"]) == (board.gold, board.sandscore):
        return
    number = 1 + len(list(place.parent.glob(f"{place.stem}.v*.json")))
    place.replace(place.with_name(f"{place.stem}.v{number}.json"))


def _stamp(workspace: Workspace, members: Sequence[ScoredSubmission], policy: DisclosurePolicy) -> str:
    """What the board depends on."""
    names = sorted(f"{one.id}.v{one.version}" for one in members)
    rules = workspace.challenge_file.read_bytes()
    return hashlib.sha256("\n".join([__version__, repr(policy), *names]).encode() + b"\n" + rules).hexdigest()
