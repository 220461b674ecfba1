"""Your annotator: Presidio with the spaCy model in the folder ``model``, which make_model.py makes."""

from pathlib import Path

from presidio_analyzer import AnalyzerEngine, Pattern, PatternRecognizer, RecognizerRegistry
from presidio_analyzer.nlp_engine import NlpEngineProvider

PATTERN = r"\b[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}\b"
LABELS: dict[str, str] = {"dateFormat": "MM/DD/YYYY"}
TYPES: list[str] = ["FOUND"]
"""Of the entities that Presidio finds, those that count here."""


def analyzer() -> AnalyzerEngine:
    """Recognisers of your own, beside which ``registry.load_predefined_recognizers()`` puts Presidio's."""
    model = str(Path(__file__).parent / "model")
    engines = NlpEngineProvider(
        nlp_configuration={"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": model}]}
    )
    registry = RecognizerRegistry(supported_languages=["en"])
    registry.add_recognizer(PatternRecognizer("FOUND", patterns=[Pattern("pattern", PATTERN, 0.5)]))
    return AnalyzerEngine(registry=registry, nlp_engine=engines.create_engine(), supported_languages=["en"])


ANALYZER = analyzer()


def annotate(text: str) -> list[dict[str, object]]:
    """Offsets count characters of the note; ``text`` is exactly what stands there. Scores become 0 to 100."""
    return [
        {
            "start": found.start,
            "length": found.end - found.start,
            "text": text[found.start : found.end],
            "confidence": round(100 * found.score, 3),
            **LABELS,
        }
        for found in ANALYZER.analyze(text, language="en", entities=TYPES)
    ]
