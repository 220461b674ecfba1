"""One start of an annotator and its answers; facts are noted as they become known, whatever happens next."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from msgspec import Struct

from sandscore.containers.answers import Answers
from sandscore.containers.batch_protocol import answers_in, notes_file, wait_for_end
from sandscore.containers.engines.engine_protocol import PREDICTIONS, CannotEnter, Isolation, Mounts
from sandscore.containers.engines.sandbox import Sandbox
from sandscore.containers.kept_answers import RunPace
from sandscore.containers.kernel_limits import limits_in_force
from sandscore.containers.local_process import local_process
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.run_context import Facts, Round, Rounds, Setting, Timing
from sandscore.containers.sent_notes import SentNote
from sandscore.containers.service_protocol import Alive, Clock, Service, annotate_all, read_tool, require_served
from sandscore.containers.transports import Door, url_door
from sandscore.records.run_record import RunFault

Progress = Callable[[RunPace], object]
"""Told how far a run has come, at every answer."""

_Done = TypeVar("_Done")
Answered = list[list[bytes]]
"""For each round, each note's annotations as compact JSON."""


def attempt(setting: Setting, rounds: Rounds, facts: Facts, progress: Progress) -> Answered:
    """The answers to each round of notes, all from one start."""
    clock = Clock(setting.limits.total_seconds)
    match setting.annotator.kind, setting.annotator.protocol:
        case "url", _:
            facts.isolation = "none: a server somebody else runs"
            facts.stage = "start"
            unheard = Started(url_door(setting.annotator.reference), lambda: None, lambda: None)
            return _serve(setting, unheard, clock, facts, rounds, progress)
        case "command", _:
            return _serve_command(setting, rounds, facts, clock, progress)
        case _, "batch":
            return _batch(setting, rounds, facts, clock)
        case _:
            return _serve_image(setting, rounds, facts, clock, progress)


class Started(Struct, frozen=True):
    """A service that was started: the door to it, how it is, and whom to tell before it is handed a note."""

    door: Door
    alive: Alive
    before_notes: Callable[[], None]


def _serve(
    setting: Setting, started: Started, clock: Clock, facts: Facts, rounds: Rounds, progress: Progress
) -> Answered:
    limits = setting.limits
    paths = {
        asked.task.id: Service(started.door, Answers(asked.task, limits), limits, clock, started.alive)
        for asked in rounds
    }
    first, *others = paths.values()
    with first.threads(setting.concurrency) as pool:
        begun = time.monotonic()
        pool.submit(first.wait_ready).result()
        facts.ready_seconds = time.monotonic() - begun
        facts.tool, facts.warnings = pool.submit(read_tool, first).result()
        for service in others:
            require_served(facts.tool, service.answers.task)
        started.before_notes()
        facts.stage = "notes"
        facts.begun = time.monotonic()
        answers = [_asked(one, paths[one.task.id], pool, facts, progress) for one in rounds]
        facts.retried = sum(service.retried for service in paths.values())
    return answers


def _asked(one: Round, service: Service, pool: ThreadPoolExecutor, facts: Facts, progress: Progress) -> list[bytes]:
    """The answers to one round, those of an earlier start among them."""

    def answered(note: SentNote, annotations: bytes) -> None:
        if one.counted:
            if one.kept is not None:
                one.kept.keep(note, annotations, one.task)
            facts.answered += 1
            progress(facts.pace)

    begun, left = time.monotonic(), one.left
    facts.asking = one.task.id
    served = annotate_all(service, pool, left, answered)
    if one.counted:
        facts.timings[one.task.id] = Timing(time.monotonic() - begun, served.latencies)
    new = dict(zip((note.name for note in left), served.annotations, strict=True))
    return [new[note.name] if note.name in new else one.before[note.name] for note in one.notes]


def _serve_command(setting: Setting, rounds: Rounds, facts: Facts, clock: Clock, progress: Progress) -> Answered:
    facts.isolation = "none: a local process with the rights of the user who started it"
    facts.stage = "start"
    with local_process(setting.annotator.reference, setting.limits) as process:
        try:
            begun = Started(process.door, process.alive, process.log.before_notes)
            return _serve(setting, begun, clock, facts, rounds, progress)
        except RunFault:
            time.sleep(0.1)
            process.alive()
            raise
        finally:
            facts.exit_code = process.exit_code
            process.close()
            facts.heard(process.log)


def _serve_image(setting: Setting, rounds: Rounds, facts: Facts, clock: Clock, progress: Progress) -> Answered:
    alone = setting.engine.no_network() if setting.annotator.isolation == "best" else None
    if alone is not None:
        try:
            return _serve_apart(alone, setting, rounds, facts, clock, progress)
        except CannotEnter:
            pass
    with setting.engine.own_network(setting.marks) as isolation:
        return _serve_apart(isolation, setting, rounds, facts, clock, progress)


def _serve_apart(
    isolation: Isolation, setting: Setting, rounds: Rounds, facts: Facts, clock: Clock, progress: Progress
) -> Answered:
    facts.isolation = isolation.description

    def work(box: Sandbox) -> Answered:
        started = Started(isolation.door(box), box.require_well, box.log.before_notes)
        return _serve(setting, started, clock, facts, rounds, progress)

    return _in_sandbox(setting, facts, isolation.network, {}, work)


def _batch(setting: Setting, rounds: Rounds, facts: Facts, clock: Clock) -> Answered:
    """A batch submission answers one set of notes and ends; each round is a start of its own."""
    facts.isolation = "no network"
    answered: Answered = []
    for one in rounds:
        notes = one.notes
        most = setting.limits.output_size(sum(len(note.text) for note in notes))
        with setting.engine.folders(notes_file(notes), most, setting.limits, setting.marks) as both:
            begun = time.monotonic()
            _in_sandbox(setting, facts, "none", both.mounts, lambda box: _read_by(box, facts, clock))
            if one.counted:
                facts.timings[one.task.id] = Timing(time.monotonic() - begun)
            facts.stage = "collect"
            data = both.take(PREDICTIONS, most)
        facts.stage = "validate"
        answered.append(answers_in(data, notes, Answers(one.task, setting.limits)))
    return answered


def _read_by(box: Sandbox, facts: Facts, clock: Clock) -> int:
    facts.stage = "notes"
    return wait_for_end(box, clock)


def _in_sandbox(
    setting: Setting, facts: Facts, network: str, mounts: Mounts, work: Callable[[Sandbox], _Done]
) -> _Done:
    """Work done with a container; its faults explained by how the container fared, its use of things noted."""
    log = LogWatch(setting.limits.log_kept_bytes)
    facts.stage = "start"
    if mounts:  # notes lie in one of them
        log.before_notes()
    try:
        with setting.engine.sandbox(setting.found, setting.limits, setting.marks, network, mounts, log) as box:
            facts.start_seconds = box.start_seconds
            facts.kernel_limits = limits_in_force(box)
            try:
                done = work(box)
                box.require_moderate()
            except RunFault as fault:
                raise box.explain(fault) from None
            finally:
                facts.usage |= box.usage
                facts.exit_code = box.exit_code
        return done
    finally:
        facts.heard(log)
