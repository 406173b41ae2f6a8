# SPDX-License-Identifier: BSD-3-Clause
"""Matrices on a Dask cluster: a scheduler and two workers, in processes of this machine."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from rushlight import process, targets
from rushlight.cli.matrix import matrix_command
from rushlight.errors import ClusterNotUsable, InvalidArgument
from rushlight.matrix import cluster
from rushlight.matrix.cell import Conditions
from rushlight.matrix.plan import Cell, Model, Option
from rushlight.matrix.run import cluster as on_cluster
from rushlight.matrix.run import run_matrix
from rushlight.matrix.shared_cache import settings_to_pass_on, shared_cache_environment
from support.foreign_delegates import foreign_file

pytestmark = pytest.mark.heavy

distributed = pytest.importorskip("distributed", reason="distributed is not installed")

INTEROP = Path(__file__).parents[2] / "interop"
TARGETS = ("cortex-m4", "rv32imac")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as local:
        yield local.scheduler_address


class _Storage(BaseHTTPRequestHandler):
    """The requests that ccache sends to a web server: GET, HEAD, PUT."""

    objects: dict[str, bytes]

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_GET(self) -> None:
        found = self.objects.get(self.path)
        self._answer(404 if found is None else 200, found or b"")

    do_HEAD = do_GET

    def do_PUT(self) -> None:
        self.objects[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(201)

    def log_message(self, *_words: object) -> None:
        pass


@pytest.fixture
def storage() -> Iterator[str]:
    """The address of a web server that keeps objects in memory."""
    handler = type("Storage", (_Storage,), {"objects": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/objects"
    server.shutdown()
    server.server_close()


def cell(model: str, target: str, case: bool = True) -> Cell:
    folder = INTEROP / model
    return Cell(Model(model, folder / "model.pte", folder / "case.json" if case else None), target, Option())


def need(names: tuple[str, ...]) -> None:
    for name in names:
        if missing := targets.get(name).requirements():
            pytest.skip(f"{name}: missing " + ", ".join(item.name for item in missing))


@pytest.mark.device
@pytest.mark.cortex_m4
@pytest.mark.rv32imac
def test_models_times_targets_run_on_the_workers(scheduler: str, tmp_path: Path) -> None:
    need(TARGETS)
    (tmp_path / "matrix.yaml").write_text(
        f"models:\n  softplus: {INTEROP}/softplus/model.pte\n  external: {INTEROP}/external_ptd/model.pte\n"
        f"targets: [{', '.join(TARGETS)}]\n"
    )
    words = [str(tmp_path / "matrix.yaml"), "--scheduler", scheduler, "-o", str(tmp_path / "out")]
    ended = CliRunner().invoke(matrix_command, [*words, "--json", str(tmp_path / "out.json")])
    assert ended.exit_code == 0, ended.output
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["where"] == scheduler and written["passed"] == 4
    assert all(c["compared"] and c["instructions"] > 1000 for c in written["cells"])
    machines = {c["machine"] for c in written["cells"]}
    assert len(machines) == 2 and not any(machine.endswith(f":{os.getpid()}") for machine in machines)


@pytest.mark.device
@pytest.mark.cortex_m4
def test_machines_share_objects_through_a_web_server(scheduler: str, storage: str, tmp_path: Path) -> None:
    need(("cortex-m4",))
    if process.find_program("ccache") is None:
        pytest.skip("missing ccache")
    uses = []
    for name in ("one", "other"):
        environment = {**shared_cache_environment(storage), "CCACHE_DIR": str(tmp_path / name)}
        result = run_matrix(
            [cell("dtype_int8", "cortex-m4")],
            tmp_path / "out",
            Conditions(environment=environment),
            executor=on_cluster(scheduler),
        )
        assert result.passed and result.cells[0].build is not None
        uses.append(result.cells[0].build)
    first, second = uses
    assert first.hits == 0 and first.misses and first.misses > 20
    assert second.remote_hits == second.hits == first.misses and second.misses == 0


def test_a_cell_that_fails_on_a_worker_fails_with_its_error(scheduler: str, tmp_path: Path) -> None:
    delegated = Cell(Model("delegated", foreign_file(tmp_path / "model")), "host", Option())
    result = run_matrix([delegated], tmp_path, executor=on_cluster(scheduler))
    failure = result.cells[0].failure
    assert failure is not None and failure.type == "BackendNotFound"


def test_a_worker_with_other_sources_is_refused(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = {"rushlight": "9.9.9", "sources": "0123456789abcdef"}
    monkeypatch.setattr(cluster, "worker_facts", lambda: ours)
    with pytest.raises(ClusterNotUsable, match=r"version 9\.9\.9.*\n  tcp://.*: version 0\."):
        run_matrix([cell("softplus", "host")], tmp_path, executor=on_cluster(scheduler))


def test_a_scheduler_that_does_not_answer_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterNotUsable, match=r"expected a scheduler at tcp://127\.0\.0\.1:9"):
        run_matrix([cell("softplus", "host")], tmp_path, executor=on_cluster("tcp://127.0.0.1:9"))


def test_a_scheduler_without_workers_is_an_error(tmp_path: Path) -> None:
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as local,
        pytest.raises(ClusterNotUsable, match="expected workers, got none"),
    ):
        run_matrix([cell("softplus", "host")], tmp_path, executor=on_cluster(local.scheduler_address))


def test_settings_that_name_folders_of_this_machine_are_not_passed_on() -> None:
    given = {
        "CCACHE_DIR": "/here",
        "CCACHE_MAXSIZE": "1G",
        "SCCACHE_BUCKET": "b",
        "SCCACHE_DIR": "/s",
        "HOME": "/h",
    }
    assert settings_to_pass_on(given) == {"CCACHE_MAXSIZE": "1G", "SCCACHE_BUCKET": "b"}


def test_a_shared_cache_is_named_by_its_address() -> None:
    assert shared_cache_environment("redis://cache:6379")["SCCACHE_REDIS_ENDPOINT"] == "redis://cache:6379"
    with pytest.raises(InvalidArgument, match="expected one of http"):
        shared_cache_environment("cache")
