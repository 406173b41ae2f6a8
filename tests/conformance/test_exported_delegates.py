# SPDX-License-Identifier: BSD-3-Clause
"""Programs exported here for two example backends compute what the model does, on the host and on a board:
several backends in one method, bodies of control flow, dynamic shapes, integers, state, named data."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="exports models")

from rushlight import targets  # noqa: E402
from rushlight.errors import BackendNotFound, ExportFailed  # noqa: E402
from rushlight.export.api import export  # noqa: E402
from rushlight.export.options import MethodSource  # noqa: E402
from rushlight.program import Program, read_data_file, read_program  # noqa: E402
from rushlight.program.model import DelegateCall, KernelCall, Kind  # noqa: E402
from rushlight.run.api import run  # noqa: E402
from rushlight.run.cases import Call, Case  # noqa: E402
from support.example_backends import AffinePartitioner, TapePartitioner  # noqa: E402

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

HERE = Path(__file__).parent
BACKENDS = ";".join(str(HERE / name) for name in ("affine", "tape"))
X = torch.tensor([[1.0, 2.0, 3.0], [-4.0, 5.0, -6.0]])
PARTITIONERS = (
    AffinePartitioner("bias-", inside=1),
    TapePartitioner(torch.float32, 2, 3),
    TapePartitioner(torch.float32, None, 3),
    TapePartitioner(torch.int64, 2, 3),
)


class Several(torch.nn.Module):
    """Two parts for Affine, one of them with a relu; two for Tape, and an operator for none."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.tensor([2.0, 3.0, -1.0]))
        self.register_buffer("bias", torch.tensor([10.0, -20.0, 0.5]))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        first = torch.relu(x * self.scale + self.bias)
        second = first * self.bias + self.scale
        between = torch.sigmoid(second - x * 3)
        return between + second * 2, first - between


class Branch(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: -x + 2, lambda x: x.abs() * 2 - 3, (x,)) * x


class Dynamic(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        product = x * y
        return product - 2 * x + x.shape[0], product.sum(0)


class Integers(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * 3_000_000_000 - 1) * x


class State(torch.nn.Module):
    """The delegate computes the new value of the buffer, the program stores it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(2, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x * 2)
        return self.total - x


BATCH = torch.export.Dim("batch", min=2, max=8)
SOURCES = {
    "several": MethodSource(Several(), (X,)),
    "branch": MethodSource(Branch(), (X,)),
    "dynamic": MethodSource(Dynamic(), (X, X + 1), dynamic_shapes=({0: BATCH}, {0: BATCH})),
    "integers": MethodSource(Integers(), (X.long(),)),
    "state": MethodSource(State(), (X,)),
}
CALLS = {
    "several": [(X,)],
    "branch": [(X,), (-X,)],
    "dynamic": [(X, X + 1), (torch.randn(8, 3), torch.randn(8, 3)), (torch.randn(3, 3), torch.randn(3, 3))],
    "integers": [(X.long(),)],
    "state": [(X,), (X + 1,), (X - 2,)],
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("delegates") / "model.pte"
    export(SOURCES, partitioner=PARTITIONERS).save(path)
    return path


def case(model: Path) -> Case:
    calls = []
    for method, of_method in CALLS.items():
        module = type(SOURCES[method].module)()  # with its initial state
        for inputs in of_method:
            outputs = module(*inputs)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            calls.append(Call(method, [x.numpy() for x in inputs], [y.clone().numpy() for y in outputs]))
    return Case("delegates", 1e-5, calls, data_files=(model.with_suffix(".ptd"),))


def backends(program: Program, method: str) -> list[str]:
    plan = program.method(method)
    return [plan.delegates[i.delegate].id for i in plan.instructions if isinstance(i, DelegateCall)]


def test_each_part_is_a_delegate_of_its_backend(model: Path) -> None:
    program = read_program(model)
    assert sorted(backends(program, "several")) == ["Affine", "Affine", "Tape", "Tape"]
    assert backends(program, "branch") == ["Tape"] * 3
    assert [backends(program, name) for name in ("dynamic", "integers", "state")] == [["Tape"]] * 3
    [call] = [i for i in program.method("dynamic").instructions if isinstance(i, DelegateCall)]
    kinds = [program.method("dynamic").values[index].kind for index in call.arguments]
    assert kinds.count(Kind.INT) == 1 and kinds[-2:] == [Kind.TENSOR] * 2  # a size among the inputs
    kernels = [i for i in program.method("several").instructions if isinstance(i, KernelCall)]
    assert [program.method("several").operators[i.operator] for i in kernels] == ["aten::sigmoid.out"]


def test_named_data_is_stored_once_for_all_that_share_it(model: Path) -> None:
    program = read_program(model)
    named = dict(program.named_data)
    tapes = [key for key in named if key.startswith("tape-")]
    assert sorted(key for key in named if key not in tapes) == ["bias-0"]
    assert read_data_file(model.with_suffix(".ptd").read_bytes()).keys() == ("bias-1",)
    # Tapes with the constant 2 are in three methods.
    assert len({named[key] for key in tapes}) == len(tapes)
    assert len(tapes) < [delegate.id for plan in program.plans for delegate in plan.delegates].count("Tape")


def test_without_its_backends_the_program_is_refused_by_their_names(model: Path) -> None:
    with pytest.raises(BackendNotFound, match="'Affine'"):
        run(model, case(model))


@pytest.mark.parametrize("name", ["host", "cortex-m4"])
def test_the_delegates_compute_what_the_model_does(name: str, model: Path, tmp_path: Path) -> None:
    if missing := targets.get(name).requirements():
        pytest.skip(f"{name}: missing " + ", ".join(item.name for item in missing))
    outcome = run(
        model, case(model), target=name, build_folder=tmp_path, defines={"RUSHLIGHT_BACKENDS": BACKENDS}
    )
    failed = [(call.method, call.comparison.reason) for call in outcome.calls if not call.comparison.passed]
    assert failed == [] and len(outcome.calls) == 10


def test_named_data_of_two_methods_must_agree() -> None:
    class Other(Several):
        def __init__(self) -> None:
            super().__init__()
            self.bias += 1

    sources = {"a": MethodSource(Several(), (X,)), "b": MethodSource(Other(), (X,))}
    with pytest.raises(ExportFailed, match="'bias-0'"):
        export(sources, partitioner=AffinePartitioner("bias-"))
