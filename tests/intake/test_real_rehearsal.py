"""An image from the hand-in to its rehearsal's log on the team's page: a registry, an engine, a worker, a server and a
browser, all of them real.
"""

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from intake.served import free_port
from playwright.sync_api import expect, sync_playwright
from python_images import PythonImages
from queue_samples import HIDDEN, TEXTS, queue, with_home

from sandscore.base import clock
from sandscore.containers.engines.docker.docker_engine import docker_client
from sandscore.containers.registries.image_pull import pulled_name
from sandscore.intake import web_server
from sandscore.intake.team_registry import TeamRegistry
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.worker.executor import LocalHands
from sandscore.queue.worker.queue_worker import Worker, WorkPlan
from sandscore.queue.workspace import Workspace

pytestmark = [pytest.mark.engine, pytest.mark.browser]

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json
notes = json.load(open("/input/notes.json"))
for note in notes:
    print("seen:", note["text"], flush=True)
print("the model <b>is done</b>", flush=True)
entries = [{"annotationSource": {"resourceSource": {"name": note.get("note_name", note["identifier"])}},
            "textDateAnnotations": []} for note in notes]
json.dump(entries, open("/output/predictions.json", "w"))
"""


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    """Debian's, on loopback, which engines trust without TLS."""
    port = free_port()
    told = {"version": 0.1, "storage": {"filesystem": {"rootdirectory": str(folder / "data")}}}
    (folder / "config.yml").write_text(json.dumps(told | {"http": {"addr": f"127.0.0.1:{port}"}}), encoding="utf-8")
    with (folder / "registry.txt").open("wb") as log:
        words = ["docker-registry", "serve", str(folder / "config.yml")]
        with subprocess.Popen(words, stdout=log, stderr=log) as process:
            try:
                yield f"127.0.0.1:{port}"
            finally:
                process.kill()


@contextmanager
def pushed(registry: str) -> Iterator[str]:
    """An image of the team tide, by its digest."""
    subprocess.run([ROOT / "tools" / "base_image.sh"], check=True, capture_output=True)
    with docker_client() as client:
        made = PythonImages(client)
        image = client.images.get(made(f"rehearsed-{os.getpid()}", PROGRAM))
        repository = f"{registry}/tide/system"
        image.tag(repository, "1")
        try:
            for _ in range(20):
                if "error" not in client.images.push(repository, tag="1"):
                    break
                time.sleep(0.5)  # until the registry listens
            image.reload()
            [digest] = [one for one in image.attrs["RepoDigests"] if one.startswith(f"{repository}@")]
            try:
                yield digest
            finally:
                client.images.remove(pulled_name(digest), force=True)
        finally:
            client.images.remove(f"{repository}:1", force=True)
            for name in made.names:
                client.images.remove(name, force=True)


@contextmanager
def served(workspace: Workspace) -> Iterator[str]:
    """In this process, so that ticks can be short."""
    port = free_port()
    server = web_server.server_of(workspace.root, f"127.0.0.1:{port}", None, [])
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


def test_its_team_reads_the_rehearsal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "TICK_SECONDS", 6.0)
    found = shutil.which("chromium")
    assert found is not None, "tools/browser.sh installs it"
    with registry(tmp_path) as host, pushed(host) as image:
        rules = f'{HIDDEN}[limits]\ntime_limit = 60\nmemory = "64m"\n[images]\nregistries = ["{host}/{{team}}"]\n'
        workspace = queue(tmp_path / "q", rules, protocol="batch")
        teams = TeamRegistry(workspace)
        teams.add("tide", None, "test")
        token = teams.issue("tide", "Ada", "test")

        async def work(home: EmbeddedHome) -> None:
            await Worker(home, workspace, WorkPlan(once=True), lambda: LocalHands(workspace.root)).run()

        with served(workspace) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page()
            page.goto(f"{url}/team")
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Log in").click()
            page.get_by_label("Image by its digest").fill(image)
            page.get_by_role("button", name="Hand in the image").click()
            expect(page.get_by_text("RECEIVED")).to_be_visible()
            worker = threading.Thread(target=with_home, args=(workspace, work))
            worker.start()
            try:
                expect(page.get_by_text("SCORED")).to_be_visible(timeout=180_000)
            finally:
                worker.join(180)
            page.reload()
            expect(page.get_by_text("the model <b>is done</b>")).to_be_visible()
            expect(page.get_by_text("seen: ").first).to_be_visible()
            shown = page.content()
            browser.close()
    assert not any(text in shown for text in TEXTS.values()), "of the practice notes alone"
