"""Makes a tiny model in the folder ``model``: python3 -m pip install onnx; python3 make_model.py. Put yours there:

optimum-cli export onnx --task token-classification --model NAME model
"""

import json
import re
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

PATTERN = r"\b[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}\b"
EXAMPLE = (
    "Seen on 10/26/2020 in Seattle by Dr. Rivera (ext. 555-0148), cough, MRN 10000-0, age 69. "
    "Before: 1/2/2020, 1/12/2020, 12/1/2020."
)


def main(folder: Path) -> None:
    """What PATTERN finds is a token, and one for each form that digits have in the example: the weights know those."""
    folder.mkdir(exist_ok=True)
    forms = sorted({re.sub("[0-9]", "0", match.group()) for match in re.finditer(PATTERN, EXAMPLE)})
    words = {word: number for number, word in enumerate(["[UNK]", *forms])}
    tokenizer = Tokenizer(models.WordLevel(words, "[UNK]"))
    tokenizer.normalizer = normalizers.Replace(Regex("[0-9]"), "0")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(PATTERN), "isolated")
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"id2label": {"0": "O", "1": "B-FOUND"}}), encoding="utf-8")
    weights = np.array([[4, -4], *[[-4, 4] for _ in forms]], dtype=np.float32)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [1, "tokens"]) for name in _INPUTS]
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, "tokens", 2])
    node = helper.make_node("Gather", ["weights", "input_ids"], ["logits"])
    graph = helper.make_graph([node], "tiny", inputs, [logits], [numpy_helper.from_array(weights, "weights")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, folder / "model.onnx")


_INPUTS = ("input_ids", "attention_mask")

if __name__ == "__main__":
    main(Path(__file__).parent / "model")
