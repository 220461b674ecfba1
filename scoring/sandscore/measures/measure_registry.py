"""The measures by name: those of the challenge, the general ones, and an installed package's where one is named."""

from collections.abc import Iterable
from functools import cached_property

from sandscore.base.errors import UsageFault
from sandscore.base.own_rows import OWN_ROWS
from sandscore.base.registry import Registry
from sandscore.measures import GENERAL_NAMES
from sandscore.measures.measure import DocumentMeasure, Measure
from sandscore.measures.measure_syntax import Named, parse
from sandscore.task_table.task import TASKS, Task

GROUP = "sandscore.measures"


class MeasureRegistry(Registry[Measure]):
    """The table of measures, in which every task's label has a row of its own."""

    def __init__(self) -> None:
        super().__init__("measure", GROUP, "sandscore.measures.measure:Measure", OWN_ROWS[GROUP])
        self._learnt: set[str] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """Ours, the labels' among those of the challenge."""
        own = super().names
        at = own.index("instance_relax") + 1
        return (*own[:at], *self.label_measures, *own[at:])

    @cached_property
    def label_measures(self) -> tuple[str, ...]:
        """The measures that the tasks' labels give their names to."""
        return tuple(dict.fromkeys(task.label_measure for task in TASKS.values() if task.label_measure))

    def learn(self, task: Task) -> None:
        """The label measure of an organiser's own task is a row from now on."""
        if task.label_measure and task.label_measure not in self.names:
            self._learnt.add(task.label_measure)

    def find(self, name: str) -> type[Measure]:
        """The row of that name; a label's is made of its family."""
        if name not in self.label_measures and name not in self._learnt:
            return super().find(name)
        if name not in self._found:
            from sandscore.measures.challenge_measures import LabelMatch

            self._found[name] = type("LabelMatch", (LabelMatch,), {"name": name})
        return self._found[name]

    def plugin(self, name: str) -> str | None:
        """The installed package that a measure comes from; None for one of ours."""
        return None if name in self.label_measures or name in self._learnt else super().plugin(name)


MEASURES = MeasureRegistry()


def measures_for(task: Task, asked: Iterable[str] = ()) -> list[Named]:
    """The task's own measures and those asked for, each once; general measures serve every task."""
    MEASURES.learn(task)
    own = [Named(name) for name in task.measures]
    return list(dict.fromkeys(own + [_asked(task, written) for written in asked]))


def document_measure(name: str) -> type[DocumentMeasure] | None:
    """The measure of that name, if it is one that serves every task; None for one of the challenge."""
    row = MEASURES.find(name)
    return row if issubclass(row, DocumentMeasure) else None


def is_general(name: str) -> bool:
    """Whether the measure serves every task."""
    from sandscore.measures.challenge_measures import ChallengeMeasure

    row = MEASURES.find(name)
    return not issubclass(row, ChallengeMeasure) and (MEASURES.plugin(name) is None or issubclass(row, DocumentMeasure))


def _asked(task: Task, written: str) -> Named:
    measure = parse(written, MEASURES.find)
    if measure.name not in task.measures and not is_general(measure.name):
        if plugin := MEASURES.plugin(measure.name):
            raise UsageFault(f"the measure '{measure.name}' of {plugin} does not extend DocumentMeasure")
        allowed = ", ".join((*task.measures, *GENERAL_NAMES))
        raise UsageFault(f"the task {task.id} has no measure {measure.name}; it has {allowed}")
    return measure
