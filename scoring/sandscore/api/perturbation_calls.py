"""Perturbing as a call: notes and gold to a paired copy in which every gold text still stands where it is said."""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from sandscore.base.byte_sources import InputFile
from sandscore.base.errors import UsageFault
from sandscore.base.whole_files import told, write_files
from sandscore.perturbation import PERTURBATIONS
from sandscore.perturbation.paired_copy import paired_copy, read_original
from sandscore.task_table.task import Task


class Perturbed(Struct, frozen=True):
    """A copy: its files by name (notes, gold by task, ``changes.json``), and what became of it.

    >>> ss.perturb(notes, "gold/example", {"case": "upper"}).sentence.partition(", ")[0]
    '72 notes'
    """

    files: Mapping[str, bytes]
    notes: int
    annotations: int
    changed: int
    left_out: int
    """Changes that would have split an annotation or left none of it, and were not made."""

    @property
    def sentence(self) -> str:
        left = f", {self.left_out:,} left out that would have split one" if self.left_out else ""
        return f"{self.notes:,} notes, {self.annotations:,} annotations, {self.changed:,} changes{left}"


def perturb(
    notes: InputFile,
    gold: str | Path,
    perturbations: Mapping[str, str],
    *,
    output: str | Path | None = None,
    seed: int = 0,
    own_tasks: Mapping[str, Task] | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> Perturbed:
    """A paired copy of notes and of the gold in a folder with one file for each task.

    ``perturbations`` are names with their values, "" where one takes none; they are carried out in the order of the
    table. With ``output`` the files are written into that folder, which must be new or empty.

    >>> copy = ss.perturb(notes, "gold/example", {"swap": "names:nigeria", "headings": ""}, seed=1)
    >>> copy.notes, sorted(copy.files)
    (72, ['address.json', 'changes.json', 'date.json', 'notes.json', 'person-name.json'])
    """
    asked = sorted(perturbations, key=lambda name: (*PERTURBATIONS.names, name).index(name))
    rows = [PERTURBATIONS.find(name)(perturbations[name]) for name in asked]
    folder = Path(output) if output is not None else None
    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageFault(f"{folder} is there already and is not an empty folder")
    made = paired_copy(read_original(notes, Path(gold), own_tasks), rows, seed, progress)
    if folder is not None:
        with told(folder, "cannot write {where}: {why}", fault=UsageFault):
            folder.mkdir(parents=True, exist_ok=True)
            write_files(folder, made.files)
    return Perturbed(made.files, made.notes, made.annotations, made.changed, made.left_out)
