# SPDX-License-Identifier: BSD-3-Clause
"""The source distribution builds what the checkout builds."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from rushlight import process
from support.environments import ROOT, build_wheel

pytestmark = pytest.mark.package

BUILD_SDIST = "import sys; from scikit_build_core import build; print(build.build_sdist(sys.argv[1]))"


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    process.run([sys.executable, "-c", BUILD_SDIST, folder], cwd=ROOT, check=True)
    return next(folder.glob("rushlight-*.tar.gz"))


def test_an_sdist_has_no_build_products(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        held = archive.getnames()
    products = (".so", ".o", ".a", ".pyc", ".whl")
    assert [name for name in held if name.endswith(products)] == []
    assert {name.split("/")[1] for name in held} & {"build", "out", "dist", ".venv", ".git"} == set()


def test_an_sdist_builds_a_wheel(sdist: Path, tmp_path: Path) -> None:
    wheel = build_wheel(sdist, tmp_path, EXECUTORCH_SELECT_OPS_LIST="aten::add.out")
    held = zipfile.ZipFile(wheel).namelist()
    modules = [name for name in held if name.startswith("rushlight/_runtime.")]
    assert sorted(Path(name).suffix for name in modules) == [".pyi", ".so"]
    assert "rushlight/native/kernels/ops.yaml" in held
    assert "rushlight/native/toolchains/cortex-m55.cmake" in held
