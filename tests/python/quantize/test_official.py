# SPDX-License-Identifier: BSD-3-Clause
"""How near to float the models stay, beside the official XNNPACK quantizer."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")
xnnpack = pytest.importorskip(
    "executorch.backends.xnnpack.quantizer.xnnpack_quantizer", reason="executorch is not installed"
)

from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e  # noqa: E402

from rushlight.quantize import Dynamic, RushlightQuantizer, Static, quantize  # noqa: E402
from support.quantized_models import CASES, Case, make_case, relative_error  # noqa: E402


def mean_error(quantizer, case: Case, calibration) -> float:
    """Over 12 inputs that were not among those for calibration."""
    with torch.no_grad():
        if isinstance(quantizer, RushlightQuantizer):
            graph = quantize(case.module, calibration[0], calibration, quantizer)
        else:
            program = torch.export.export(case.module, calibration[0], strict=False)
            prepared = prepare_pt2e(program.module(check_guards=False), quantizer)
            for inputs in calibration:
                prepared(*inputs)
            graph = convert_pt2e(prepared)
        torch.manual_seed(1)
        drawn = [case.draw() for _ in range(12)]
        return sum(relative_error(graph(*x), case.module(*x)) for x in drawn) / len(drawn)


@pytest.mark.parametrize(("name", "per_channel"), [*((name, True) for name in CASES), ("convnet", False)])
def test_static_quantization_is_no_worse_than_the_official_one(name, per_channel) -> None:
    case = make_case(name)
    calibration = case.calibration()
    config = xnnpack.get_symmetric_quantization_config(is_per_channel=per_channel)
    official = mean_error(xnnpack.XNNPACKQuantizer().set_global(config), case, calibration)
    own = mean_error(RushlightQuantizer(Static(per_channel=per_channel)), case, calibration)
    assert 0 < own < 1.1 * official


@pytest.mark.parametrize("name", ["perceptron", "gated_cell", "transformer"])
def test_dynamic_quantization_is_no_worse_than_the_official_one(name) -> None:
    case = make_case(name)
    calibration = case.calibration(1)
    config = xnnpack.get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True)
    official = mean_error(xnnpack.XNNPACKQuantizer().set_global(config), case, calibration)
    own = mean_error(RushlightQuantizer(Dynamic()), case, calibration)
    assert 0 < own < 1.1 * official
