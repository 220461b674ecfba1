"""Files of other people's formats, made and read by the libraries that define them; run with the library's Python.

    python format_originals.py make|read spacy|presidio|cassis|pyarrow FOLDER
    python format_originals.py make transformers|doccano|label_studio FOLDER

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


WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] ann lee saw bo ##b on may 3 , in oslo .".split()
KINDS = ["O", "B-PER", "I-PER", "B-DATE", "I-DATE", "B-LOC"]
KNOWN = {"ann": 1, "lee": 2, "bo": 1, "##b": 2, "may": 3, "3": 4, "oslo": 5}


def make_transformers(folder: Path) -> None:
    """With transformers 5.23.0, tokenizers 0.23.3 and torch 2.13.0: a classifier that knows a few words by heart."""
    torch, hf, tokens = import_module("torch"), import_module("transformers"), import_module("tokenizers")

    raw = tokens.Tokenizer(tokens.models.WordPiece({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    raw.normalizer = tokens.normalizers.BertNormalizer()
    raw.pre_tokenizer = tokens.pre_tokenizers.BertPreTokenizer()
    raw.post_processor = tokens.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "pad", "cls", "sep", "mask")}
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=raw, **special)
    sizes = {"hidden_size": 8, "num_hidden_layers": 0, "num_attention_heads": 1, "intermediate_size": 8}
    names = {"id2label": dict(enumerate(KINDS)), "label2id": {kind: at for at, kind in enumerate(KINDS)}}
    model = hf.BertForTokenClassification(hf.BertConfig(vocab_size=len(WORDS), **sizes, **names)).eval()
    with torch.no_grad():
        for held in model.parameters():
            held.zero_()
        model.bert.embeddings.LayerNorm.weight.fill_(1.0)
        for at, word in enumerate(WORDS):
            model.bert.embeddings.word_embeddings.weight[at, KNOWN.get(word, 0)] = 1.0
        model.classifier.weight.copy_(torch.eye(len(KINDS), 8) * 2)
    for how in ("none", "simple", "first", "average", "max"):
        ask = hf.pipeline("token-classification", model=model, tokenizer=tokenizer, aggregation_strategy=how)
        (folder / f"{how}.json").write_text(json.dumps(ask([TEXT, ""]), default=float, indent=1) + "\n")


def make_doccano(folder: Path) -> None:
    """With the formatters and writers of doccano 1.8.4 (its backend on the path); its database is stood in for."""
    from types import ModuleType, SimpleNamespace

    sys.modules["data_export.models"] = ModuleType("data_export.models")
    sys.modules["data_export.models"].DATA = "data"  # type: ignore[attr-defined]
    formatters = import_module("data_export.pipeline.formatters")
    writer = import_module("data_export.pipeline.writers").JsonlWriter()
    pandas = import_module("pandas")

    def span(number: int, place: tuple[int, int], kind: str) -> SimpleNamespace:
        held = {"id": number, "label": kind, "start_offset": place[0], "end_offset": place[1]}
        return SimpleNamespace(to_dict=lambda: held, to_tuple=lambda: (*place, kind))

    saw = SimpleNamespace(to_dict=lambda: {"id": 1, "from_id": 1, "to_id": 2, "type": "saw"})
    for name, spans in (
        ("labels", formatters.TupledSpanFormatter("entities")),
        ("relations", formatters.DictFormatter("entities")),
    ):
        found = [span(3, DAY, "DATE"), span(1, ANN, "PER"), span(2, BOB, "PER")]
        rows = pandas.DataFrame([{"id": 7, "data": TEXT, "entities": found, "relations": [saw], "Comments": []}])
        steps = [spans, formatters.DictFormatter("relations"), formatters.RenameFormatter(data="text")]
        if name == "labels":
            rows = rows.drop(columns="relations")
            steps = [spans, formatters.RenameFormatter(data="text", entities="label")]
        for step in steps:
            rows = step.format(rows)
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            writer.write(file, rows)


def make_label_studio(folder: Path) -> None:
    """With label-studio-sdk 2.1.2; the name of a region is random, and the text of one is written by the page only."""
    interface = import_module("label_studio_sdk.label_interface")
    objects = import_module("label_studio_sdk.label_interface.objects")

    labels = '<Labels name="label" toName="text"><Label value="PER"/><Label value="DATE"/></Labels>'
    control = interface.LabelInterface(f'<View>{labels}<Text name="text" value="$text"/></View>').get_control("label")
    found = [
        control.label(start=start, end=end, label=kind)
        for (start, end), kind in ((ANN, "PER"), (BOB, "PER"), (DAY, "DATE"))
    ]
    person = objects.AnnotationValue(result=found, completed_by=1)
    model = objects.PredictionValue(model_version="m1", score=0.5, result=found[:1])
    task = objects.TaskValue(
        data={"text": TEXT}, annotations=[person.model_dump()], predictions=[model.model_dump()]
    ).model_dump_json()
    held = [{"id": 1, **json.loads(task)}]
    (folder / "project.json").write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    made = globals()[f"{sys.argv[1]}_{sys.argv[2]}"](Path(sys.argv[3]))
    print(json.dumps(made))
