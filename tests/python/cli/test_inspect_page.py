# SPDX-License-Identifier: BSD-3-Clause
"""rushlight inspect --html, and the memory plan that it draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight.cli.main import main
from rushlight.cli.planned_memory import memory_plan
from rushlight.program import read_model

INTEROP = Path(__file__).parents[2] / "interop"
MODELS = sorted([*INTEROP.glob("*/model.pte"), *INTEROP.glob("bundled/*.bpte"), *INTEROP.glob("*/*.ptd")])


def written(file: Path, tmp_path: Path) -> str:
    path = tmp_path / "page.html"
    with pytest.raises(SystemExit) as ended:
        main(["inspect", str(file), "--html", str(path)])
    assert ended.value.code == 0
    return path.read_text()


def test_a_page_has_methods_operators_and_a_picture_of_memory(tmp_path: Path) -> None:
    shown = written(INTEROP / "model_dscnn" / "model.pte", tmp_path)
    assert "Method forward" in shown and "aten::convolution.out" in shown and "float32 [1, 12]" in shown
    assert shown.count("<svg") == 1 and "planned memory 1: 64,000 bytes" in shown
    assert shown.replace("http://www.w3.org/2000/svg", "").count("://") == 0


@pytest.mark.parametrize("file", MODELS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_every_file_has_a_page(file: Path, tmp_path: Path) -> None:
    shown = written(file, tmp_path)
    assert shown.endswith("</html>\n") and shown.count("<script") == 1


def test_names_in_a_page_are_text(tmp_path: Path) -> None:
    data = (INTEROP / "model_dscnn" / "model.pte").read_bytes()
    for name, other in ((b"forward", b"<svg/>x"), (b"aten::convolution", b"<script>1</scrip>")):
        assert name in data and len(name) == len(other)
        data = data.replace(name, other)
    path = tmp_path / "<script>alert(1).pte"
    path.write_bytes(data)
    shown = written(path, tmp_path)
    assert "&lt;script&gt;1&lt;/scrip&gt;" in shown and "&lt;svg/&gt;x" in shown
    assert shown.count("<script") == 1 and shown.count("<svg") == 1


@pytest.mark.parametrize(
    "file", [f for f in MODELS if f.suffix != ".ptd"], ids=lambda file: f"{file.parent.name}/{file.name}"
)
def test_lives_of_different_tensors_do_not_share_bytes(file: Path) -> None:
    """Exporters plan so: what overlaps in bytes and in time has to be one tensor, or a view of it."""
    for method in read_model(file).plans:
        plan = memory_plan(method)
        for use in plan.banks:
            assert use.lower_bound <= use.size, (method.name, use)
