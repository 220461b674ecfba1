"""Paired copies of notes and gold: what an annotator found, would it still find it under other names and spellings?"""

from sandscore.base.own_rows import OWN_ROWS
from sandscore.base.registry import Registry
from sandscore.perturbation.text_edits import Perturbation

GROUP = "sandscore.perturbations"
PERTURBATIONS: Registry[Perturbation] = Registry(
    "perturbation", GROUP, "sandscore.perturbation.text_edits:Perturbation", OWN_ROWS[GROUP]
)
"""In the order in which several are carried out."""
