"""docs/serving.md, followed: its commands, its nginx in front of a server with a certificate of its own, its units."""

import configparser
import datetime
import json
import re
import shutil
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from intake.served import free_port, serving
from queue_samples import RIGHT, annotations

from sandscore.base.bundled_content import example_gold
from sandscore.cli.main import run
from sandscore.queue.workspace import open_workspace

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
HOST = "challenge.example.org"


def block(language: str, which: int = 0) -> str:
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
    return found[which]


def test_the_commands_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the server itself, which the next test starts as the guide does."""
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "example").symlink_to(example_gold())
    monkeypatch.chdir(tmp_path)
    lines = block("sh").splitlines()
    assert len(lines) == 4
    for line in lines:
        words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)]
        assert run(words[1:]) == 0, line
    [serve] = block("sh", 1).splitlines()
    for unit in (block("ini"), block("ini", 1)):
        parsed = configparser.ConfigParser(strict=False, interpolation=None)
        parsed.read_string(unit)
        words = parsed["Service"]["ExecStart"].replace("%i", "8000").split()
        assert words[0].endswith("/sandscore")
        assert words[1:3] in (["serve", "queue"], ["queue", "work"])
    assert block("ini").replace("%i", "8000").count(serve.removeprefix("sandscore ")) == 1


def certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret, public = folder / "key.pem", folder / "certificate.pem"
    pem = serialization.Encoding.PEM
    secret.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    public.write_bytes(made.public_bytes(pem))
    return public, secret


@contextmanager
def proxied(folder: Path, server_port: int) -> Iterator[int]:
    """The guide's nginx; only names, ports and places are others."""
    nginx = shutil.which("nginx") or str(ROOT / ".cache" / "nginx" / "usr" / "sbin" / "nginx")
    if not Path(nginx).exists():
        pytest.fail("nginx is not here: tools/proxy.sh fetches it")
    public, secret = certificate(folder)
    port = free_port()
    site = block("nginx")
    for said, here in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        (f"/etc/letsencrypt/live/{HOST}/fullchain.pem", str(public)),
        (f"/etc/letsencrypt/live/{HOST}/privkey.pem", str(secret)),
        ("127.0.0.1:8000", f"127.0.0.1:{server_port}"),
        (f"server_name {HOST}", "server_name localhost"),
    ):
        assert said in site
        site = site.replace(said, here)
    paths = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1; events {{}}\n"
        f"http {{ access_log off; {paths}\n{site}\n}}",
        encoding="utf-8",
    )
    with subprocess.Popen([nginx, "-c", str(config), "-e", str(folder / "error.log")]) as process:
        try:
            yield port
        finally:
            process.terminate()


@pytest.mark.slow
def test_behind_nginx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    queue = tmp_path / "queue"
    assert run(["queue", "init", str(queue), "--challenge", str(example_gold() / "challenge.toml")]) == 0
    assert run(["queue", "team", "add", str(queue), "tidewater"]) == 0
    capsys.readouterr()
    assert run(["queue", "team", "token", str(queue), "tidewater", "--for", "Ada"]) == 0
    token = capsys.readouterr().out.strip()
    given = tmp_path / "predictions.json"
    given.write_bytes(annotations(RIGHT))
    with serving(queue, "--public-url", f"https://{HOST}") as server, proxied(tmp_path, server.port) as port:
        url = f"https://localhost:{port}"
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        monkeypatch.setenv("SANDSCORE_TOKEN", token)
        assert run(["submit", url, "--task", "date", "--predictions", str(given)]) == 0
        made = capsys.readouterr().out.strip()
        assert run(["status", url, made, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["status"] == "RECEIVED"
        known = ssl.create_default_context(cafile=str(tmp_path / "certificate.pem"))
        asked = urllib.request.Request(
            f"{url}/team/login", f"token={token}".encode(), {"X-Forwarded-For": "203.0.113.9"}
        )
        plain = urllib.request.build_opener(urllib.request.HTTPSHandler(context=known), Unmoved())
        with plain.open(asked) as answer:
            cookie = answer.headers["set-cookie"]
        assert "Secure" in cookie
        assert cookie.startswith("__Host-sandscore=")
        assert answer.headers["strict-transport-security"] == "max-age=31536000"
        events = urllib.request.Request(f"{url}/team/events", headers={"Cookie": cookie.partition(";")[0]})
        begun = time.monotonic()
        with plain.open(events) as stream:
            assert stream.readline() == b": here\n"
        assert time.monotonic() - begun < 5, "nothing is held back"
    [log] = (open_workspace(queue).private / "intake" / "logs").iterdir()
    assert {json.loads(line)["address"] for line in log.read_text().splitlines()} == {"127.0.0.1", "203.0.113.9"}


class Unmoved(urllib.request.HTTPRedirectHandler):
    """Where one is sent is looked at, not followed."""

    def http_error_303(self, req, fp, code, msg, headers):  # type: ignore[no-untyped-def]
        return fp
