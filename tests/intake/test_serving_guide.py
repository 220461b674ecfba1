"""docs/serving.md, followed: its commands, its nginx and its Caddy in front of a server with a certificate of its own,
its units as systemd reads them, and its registry with a login for each team.
"""

import base64
import configparser
import datetime
import hashlib
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
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


def tried(text: str, *others: tuple[str, str]) -> str:
    """A block of the guide on this machine: only names, ports and places are others."""
    for said, here in others:
        assert said in text
        text = text.replace(said, here)
    return text


def program(name: str) -> str:
    """Debian's, as ``tools/proxy.sh`` unpacked it."""
    found = list((ROOT / ".cache" / name / "usr").glob(f"*bin/{name}"))
    if not found:
        pytest.fail(f"{name} is not here: tools/proxy.sh fetches it")
    return str(found[0])


@contextmanager
def running(words: list[str], port: int, log: Path, **environment: str) -> Iterator[None]:
    with (
        log.open("wb") as said,
        subprocess.Popen(words, stdout=said, stderr=said, env=os.environ | environment) as process,
    ):
        try:
            end = time.monotonic() + 60
            while not listens(port):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def nginx(folder: Path, site: str, port: int, host: str) -> Iterator[int]:
    public, secret = certificate(folder)
    site = tried(
        site,
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        (f"/etc/letsencrypt/live/{host}/fullchain.pem", str(public)),
        (f"/etc/letsencrypt/live/{host}/privkey.pem", str(secret)),
        (f"server_name {host}", "server_name localhost"),
    )
    paths = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / "nginx.conf"
    config.write_text(
        f"{'user root;' if os.geteuid() == 0 else ''} daemon off; pid {folder}/pid; error_log {folder}/error.log;\n"
        f"worker_processes 1; events {{}}\n"
        f"http {{ access_log off; {paths}\n{site}\n}}",
        encoding="utf-8",
    )
    words = [program("nginx"), "-c", str(config), "-e", str(folder / "error.log")]
    with running(words, port, folder / "nginx.txt"):
        yield port


@contextmanager
def behind_nginx(folder: Path, server_port: int) -> Iterator[int]:
    site = tried(block("nginx"), ("127.0.0.1:8000", f"127.0.0.1:{server_port}"))
    with nginx(folder, site, free_port(), HOST) as port:
        yield port


@contextmanager
def behind_caddy(folder: Path, server_port: int) -> Iterator[int]:
    """A public certificate cannot be fetched here: it is given one."""
    public, secret = certificate(folder)
    port = free_port()
    site = tried(
        block("text"),
        (f"{HOST} {{", f"localhost:{port} {{\n    tls {public} {secret}\n    bind 127.0.0.1"),
        ("127.0.0.1:8000", f"127.0.0.1:{server_port}"),
        ("grace_period 10s", "grace_period 1s\n    admin off\n    auto_https disable_redirects"),
    )
    config = folder / "Caddyfile"
    config.write_text(site, encoding="utf-8")
    words = [program("caddy"), "run", "--config", str(config), "--adapter", "caddyfile"]
    with running(words, port, folder / "caddy.txt", HOME=str(folder), XDG_DATA_HOME=str(folder / "data")):
        yield port


@pytest.mark.slow
@pytest.mark.parametrize("proxied", [behind_nginx, behind_caddy])
def test_behind_a_proxy(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    proxied: Callable[[Path, int], AbstractContextManager[int]],
) -> None:
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
    seen = {json.loads(line)["address"] for line in log.read_text().splitlines()}
    assert seen == ({"127.0.0.1", "203.0.113.9"} if proxied is behind_nginx else {"127.0.0.1"})


class Unmoved(urllib.request.HTTPRedirectHandler):
    """Where one is sent is looked at, not followed."""

    def http_error_303(self, req, fp, code, msg, headers):  # type: ignore[no-untyped-def]
        return fp


