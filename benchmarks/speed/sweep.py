# SPDX-License-Identifier: BSD-3-Clause
"""Times every operator in every dtype beside PyTorch's eager mode, and lists the worst ratios first.

The samples of PyTorch's OpInfo database make the calls. They get large by larger constants, of which the
database builds its shapes; pointwise calls are repeated along a new dimension, and others along one of their
dimensions if PyTorch takes them so. An operator without a call of MIN_ELEMENTS elements is not timed.

Both sides run in this process on one thread. A program repeats a call, so that starting it takes little of
the time. Eager mode has the faster of two calls: of the operator that returns a new tensor, and of its out
overload. Results are the least CPU time of rounds in which both sides alternate.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from machine import cpu, cpu_title
from results import geometric_mean
from rich.console import Console
from torch.utils._pytree import tree_leaves

import rushlight
from rushlight import errors
from rushlight.runtime.info import runtime_info
from support.calls_program import CallsProgram, problem
from support.opinfo.matching import Rows
from support.opinfo.pairs import Pair, all_pairs, decompositions, samples
from support.opinfo.recording import RecordedCall
from support.opinfo.replay import Watch, arguments_of

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64")
MIN_ELEMENTS = 10_000
POINTWISE_ELEMENTS = 1 << 16
MOST_ELEMENTS = 1 << 21
# Values of the database's constants for the sizes of shapes; by default they are from 3 to 20.
SIZES = {"XS": 6, "S": 32, "M": 36, "L": 48}
USELESS = 8
SECONDS_EACH = 2.0
ROUND_SECONDS = 2e-3
ROUNDS = 5
MOST_REPEATS = 64
SLOW_SECONDS = 0.1  # such calls take one round
WORST = 60


@dataclass(frozen=True)
class Sweep:
    """An operator in a dtype: the timed call, and seconds of each side. `failure` says why there are none."""

    operator: str
    dtype: str
    call: str
    elements: int
    ours: float = 0.0
    eager: float = 0.0
    failure: str = ""

    @property
    def ratio(self) -> float:
        """Our time over eager mode's; 0 if the call was not timed."""
        return self.ours / self.eager if self.eager else 0.0


class _Largest(Watch):
    """Keeps one call of each row and dtype: the first of MIN_ELEMENTS elements, else the largest.

    Attributes:
        news: counts the calls that were kept.
    """

    def __init__(self, rows: Rows, operators: Sequence[str]) -> None:
        super().__init__(rows, decompositions())
        self.news = 0
        self._operators = operators
        self._taken: set[tuple[str, str]] = set()
        self._kept: dict[tuple[str, str], RecordedCall] = {}

    def take(self, elements: int) -> list[RecordedCall]:
        """The kept calls with at least this number of elements, which then are never kept again."""
        taken = {key: call for key, call in self._kept.items() if elements_of(call) >= elements}
        self._taken |= taken.keys()
        for key in taken:
            del self._kept[key]
        return list(taken.values())

    def make_call(self, row: str, given: dict[str, Any], expected: list[torch.Tensor], function: Any) -> None:
        """See Watch."""
        key = (row, _dtype_of(given, expected))
        kept = self._kept.get(key)
        if key in self._taken or (kept is not None and elements_of(kept) >= MIN_ELEMENTS):
            return
        if self._operators and not any(name in row for name in self._operators):
            return
        if "pointwise" in self.rows.traits(row):
            given, expected = _repeated(given, expected)
        if max(_sizes([given, expected]), default=0) < MIN_ELEMENTS:
            given, expected = _grown(given, expected, function)
        arguments, outs = arguments_of(self.rows, row, given, expected)
        schema = self.rows.overloads[row]._schema
        call = RecordedCall(row, schema, function, given, arguments, outs, expected)
        larger = kept is None or elements_of(call) > elements_of(kept)
        if larger and elements_of(call) <= MOST_ELEMENTS:
            self._kept[key] = call
            self.news += 1


