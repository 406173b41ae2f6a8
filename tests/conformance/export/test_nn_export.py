# SPDX-License-Identifier: BSD-3-Clause
"""Every testable module class of torch.nn: exported, run here, and on the official runtime."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from support.export.entries import judge_class  # noqa: E402
from support.export.exported import load_misses  # noqa: E402
from support.export.nn_modules import class_names  # noqa: E402
from support.samples import sampled  # noqa: E402

MISSES = Path(__file__).with_name("misses.yaml")

pytestmark = pytest.mark.conformance


@functools.cache
def misses() -> dict[str, dict[str, str]]:
    """Reasons by class: `nn`, and for the official runtime `nn_official`."""
    return load_misses(MISSES)


# Continuous integration takes half of the classes.
@pytest.mark.parametrize("name", sampled(class_names(), 2))
def test_a_module_runs_as_pytorch_computes_it(name: str) -> None:
    reason, official = misses()["nn"].get(name), misses()["nn_official"].get(name)
    verdict = judge_class(name, 2)
    if reason is not None:
        assert not verdict.passed, f"{name} passes now: misses.yaml says {reason}"
        return
    assert verdict.passed, f"{verdict.verdict}: {verdict.reason}"
    if official is not None:
        assert verdict.official, f"{name} is right on the official runtime: misses.yaml says {official}"
    else:
        assert not verdict.official, f"on the official runtime: {verdict.official}"


def test_only_classes_are_named() -> None:
    assert (misses()["nn"].keys() | misses()["nn_official"].keys()) <= set(class_names())