def test_units_as_systemd_reads_them(tmp_path: Path) -> None:
    """It names what it does not know, and programs that are not there."""
    here = (("/srv/sandscore/bin/sandscore", sys.executable),)
    places = {"sandscore-serve@8000": (block("ini"), "@"), "sandscore-work": (block("ini", 1), "")}
    for name, (unit, template) in places.items():
        path = tmp_path / f"{name}.service"
        (tmp_path / f"{name.partition('@')[0]}{template}.service").write_text(tried(unit, *here), encoding="utf-8")
        verified = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(path)]
        done = subprocess.run(verified, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout + done.stderr) == (0, "")
    wrong = tmp_path / "wrong.service"
    wrong.write_text(tried(block("ini", 1), *here, ("RestartSec=", "RestartSeconds=")), encoding="utf-8")
    done = subprocess.run([*verified[:-1], str(wrong)], capture_output=True, text=True, check=False)
    assert "RestartSeconds" in done.stderr, "it looks"


@pytest.mark.slow
def test_the_registry_with_a_login_for_each_team(tmp_path: Path) -> None:
    """A team pushes and reads under its own name alone, the worker reads everywhere, nobody else anything."""
    inner, port = free_port(), free_port()
    configuration = tried(
        block("yaml"), ("/var/lib/docker-registry", str(tmp_path / "data")), ("127.0.0.1:5000", f"127.0.0.1:{inner}")
    )
    (tmp_path / "config.yml").write_text(configuration, encoding="utf-8")
    users = tmp_path / "registry.users"
    [line] = block("bash").splitlines()
    line = tried(line, ("/etc/nginx/registry.users", str(users)), ("passwd -6", "passwd -6 -stdin"))
    for name in ("tidewater", "lagoon", "worker"):
        subprocess.run(["bash", "-c", line.replace("tidewater", name)], input=f"of {name}\n", text=True, check=True)
    site = tried(
        block("text", 1),
        ("127.0.0.1:5000", f"127.0.0.1:{inner}"),
        ("/etc/nginx/registry.users", str(users)),
        ("include proxy_params", f"include {ROOT}/.cache/nginx/etc/nginx/proxy_params"),
    )
    serve = ["docker-registry", "serve", str(tmp_path / "config.yml")]
    with (
        running(serve, inner, tmp_path / "registry.txt", OTEL_TRACES_EXPORTER="none"),
        nginx(tmp_path, site, port, "registry.example.org"),
    ):
        known = ssl.create_default_context(cafile=str(tmp_path / "certificate.pem"))

        def ask(
            method: str, path: str, user: str | None, content: bytes | None = None, password: str | None = None
        ) -> tuple[int, str]:
            login = base64.b64encode(f"{user}:{password or f'of {user}'}".encode()).decode()
            headers = {} if user is None else {"authorization": f"Basic {login}"}
            connection = http.client.HTTPSConnection("localhost", port, context=known, timeout=60)
            connection.request(method, path, content, headers | {"content-type": "application/octet-stream"})
            answer = connection.getresponse()
            answer.read()
            connection.close()
            return answer.status, answer.headers.get("location", "")

        assert [ask("GET", "/v2/", user)[0] for user in (None, "tidewater", "worker")] == [401, 200, 200]
        status, upload = ask("POST", "/v2/tidewater/tool/blobs/uploads/", "tidewater", b"")
        assert (status, upload.startswith("/v2/tidewater/")) == (202, True)
        digest = f"sha256:{hashlib.sha256(b'layer').hexdigest()}"
        assert ask("PUT", f"{upload}&digest={digest.replace(':', '%3A')}", "tidewater", b"layer")[0] == 201
        blob = f"/v2/tidewater/tool/blobs/{digest}"
        assert [ask("GET", blob, user)[0] for user in ("tidewater", "worker", "lagoon", None)] == [200, 200, 403, 403]
        assert ask("GET", blob, "tidewater", password="of lagoon")[0] == 401
        assert ask("POST", "/v2/tidewater/tool/blobs/uploads/", "lagoon", b"")[0] == 403
        assert ask("POST", "/v2/lagoon-x/tool/blobs/uploads/", "lagoon", b"")[0] == 403, "a name that begins alike"
        assert [ask("GET", path, "worker")[0] for path in ("/v2/_catalog", "/", "/metrics")] == [404, 404, 404]