def _grown(
    given: dict[str, Any], expected: list[torch.Tensor], function: Any
) -> tuple[dict[str, Any], list[torch.Tensor]]:
    """A call with tensors repeated along one dimension, if PyTorch takes one: all tensors, or the first one
    alone; along their first dimension, or the last."""
    count = -(-2 * MIN_ELEMENTS // max([1, *_sizes([given, expected])]))
    names = [name for name, value in given.items() if isinstance(value, torch.Tensor) and value.dim() > 0]
    arguments = function._schema.arguments
    if not 1 < count <= 2 * MIN_ELEMENTS or any(a.name not in given for a in arguments):
        return given, expected
    for chosen, last in itertools.product((names, names[:1]), (False, True)):
        grown = dict(given)
        for name in chosen:
            value = given[name]
            ones = [1] * (value.dim() - 1)
            grown[name] = value.repeat(*ones, count) if last else value.repeat(count, *ones)
        # PyTorch raises errors of many classes for arguments that do not fit.
        with contextlib.suppress(Exception):
            # In-place operators write to copies.
            copied = {name: v.clone() if isinstance(v, torch.Tensor) else v for name, v in grown.items()}
            result = function(
                *[copied[a.name] for a in arguments if not a.kwarg_only],
                **{a.name: copied[a.name] for a in arguments if a.kwarg_only},
            )
            results = list(result) if isinstance(result, (tuple, list)) else [result]
            if MIN_ELEMENTS <= max(_sizes([grown, results])) <= MOST_ELEMENTS:
                return grown, [value.clone() for value in results]
    return given, expected


def _sizes(values: Any) -> list[int]:
    """Numbers of elements of all tensors in nested values."""
    return [leaf.numel() for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def elements_of(call: RecordedCall) -> int:
    """The elements of the largest tensor of a call."""
    return max(_sizes(call.arguments), default=0)


def _dtype_of(given: dict[str, Any], expected: Sequence[torch.Tensor]) -> str:
    """The dtype of the first argument that is a tensor, or a list of tensors."""
    values = itertools.chain(given.values(), expected)
    flat = (each for value in values for each in (value if isinstance(value, (list, tuple)) else [value]))
    first = next((each for each in flat if isinstance(each, torch.Tensor)), None)
    return str(getattr(first, "dtype", None)).removeprefix("torch.")


def _repeated(
    given: dict[str, Any], expected: list[torch.Tensor]
) -> tuple[dict[str, Any], list[torch.Tensor]]:
    """A pointwise call, repeated along a new first dimension. Operands that broadcast are not."""
    shape = expected[0].shape
    count = -(-POINTWISE_ELEMENTS // max(expected[0].numel(), 1))
    if count == 1 or len(shape) >= 8 or any(value.shape != shape for value in expected):
        return given, expected

    def repeat(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.dim() < len(shape):
            return value
        return value.repeat(count, *[1] * len(shape)) if value.shape == shape else value.unsqueeze(0)

    if not shape:  # operands of rank 0 stay scalars beside one that is repeated
        first = next((name for name, value in given.items() if isinstance(value, torch.Tensor)), None)
        given = {name: repeat(value) if name == first else value for name, value in given.items()}
    else:
        given = {name: repeat(value) for name, value in given.items()}
    return given, [repeat(value) for value in expected]


@contextlib.contextmanager
def _large_samples() -> Iterator[None]:
    """Gives the sizes of SIZES to all modules of PyTorch's database."""
    all_pairs()  # imports them
    with contextlib.ExitStack() as stack:
        for name, module in list(sys.modules.items()):
            if name.startswith("torch.testing._internal"):
                for constant, size in SIZES.items():
                    if isinstance(getattr(module, constant, None), int):
                        stack.enter_context(mock.patch.object(module, constant, size))
        yield


def calls_of(
    dtypes: Sequence[str], operators: Sequence[str], tell: Callable[[str], None]
) -> Iterator[RecordedCall]:
    """One call of each operator of the table in each dtype; `operators` selects some by parts of names. Calls
    of fewer than MIN_ELEMENTS elements come last, of operators that have no larger ones."""
    rows = Rows(runtime_info()["operators"])
    watch = _Largest(rows, operators)
    pairs = [pair for pair in all_pairs() if pair.dtype_name in dtypes]
    torch.default_generator.manual_seed(0)
    for number, pair in enumerate(pairs):
        tell(f"{number} of {len(pairs)}: {pair}")
        with warnings.catch_warnings(), _large_samples():
            warnings.simplefilter("ignore")
            _run(pair, watch)
        yield from watch.take(MIN_ELEMENTS)
    yield from watch.take(0)


def _run(pair: Pair, watch: _Largest) -> None:
    """Runs samples of a pair until its time is over, or until several in a row bring nothing new."""
    end = time.monotonic() + SECONDS_EACH
    drawn, useless = samples(pair), 0
    while time.monotonic() < end and useless < USELESS:
        # PyTorch raises errors of many classes for shapes that its authors did not foresee.
        with contextlib.suppress(Exception):
            sample = next(drawn, None)
            if sample is None:
                return
            before = watch.news
            with watch:
                pair.info(sample.input, *sample.args, **sample.kwargs)
            useless = 0 if watch.news > before else useless + 1
            continue
        return


def time_call(call: RecordedCall) -> Sweep:
    """Times a call on both sides."""
    described = Sweep(call.row, _dtype_of(call.given, call.expected), str(call), elements_of(call))
    if described.elements < MIN_ELEMENTS:
        return replace(described, failure=f"no sample of {MIN_ELEMENTS:,} elements")
    try:
        ours, outs = _ours(call)
    except (errors.RushlightError, TypeError, ValueError, RuntimeError) as error:
        return replace(described, failure=" ".join(str(error).split())[:200])
    if wrong := problem(call, outs):
        return replace(described, failure="differs: " + wrong[:200])
    theirs = _eager(call)
    if not theirs:
        return replace(described, failure="PyTorch refuses to repeat the call")
    timers = [ours, *theirs]
    least = [run() for run in timers]
    if max(least) < SLOW_SECONDS:
        for index, run in [*enumerate(timers)] * (ROUNDS - 1):
            least[index] = min(least[index], run())
    return replace(described, ours=least[0], eager=min(least[1:]))


Timer = Callable[[], float]
"""Runs a round; returns the seconds of one call."""


def _ours(call: RecordedCall) -> tuple[Timer, list[torch.Tensor]]:
    """A timer of a program of repeated calls, and the call's results."""
    method = _method(call, 1)
    outs = method.execute(call.tensors)
    seconds = _seconds(lambda: method.execute(None, outputs="writable"), 1)
    repeats = min(max(1, round(ROUND_SECONDS / 8 / seconds)), MOST_REPEATS)
    if repeats > 1:
        method = _method(call, repeats)
        method.execute(call.tensors, outputs="writable")
    return _timer(lambda: method.execute(None, outputs="writable"), repeats), outs


def _method(call: RecordedCall, repeats: int) -> Any:
    return rushlight.load(CallsProgram([call], repeats).file(), threads=1).load_method("forward")


def _eager(call: RecordedCall) -> list[Timer]:
    """Timers of the calls with the same results that PyTorch can repeat."""
    found = []
    overload = getattr(torch.ops.aten, call.schema.name.removeprefix("aten::"))
    overload = getattr(overload, call.schema.overload_name or "default")
    for function, values in [
        (overload, dict(zip((a.name for a in call.schema.arguments), call.arguments, strict=True))),
        (call.function, call.given),
    ]:
        schema = function._schema
        aliases = [each for each in (*schema.arguments, *schema.returns) if each.alias_info is not None]
        if function is call.function and aliases:
            continue  # a view, or a call that would compute with its own results
        if any(a.name not in values and not a.has_default_value() for a in schema.arguments):
            continue
        given = [a for a in schema.arguments if a.name in values]
        args = [values[a.name] for a in given if not a.kwarg_only]
        kwargs = {a.name: values[a.name] for a in given if a.kwarg_only}

        def run(function: Any = function, args: Any = args, kwargs: Any = kwargs) -> None:
            function(*args, **kwargs)

        with contextlib.suppress(Exception), torch.inference_mode():
            run()
            found.append(_timer(run, 1))
    return found


def _timer(run: Callable[[], Any], calls: int) -> Timer:
    count = max(1, round(ROUND_SECONDS / (_seconds(run, 1) + 1e-9)))
    return lambda: _seconds(run, count) / calls


def _seconds(run: Callable[[], Any], count: int) -> float:
    """CPU seconds of a run."""
    with torch.inference_mode():
        started = time.thread_time_ns()
        for _ in range(count):
            run()
        return (time.thread_time_ns() - started) / count / 1e9


def sweep(dtypes: Sequence[str], operators: Sequence[str], kept: Path, console: Console) -> list[Sweep]:
    """Times all calls, worst first. Results go to the file `kept` one by one, so that an interrupted sweep
    goes on where it stopped."""
    torch.set_num_threads(1)
    kept.parent.mkdir(parents=True, exist_ok=True)
    done = {}
    if kept.exists():
        for line in kept.read_text().splitlines():
            row = Sweep(**json.loads(line))
            done[row.operator, row.dtype] = row
    found = []
    with console.status("samples") as status, kept.open("a") as file:
        for call in calls_of(dtypes, operators, status.update):
            key = (call.row, _dtype_of(call.given, call.expected))
            if key[1] not in dtypes:
                continue
            row = done.get(key) or time_call(call)
            if key not in done:
                file.write(json.dumps(asdict(row)) + "\n")
                file.flush()
            found.append(row)
    kept.unlink()
    return sorted(found, key=lambda row: -row.ratio)


def to_json(rows: Sequence[Sweep]) -> str:
    """The rows, with their ratios."""
    return json.dumps([{**asdict(row), "ratio": row.ratio} for row in rows], indent=1) + "\n"


def to_markdown(rows: Sequence[Sweep], worst: int = WORST) -> str:
    """A table of the dtypes, and one of the worst ratios."""
    timed = [row for row in rows if row.eager]
    lines = [
        f"{len(timed)} calls of {len({row.operator for row in timed})} operators, one thread, CPU time.",
        "",
        "| dtype | calls | geometric mean of ratios | slower than eager mode | slower than twice |",
        "| --- | --: | --: | --: | --: |",
    ]
    for dtype in dict.fromkeys(row.dtype for row in timed):
        ratios = [row.ratio for row in timed if row.dtype == dtype]
        mean = geometric_mean(ratios) or 0.0
        above = [sum(ratio > limit for ratio in ratios) for limit in (1, 2)]
        lines.append(f"| {dtype} | {len(ratios)} | {mean:.2f}× | {above[0]} | {above[1]} |")
    lines += [
        "",
        f"The {min(worst, len(timed))} worst ratios, our time over eager mode's; times in µs.",
        "",
        "| operator | dtype | elements | rushlight | torch eager | ratio |",
        "| --- | --- | --: | --: | --: | --: |",
    ]
    for row in timed[:worst]:
        name = row.operator.removeprefix("aten::")
        times = f"{row.ours * 1e6:,.1f} | {row.eager * 1e6:,.1f}"
        lines.append(f"| {name} | {row.dtype} | {row.elements:,} | {times} | {row.ratio:.2f}× |")
    return "\n".join([*lines, "", f"- {cpu_title(cpu())}; torch {torch.__version__}.", ""])
