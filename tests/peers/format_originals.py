"""Files of other people's formats, made and read by the libraries that define them; run with the library's Python.

    python format_originals.py make|read spacy|presidio|cassis|pyarrow FOLDER

``make`` writes what ``tests/formats/made`` keeps; ``read`` prints what the library finds in files of ours, as JSON.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

TEXT = "Ann Lee saw 𝒳 Bob on May 3,\r\n  in Oslo."
ANN, BOB, DAY, OSLO = (0, 7), (14, 17), (21, 26), (34, 38)


def make_spacy(folder: Path) -> None:
    import numpy

    spacy = import_module("spacy")
    tokens = import_module("spacy.tokens")

    tokens.Doc.set_extension("tool", default=None)
    nlp = spacy.blank("en")
    doc = nlp(TEXT)
    spans = [doc.char_span(*place, label=kind) for place, kind in ((ANN, "PERSON"), (BOB, "PERSON"), (DAY, "DATE"))]
    doc.ents = spans
    doc.spans["sc"] = [spans[0], doc.char_span(*OSLO, label="GPE"), doc.char_span(0, 3, label="case")]
    doc.spans["sc"].attrs["scores"] = numpy.array([0.5, 0.25, 1.0], "float32")
    doc.spans["other"] = [tokens.Span(doc, 0, 1, "X")]
    doc.user_data["note"] = "n1"
    doc._.tool = "x"
    tokens.DocBin(docs=[doc, nlp("")], store_user_data=True).to_disk(folder / "docs.spacy")
    tokens.DocBin(attrs=["ENT_IOB", "ENT_TYPE"], docs=[doc]).to_disk(folder / "few.spacy")


def read_spacy(folder: Path) -> Any:
    spacy = import_module("spacy")
    tokens = import_module("spacy.tokens")

    docs = tokens.DocBin().from_disk(folder / "ours.spacy").get_docs(spacy.blank("en").vocab)
    return [
        {
            "note": doc.user_data["note"],
            "text": doc.text,
            "ents": [[e.start_char, e.end_char, e.label_] for e in doc.ents],
            "spans": [[s.start_char, s.end_char, s.label_] for s in doc.spans.get("sc", [])],
        }
        for doc in docs
    ]


def make_presidio(folder: Path) -> None:
    analyzer = import_module("presidio_analyzer")

    by_pattern = analyzer.PatternRecognizer("DATE_TIME", patterns=[analyzer.Pattern("day", r"May \d", 0.5)])
    found = by_pattern.analyze(TEXT, ["DATE_TIME"])
    found.append(analyzer.RecognizerResult("PERSON", *ANN, 0.85))
    (folder / "results.json").write_text(json.dumps([[one.to_dict() for one in found]], default=vars))
    batch = analyzer.DictAnalyzerResult("note", [TEXT], [found])
    line = {"text": batch.value[0], "recognizer_results": [one.to_dict() for one in batch.recognizer_results[0]]}
    (folder / "batch.jsonl").write_text(json.dumps(line, default=vars) + "\n")


def read_presidio(folder: Path) -> Any:
    analyzer = import_module("presidio_analyzer")

    lines = (folder / "ours.jsonl").read_text().splitlines()
    found = [
        [analyzer.RecognizerResult.from_json(one) for one in json.loads(line)["recognizer_results"]] for line in lines
    ]
    return [[[one.start, one.end, one.entity_type, one.score] for one in results] for results in found]


def make_cassis(folder: Path) -> None:
    cassis = import_module("cassis")

    types = cassis.TypeSystem()
    entity = types.create_type("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity", "uima.tcas.Annotation")
    types.create_feature(entity, "value", "uima.cas.String")
    layer = types.create_type("webanno.custom.PHI", "uima.tcas.Annotation")
    types.create_feature(layer, "kind", "uima.cas.String")
    sentence = types.create_type("de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence", "uima.tcas.Annotation")
    link = types.create_type("custom.Other", "uima.tcas.Annotation")
    cas = cassis.Cas(types)
    cas.sofa_string, cas.sofa_mime = TEXT, "text/plain"
    cas.add(sentence(begin=0, end=len(TEXT)))
    cas.add(entity(begin=ANN[0], end=ANN[1], value="PER"))
    cas.add(entity(begin=BOB[0], end=BOB[1], value="PER"))
    cas.add(layer(begin=DAY[0], end=DAY[1], kind="DATE"))
    cas.add(link(begin=0, end=3))
    for form in ("json", "xmi"):
        (folder / form).mkdir(exist_ok=True)
    cas.to_json(folder / "json" / "n1.json", pretty_print=True)
    cas.to_xmi(folder / "xmi" / "n1.xmi", pretty_print=True)


def read_cassis(folder: Path) -> Any:
    cassis = import_module("cassis")

    found = []
    for path in sorted(folder.glob("ours*/*")):
        if path.suffix == ".json":
            with path.open("rb") as file:
                cas = cassis.load_cas_from_json(file)
        elif path.suffix == ".xmi":
            with (path.parent / "TypeSystem.xml").open("rb") as file:
                types = cassis.load_typesystem(file)
            with path.open("rb") as file:
                cas = cassis.load_cas_from_xmi(file, typesystem=types)
        else:
            continue
        entities = cas.select("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity")
        spans = [[e.begin, e.end, e.value, e.confidence, e.get_covered_text()] for e in entities]
        found.append({"text": cas.sofa_string, "spans": spans})
    return found


def make_pyarrow(folder: Path) -> None:
    pyarrow = import_module("pyarrow")
    parquet = import_module("pyarrow.parquet")

    columns = {"doc_id": ["n1", "n1"], "start": [0, 21], "end": [7, 26], "label": ["PER", "DATE"], "score": [0.5, None]}
    parquet.write_table(pyarrow.table(columns), folder / "table.parquet")


def read_pyarrow(folder: Path) -> Any:
    parquet = import_module("pyarrow.parquet")

    return parquet.read_table(folder / "ours.parquet").to_pylist()


if __name__ == "__main__":
    made = globals()[f"{sys.argv[1]}_{sys.argv[2]}"](Path(sys.argv[3]))
    print(json.dumps(made))
