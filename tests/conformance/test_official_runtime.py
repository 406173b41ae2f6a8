# SPDX-License-Identifier: BSD-3-Clause
"""rushlight.runtime compared with executorch.runtime: the same names, the same metadata, the same outputs."""

from __future__ import annotations

import inspect
import io
import warnings
from pathlib import Path
from typing import Any

import pytest

from rushlight import runtime as ours
from rushlight.errors import OperatorNotFound, RushlightError
from rushlight.run.cases import load_case
from rushlight.runtime import official as our_shape
from rushlight.runtime import portable_lib as our_lib

torch = pytest.importorskip("torch", reason="torch is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    theirs = pytest.importorskip("executorch.runtime", reason="executorch is not installed")
    their_lib = pytest.importorskip("executorch.extension.pybindings.portable_lib")
    pytest.importorskip("executorch.extension.llm.custom_ops.custom_ops")  # registers its kernels

INTEROP = Path(__file__).parents[1] / "interop"

# Programs that one of the two runtimes refuses are compared by metadata only.
PROGRAMS = sorted(
    str(path.relative_to(INTEROP))
    for path in INTEROP.glob("*/model.pte")
    if (path.parent / "case.json").is_file() and not (path.parent / "weights.ptd").is_file()
)

# Members of the official classes that ours lack: the values of attributes.
WITHOUT = {"ExecuTorchMethod": {"get_attribute"}}

pytestmark = pytest.mark.conformance


def public(owner: object) -> set[str]:
    return {name for name in dir(owner) if not name.startswith("_")}


def tensors(values: Any, method: Any) -> list[Any]:
    """The inputs of a case as the official runtime takes them: dense in the inputs' dim orders."""

    def convert(value: Any, info: Any) -> Any:
        if not hasattr(value, "dtype"):
            return value
        bits = value.view("int16") if value.dtype.name == "bfloat16" else value
        tensor = torch.from_numpy(bits)
        if tensor.dim():
            order = info.dim_order
            inverse = sorted(range(len(order)), key=order.__getitem__)
            tensor = tensor.permute(order).contiguous().permute(inverse)
        return tensor.view(torch.bfloat16) if bits is not value else tensor

    return [convert(value, info) for value, info in zip(values, method.inputs, strict=True)]


def load_official(name: str) -> Any:
    try:
        return theirs.Runtime.get().load_program(INTEROP / name)
    except RuntimeError as error:
        pytest.skip(f"the official runtime refuses it: {error}")


def same(a: Any, b: Any) -> bool:
    if not isinstance(a, torch.Tensor):
        return type(a) is type(b) and a == b
    if a.dtype != b.dtype or a.shape != b.shape or a.stride() != b.stride():
        return False
    tolerance = 3e-2 if a.element_size() == 2 else 1e-4
    return bool(torch.allclose(a.double(), b.double(), rtol=tolerance, atol=tolerance, equal_nan=True))


def tensor_facts(info: Any) -> tuple[Any, ...]:
    return info.sizes(), info.dtype(), info.nbytes(), info.is_memory_planned(), repr(info)


def meta_facts(meta: Any) -> dict[str, Any]:
    """All properties of a MethodMeta; properties that raise, by the kind of the exception."""

    def each(count: int, function: Any) -> list[Any]:
        facts: list[Any] = []
        for index in range(count + 1):
            try:
                facts.append(tensor_facts(function(index)))
            except IndexError:
                facts.append(IndexError)
        return facts

    return {
        "name": meta.name(),
        "inputs": each(meta.num_inputs(), meta.input_tensor_meta),
        "outputs": each(meta.num_outputs(), meta.output_tensor_meta),
        "attributes": each(meta.num_attributes(), meta.attribute_tensor_meta),
    }


@pytest.mark.parametrize("name", ["Runtime", "Program", "Method", "BackendRegistry", "OperatorRegistry"])
def test_the_classes_have_the_official_names(name: str) -> None:
    for own in (getattr(ours, name), getattr(our_shape, name)):
        assert public(getattr(theirs, name)) - public(own) == WITHOUT.get(name, set())


def test_the_runtime_has_the_official_attributes() -> None:
    assert public(theirs.Runtime.get()) - public(ours.Runtime.get()) == set()
    assert theirs.Verification.__members__.keys() == ours.Verification.__members__.keys()
    for name, member in theirs.Verification.__members__.items():
        assert ours.Verification[name].value == member.value


@pytest.mark.parametrize(
    "name", ["ExecuTorchModule", "ExecuTorchProgram", "ExecuTorchMethod", "MethodMeta", "TensorInfo"]
)
def test_the_classes_of_portable_lib_have_the_official_names(name: str) -> None:
    assert public(getattr(their_lib, name)) - public(getattr(our_lib, name)) == WITHOUT.get(name, set())


def test_parameters_have_the_official_names_and_order() -> None:
    for owner, method in [("Method", "execute"), ("Program", "load_method"), ("Program", "metadata")]:
        official = list(inspect.signature(getattr(getattr(theirs, owner), method)).parameters)
        for own_class in (getattr(ours, owner), getattr(our_shape, owner)):
            own = list(inspect.signature(getattr(own_class, method)).parameters)
            assert own[: len(official)] == official
    official = inspect.signature(theirs.Runtime.load_program).parameters
    own = inspect.signature(ours.Runtime.load_program).parameters
    assert set(official) <= set(own)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_metadata_is_the_official(name: str) -> None:
    official = load_official(name)
    program = ours.Runtime.get().load_program(INTEROP / name)
    assert program.method_names == official.method_names
    for method in official.method_names:
        expected, got = official.metadata(method), program.metadata(method)
        assert meta_facts(got) == meta_facts(expected)
        try:
            text = repr(expected)
        except IndexError:  # the official runtime describes only methods with tensor inputs
            continue
        assert repr(got) == text


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_outputs_are_the_official(name: str) -> None:
    case = load_case((INTEROP / name).parent / "case.json")
    try:
        program = ours.Runtime.get().load_program(INTEROP / name)
        for call in case.calls:
            program.load_method(call.method)
    except OperatorNotFound as error:
        pytest.skip(f"this build does not have {', '.join(error.operators)}")
    official = load_official(name)
    for call in case.calls:
        inputs = tensors(call.inputs, program.load_method(call.method))
        try:
            expected = official.load_method(call.method).execute(inputs)
        except RuntimeError as error:
            pytest.skip(f"the official runtime refuses it: {error}")
        got = program.load_method(call.method).execute(inputs)
        assert len(got) == len(expected)
        if any(isinstance(value, torch.Tensor) for value in inputs):
            assert all(same(a, b) for a, b in zip(expected, got, strict=True)), (expected, got)


def test_a_method_is_loaded_once_as_officially() -> None:
    for runtime in (theirs.Runtime.get(), ours.Runtime.get()):
        program = runtime.load_program(INTEROP / "f64_add" / "model.pte")
        if (
            runtime is not theirs.Runtime.get()
            and "aten::add.out" not in runtime.operator_registry.operator_names
        ):
            pytest.skip("this build does not have aten::add.out")
        assert program.load_method("forward") is program.load_method("forward")


def test_every_kind_of_source_is_taken_as_officially() -> None:
    path = INTEROP / "multi_method" / "model.pte"
    data = path.read_bytes()
    for runtime in (theirs.Runtime.get(), ours.Runtime.get()):
        for source in (path, str(path), data, bytearray(data), io.BytesIO(data)):
            program = runtime.load_program(source)
            assert program.load_method("get_name").execute([]) == ["hello"]
            assert program.load_method("get_vocab").execute(()) == [123]
        with pytest.raises(TypeError):
            runtime.load_program(3)


@pytest.mark.parametrize("wrong", ["few", "many", "shape", "dtype", "kind"])
def test_what_is_refused_officially_is_refused(wrong: str) -> None:
    one = torch.ones(2, 4)
    inputs: list[Any] = {
        "few": [],
        "many": [one, one],
        "shape": [torch.ones(3, 4)],
        "dtype": [one.double()],
        "kind": [None],
    }[wrong]
    for runtime, error in ((theirs.Runtime.get(), RuntimeError), (ours.Runtime.get(), RushlightError)):
        program = runtime.load_program(INTEROP / "multi_method" / "model.pte")
        try:
            method = program.load_method("encode")
        except OperatorNotFound as missing:
            pytest.skip(f"this build does not have {', '.join(missing.operators)}")
        with pytest.raises(error):
            method.execute(inputs)


def test_portable_lib_runs_methods_as_officially() -> None:
    path = INTEROP / "multi_method" / "model.pte"
    x = torch.randn(2, 4)
    results = []
    for lib in (their_lib, our_lib):
        module = lib._load_for_executorch(str(path))
        try:
            outputs = [
                *module.run_method("encode", [x]),
                *module.plan_execute("encode"),
                # The official runtime does not keep the memory of such an output.
                *[out.clone() for out in module.run_method("encode", (x,), clone_outputs=False)],
                *lib._load_for_executorch_from_buffer(path.read_bytes()).run_method("encode", [x]),
            ]
            program = lib._load_program(str(path))
            method = program.load_method("encode")
            method.set_inputs([x])
            method.execute()
            outputs += [*method.get_outputs(), *method.call([x]), *method([x])]
        except OperatorNotFound as missing:
            pytest.skip(f"this build does not have {', '.join(missing.operators)}")
        names = set(module.method_names())  # the official order is that of a hash table
        assert {program.get_method_name(i) for i in range(program.num_methods())} == names
        assert method.method_meta().name() == "encode" and not module.has_etdump()
        results.append((names, outputs, meta_facts(module.method_meta("encode"))))
    (names, expected, meta), (our_names, got, our_meta) = results
    assert (our_names, our_meta) == (names, meta)
    assert len(got) == 7 and all(same(a, b) for a, b in zip(expected, got, strict=True))


def test_forward_is_called_through_the_module() -> None:
    x = torch.ones(4, 6, dtype=torch.float64)
    for lib in (their_lib, our_lib):
        module = lib._load_for_executorch(str(INTEROP / "f64_add" / "model.pte"))
        try:
            assert torch.equal(module.forward([x, x])[0], x + x)
            assert torch.equal(module([x, x])[0], x + x)
        except OperatorNotFound as missing:
            pytest.skip(f"this build does not have {', '.join(missing.operators)}")


def test_external_data_is_given_as_officially() -> None:
    folder = INTEROP / "external_ptd"
    [call, *_] = load_case(folder / "case.json").calls
    results = []
    for runtime in (theirs.Runtime.get(), ours.Runtime.get()):
        program = runtime.load_program(folder / "model.pte", data_path=folder / "weights.ptd")
        try:
            method = program.load_method(call.method)
        except OperatorNotFound as missing:
            pytest.skip(f"this build does not have {', '.join(missing.operators)}")
        results.append(method.execute([torch.from_numpy(value) for value in call.inputs]))
    model, weights = (folder / "model.pte").read_bytes(), (folder / "weights.ptd").read_bytes()
    inputs = [torch.from_numpy(value) for value in call.inputs]
    for lib in (their_lib, our_lib):
        results.append(
            lib._load_for_executorch(str(folder / "model.pte"), str(folder / "weights.ptd"))(inputs)
        )
        results.append(lib._load_for_executorch_from_buffer(model, weights).forward(inputs))
    for result in results[1:]:
        assert all(same(a, b) for a, b in zip(results[0], result, strict=True))


def test_the_registries_are_shaped_as_officially() -> None:
    for runtime, lib in ((theirs.Runtime.get(), their_lib), (ours.Runtime.get(), our_lib)):
        assert isinstance(runtime.operator_registry.operator_names, set)
        assert isinstance(runtime.backend_registry.registered_backend_names, list)
        assert runtime.backend_registry.is_available("NoSuchBackend") is False
        assert set(lib._get_operator_names()) == runtime.operator_registry.operator_names
        assert lib._get_registered_backend_names() == runtime.backend_registry.registered_backend_names
        assert lib._is_available("NoSuchBackend") is False
