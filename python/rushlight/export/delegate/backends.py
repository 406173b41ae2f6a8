# SPDX-License-Identifier: BSD-3-Clause
"""Finds the class of a backend by its id and calls its `preprocess`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torch.export import ExportedProgram

from rushlight.errors import DelegationFailed
from rushlight.export.delegate.copies import copy_program
from rushlight.export.delegate.cut import Part
from rushlight.export.delegate.failure import describe
from rushlight.export.delegate.interface import BackendDetails
from rushlight.export.delegate.lowered import LoweredBackendModule
from rushlight.export.delegate.sizes import sizes_stay


def _subclasses(base: type[Any]) -> Iterator[type[Any]]:
    cls: type[Any]
    for cls in base.__subclasses__():
        yield cls
        yield from _subclasses(cls)


def known_backends() -> dict[str, Any]:
    """The backends by id: all subclasses of `BackendDetails`, and of the official package's class of that
    name if the process has imported it. The last class of a name wins."""
    official = sys.modules.get("executorch.exir.backend.backend_details")
    bases = [BackendDetails] if official is None else [official.BackendDetails, BackendDetails]
    return {cls.__name__: cls for base in bases for cls in _subclasses(base)}


def find_backend(backend_id: str, tag: str | None = None) -> Any:
    """The class of a backend. Errors: DelegationFailed, which lists the known ids."""
    known = known_backends()
    if backend_id not in known:
        raise DelegationFailed(
            f"backend '{backend_id}': expected one of {', '.join(sorted(known)) or 'none'}, got another id",
            tag=tag,
            backend=backend_id,
            next_step="Import the module with its BackendDetails class; the class's name is the id.",
        )
    return known[backend_id]


def _copied(backend: Any, program: ExportedProgram, specs: Sequence[Any]) -> ExportedProgram:
    """The program to pass to `preprocess`. Our copy shares the weights; the official classes' own method
    would copy them."""
    own = isinstance(backend, type) and issubclass(backend, BackendDetails)
    if not own:
        return copy_program(program)
    copied: ExportedProgram = backend.copy_exported_program_for_preprocess(program, list(specs))
    return copied


def lower(parts: Mapping[str, Sequence[Part]]) -> dict[int, LoweredBackendModule]:
    """Lowers the parts of all methods, all parts of a backend in one call. Returns the lowered modules by
    `id()` of the part. Errors: DelegationFailed if a backend is unknown or its `preprocess` fails."""
    by_backend: dict[str, dict[str, list[Part]]] = {}
    for method, found in parts.items():
        for part in found:
            find_backend(part.spec.backend_id, part.tag)
            by_backend.setdefault(part.spec.backend_id, {}).setdefault(method, []).append(part)
    lowered = {}
    for backend_id, of_backend in by_backend.items():
        results = _preprocess(backend_id, of_backend)
        for method, of_method in of_backend.items():
            for part, result in zip(of_method, results[method], strict=True):
                lowered[id(part)] = lowered_module(
                    backend_id, part.program, part.spec.compile_specs, result, part.tag
                )
    return lowered


def _preprocess(backend_id: str, parts: Mapping[str, Sequence[Part]]) -> Mapping[str, Sequence[Any]]:
    backend = find_backend(backend_id)
    if not _shares_among_methods(backend):
        return {method: [_one(backend, part) for part in found] for method, found in parts.items()}
    specs = {method: [list(part.spec.compile_specs) for part in found] for method, found in parts.items()}
    programs = {
        method: [_copied(backend, part.program, part.spec.compile_specs) for part in found]
        for method, found in parts.items()
    }
    flat = [part for found in parts.values() for part in found]
    try:
        results: Mapping[str, Sequence[Any]] = backend.preprocess_multimethod(programs, specs)
    except Exception as error:
        raise _failed(backend_id, flat, f"{type(error).__name__}: {error}") from error
    for method, found in parts.items():
        count = len(results.get(method, ()))
        if count != len(found):
            raise _failed(
                backend_id, flat, f"expected {len(found)} results for method '{method}', got {count}"
            )
    return results


def _shares_among_methods(backend: Any) -> bool:
    """True if the class overrides `preprocess_multimethod`."""
    name = "preprocess_multimethod"
    owner = next((cls for cls in backend.__mro__ if name in vars(cls)), None)
    return owner is not None and owner.__name__ != BackendDetails.__name__


def _one(backend: Any, part: Part) -> Any:
    specs = list(part.spec.compile_specs)
    who = f"backend '{part.spec.backend_id}'"
    try:
        with sizes_stay(part.program, who, tag=part.tag, backend=part.spec.backend_id):
            return backend.preprocess(_copied(backend, part.program, specs), specs)
    except DelegationFailed:
        raise
    except Exception as error:
        raise _failed(part.spec.backend_id, [part], f"{type(error).__name__}: {error}") from error


def _failed(backend_id: str, parts: Sequence[Part], why: str) -> DelegationFailed:
    tags = ", ".join(f"'{part.tag}'" for part in parts)
    return DelegationFailed(
        f"backend '{backend_id}' failed on {tags}: {why}",
        tag=parts[0].tag if len(parts) == 1 else None,
        backend=backend_id,
        nodes=describe(node for part in parts for node in part.nodes),
    )


def lowered_module(
    backend_id: str, program: ExportedProgram, specs: Sequence[Any], result: Any, tag: str | None = None
) -> LoweredBackendModule:
    """Wraps the result of `preprocess` in a module. Errors: DelegationFailed if it is no PreprocessResult."""
    payload = getattr(result, "processed_bytes", None)
    if not isinstance(payload, (bytes, bytearray, memoryview)):
        raise DelegationFailed(
            f"backend '{backend_id}': expected a PreprocessResult with processed_bytes, got "
            f"{type(result).__name__}",
            tag=tag,
            backend=backend_id,
        )
    store = getattr(result, "data_store_output", None)
    lowered = LoweredBackendModule(program, backend_id, bytes(payload), list(specs), store)
    lowered.meta["debug_handle_map"] = getattr(result, "debug_handle_map", None)
    if getattr(result, "_delegate_info_meta", None) is not None:
        lowered.meta["_delegate_info_meta"] = result._delegate_info_meta
    return lowered
