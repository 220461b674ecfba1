"""A notice to a team: sentences of ours, and what was released before."""

from collections.abc import Mapping

from sandscore.disclosure.released import Audience, Item, Released, passed
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.submission import NoticeText


class NoticeItem(Item[NoticeText], frozen=True, kw_only=True):
    """What a notice is made of: ``sentence`` is our own word, the rest has passed the gate."""

    subject: str
    sentence: str = ""
    reason: Released[str] | None = None
    feedback: Released[Mapping[str, object]] | None = None


def notice_view(item: NoticeItem, _audience: Audience, _policy: DisclosurePolicy) -> Released[NoticeText]:
    """Nothing that was not told already, and so without a bit of its own."""
    lines = [item.sentence] if item.sentence else []
    if item.reason is not None:
        lines.append(item.reason.view)
    if item.feedback is not None:
        lines += _scores(item.feedback.view) or ["The score is not shown yet."]
    return passed(item, NoticeText(item.subject, "\n".join(lines)), "notice")


def _scores(feedback: Mapping[str, object]) -> list[str]:
    measures = feedback.get("measures")
    if not isinstance(measures, Mapping):
        return []
    return [f"{name}: {_shown(score)}" for name, score in measures.items()]


def _shown(score: object) -> str:
    """F1, or the value of a measure whose score is another."""
    told = score if isinstance(score, Mapping) else {}
    name, value = ("value", told["value"]) if told.get("value") is not None else ("F1", told.get("f1"))
    return f"{name} {value:.4f}" if isinstance(value, float) else f"{name} \u2013"
