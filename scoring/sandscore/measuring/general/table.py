"""The general measures, by name."""

from sandscore.measuring.general import iou, overlap, semeval_matching
from sandscore.measuring.general.measure import GeneralMeasure

GENERAL: dict[str, GeneralMeasure] = {
    row.MEASURE.definition.name: row.MEASURE for row in (iou, overlap, semeval_matching)
}
