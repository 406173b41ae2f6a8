# SPDX-License-Identifier: BSD-3-Clause
"""Every error that a user can meet: what happened, what to do next, and the exit code of the command line.

The first sentence of a class's docstring is the meaning of its exit code. The command line also exits with 2
for a wrong command line and 130 after Ctrl-C.
"""

from __future__ import annotations

import difflib
import errno
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rushlight.printable import printable


def _listing(names: Iterable[str], limit: int = 12) -> str:
    """The names with commas between them; after `limit` names, the number of the others."""
    names = list(names)
    shown = ", ".join(names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown or "none"


def _near(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Up to `count` of the `known` names that resemble `name`, the best first."""
    return difflib.get_close_matches(name, list(known), n=count, cutoff=0.6)


def near_operators(name: str, known: Iterable[str]) -> list[str]:
    """Operators that resemble `name`, in any namespace and overload; at most three."""

    def base(full: str) -> str:
        return full.split("::")[-1].split(".")[0].strip("_")

    by_base: dict[str, list[str]] = {}
    for full in known:
        by_base.setdefault(base(full), []).append(full)
    close = difflib.get_close_matches(base(name), by_base, n=3, cutoff=0.75)
    return [full for match in close for full in sorted(by_base[match])][:3]


class RushlightError(Exception):
    """Any other failure.

    The base of all errors. `str()` says what happened, and `next_step` what to do about it; hidden characters
    of names are escapes in both. `instruction` is the index of the instruction that failed, if a method was
    running, and `source` its line of the model ("model.py:12: ..."), if a debug record has it.
    """

    exit_code = 1
    default_next_step = "Run again with -v for details; if the cause stays unclear, report the problem."
    instruction: int | None = None
    source: str = ""

    def __init__(self, message: str, *, next_step: str | None = None) -> None:
        self.message = printable(message)
        super().__init__(self.message)
        self.next_step = printable(self.default_next_step if next_step is None else next_step)

    def to_data(self) -> dict[str, Any]:
        """The error as JSON values, for `from_data` in another process."""
        return {"kind": type(self).__name__, **vars(self)}

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> RushlightError:
        """The error that `to_data` was called on. Error: ValueError for an unknown class."""
        kind = globals().get(data["kind"])
        if not (isinstance(kind, type) and issubclass(kind, RushlightError)):
            raise ValueError(f"no error is called {data['kind']!r}")
        error = kind.__new__(kind)
        RushlightError.__init__(error, data["message"], next_step=data["next_step"])
        vars(error).update((name, value) for name, value in data.items() if name != "kind")
        return error

    def tell_source(self, source: str) -> None:
        """Adds the model's source line of the instruction that failed."""
        self.source = source
        self.message += printable(f"\n  instruction {self.instruction} is from {source}")
        self.args = (self.message,)


class InvalidProgram(RushlightError):
    """The file is not a program that rushlight can read, or it is damaged."""

    exit_code = 10
    default_next_step = "Export the model again, or check that the file was copied whole."


class InvalidArgument(RushlightError):
    """A value from the caller has the wrong count, shape, dtype or spelling.

    For an input of a method, `input` is its index, and `expected_dtype`, `got_dtype` (names) or
    `expected_shape`, `got_shape` are set if they differ. `operator` is the operator that refused its
    arguments. All are None otherwise. `unsupported_dtype` is True if a kernel does not compute the dtype, or
    this build leaves it out.
    """

    exit_code = 11
    default_next_step = "Correct the value that the message names."
    unsupported_dtype = False

    def __init__(
        self,
        message: str,
        *,
        next_step: str | None = None,
        input: int | None = None,
        operator: str | None = None,
        expected_dtype: str | None = None,
        got_dtype: str | None = None,
        expected_shape: Sequence[int] | None = None,
        got_shape: Sequence[int] | None = None,
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.input = input
        self.operator = operator
        self.expected_dtype = expected_dtype
        self.got_dtype = got_dtype
        self.expected_shape = None if expected_shape is None else tuple(expected_shape)
        self.got_shape = None if got_shape is None else tuple(got_shape)

    def tell_unsupported_dtype(self) -> None:
        """Sets `unsupported_dtype` and the next step for it."""
        self.unsupported_dtype = True
        self.next_step = "Build with all dtypes, or export the model with one that it has."


class MethodNotFound(RushlightError):
    """The program has no method of that name."""

    exit_code = 12

    def __init__(self, method: str, available: Sequence[str]) -> None:
        super().__init__(
            f"method '{method}' not found; the program has: {_listing(available)}",
            next_step="Name one of the program's methods.",
        )
        self.method = method
        self.available = list(available)


class OperatorNotFound(RushlightError):
    """A program needs operators that no kernel library has.

    `requested` maps each missing operator to the models and lists that asked for it; `near` has similar names
    among the `known` operators.
    """

    exit_code = 13

    def __init__(
        self, requested: Mapping[str, Iterable[str]], libraries: Sequence[str], known: Iterable[str] = ()
    ) -> None:
        known = list(known)
        self.requested = {name: sorted(set(askers)) for name, askers in sorted(requested.items())}
        self.near = {name: near_operators(name, known) for name in self.requested}
        lines = [f"no kernel library has these operators (libraries: {_listing(libraries)}):"]
        for name, askers in self.requested.items():
            hint = f"; did you mean {' or '.join(self.near[name])}?" if self.near[name] else ""
            lines.append(f"  {name}, asked for by {_listing(askers)}{hint}")
        super().__init__(
            "\n".join(lines),
            next_step="Correct the name, export the model without the operator, or add a kernel for it.",
        )

    @property
    def operators(self) -> list[str]:
        """The names of the missing operators, sorted."""
        return list(self.requested)

    @classmethod
    def from_report(cls, report: str, *, next_step: str | None = None) -> OperatorNotFound:
        """The error with the message of another process, without `requested` and `near`."""
        error = cls({}, [])
        RushlightError.__init__(error, report, next_step=error.next_step if next_step is None else next_step)
        return error


class BackendNotFound(RushlightError):
    """The program delegates to backends that this build does not have.

    `backends` has all their ids, `backend` the first."""

    exit_code = 14

    def __init__(self, backends: str | Sequence[str], available: Sequence[str]) -> None:
        self.backends = [backends] if isinstance(backends, str) else list(backends)
        self.backend = self.backends[0]
        names = ", ".join(f"'{name}'" for name in self.backends)
        super().__init__(
            f"backend {names} not found; this build has: {_listing(available)}",
            next_step="Export the model again without that partitioner: rushlight's own kernels run all "
            "operators, and what was lowered to XNNPACK. A backend that you have written is linked as "
            "docs/adding-a-backend.md says.",
        )
        self.available = list(available)


class UnknownTarget(RushlightError):
    """No target has that name."""

    exit_code = 15

    def __init__(self, target: str, available: Sequence[str]) -> None:
        near = _near(target, available)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        super().__init__(
            f"unknown target '{target}'{hint}; known targets: {_listing(available, 40)}",
            next_step="List the targets with `rushlight targets`.",
        )
        self.target = target
        self.available = list(available)


class MissingToolchain(RushlightError):
    """Programs or files that a target needs are not installed.

    `missing` lists them, `packages` the packages of Debian and PyPI that have them."""

    exit_code = 16

    def __init__(
        self,
        target: str,
        missing: Sequence[str],
        packages: Sequence[str] = (),
        pip_packages: Sequence[str] = (),
    ) -> None:
        step = f"Run `rushlight targets install {target}`"
        if packages:
            step += f", or: apt-get install --no-install-recommends {' '.join(packages)}"
        if pip_packages:
            step += f", or: pip install {' '.join(shlex.quote(name) for name in pip_packages)}"
        message = f"target '{target}' cannot be used here: missing {_listing(missing)}"
        super().__init__(message, next_step=step)
        self.target = target
        self.missing = list(missing)
        self.packages = [*packages, *pip_packages]


class BuildFailed(RushlightError):
    """Configuring or compiling failed; the message has the command and the end of its log."""

    exit_code = 17
    default_next_step = "Run again with -v to see the whole log."

    def __init__(self, command: Sequence[str] | str, log: str, *, next_step: str | None = None) -> None:
        self.command = command if isinstance(command, str) else " ".join(command)
        self.log_tail = "\n".join(log.rstrip().splitlines()[-30:])
        super().__init__(f"build failed: {self.command}\n{self.log_tail}", next_step=next_step)


class RunTimeout(RushlightError):
    """A command exceeded its timeout."""

    exit_code = 18
    default_next_step = "Allow more time with a longer timeout, or look at the output for where it hangs."

    def __init__(self, command: Sequence[str] | str, seconds: float, output: str = "") -> None:
        self.command = command if isinstance(command, str) else " ".join(command)
        self.seconds = seconds
        self.output = output
        tail = "\n".join(output.rstrip().splitlines()[-10:])
        super().__init__(f"timed out after {seconds:g} s: {self.command}" + (f"\n{tail}" if tail else ""))


class TargetCrashed(RushlightError):
    """The program on the target ended in a fault, an abort or a signal."""

    exit_code = 19
    default_next_step = "Run it on the host to see whether the model or the target is at fault."


class CheckFailed(RushlightError):
    """Outputs differ from the case's expected outputs, or cells of a matrix failed."""

    exit_code = 20
    default_next_step = "Run on another target to compare, or allow larger errors with --rtol and --atol."


class OutOfMemory(RushlightError):
    """An arena, a memory bank or the host has too few bytes.

    `short` is the number of missing bytes, if it is known."""

    exit_code = 21
    default_next_step = "Give the method more memory, or export the model for smaller shapes."

    short: int | None = None


class DoesNotFit(OutOfMemory):
    """The tensors of a method do not fit in the memory bank that they are planned in.

    `bank` is its name, `needed` and `available` are bytes. `alive` has (name, bytes, note) of each tensor
    that is alive at the peak, the largest first.
    """

    exit_code = 30
    default_next_step = (
        "Make the bank larger, allow other banks for the tensors, or export the model for smaller shapes."
    )

    def __init__(
        self, bank: str, needed: int, available: int, when: str, alive: Sequence[tuple[str, int, str]]
    ) -> None:
        alive = sorted(alive, key=lambda row: -row[1])
        lines = [
            f"{bank}: {needed} bytes needed, {available} available, {max(needed - available, 0)} short",
            f"alive {when}:",
            *(f"  {nbytes:>10} bytes  {name}  {note}".rstrip() for name, nbytes, note in alive[:20]),
        ]
        if len(alive) > 20:
            lines.append(f"  {sum(row[1] for row in alive[20:]):>10} bytes  in {len(alive) - 20} more")
        super().__init__("\n".join(lines))
        self.bank = bank
        self.needed = needed
        self.available = available
        self.short = max(needed - available, 0)
        self.alive = alive


class OverBudget(RushlightError):
    """A program takes more bytes than its budget allows.

    `over` has (name, allowed, taken) of each exceeded limit, in bytes."""

    exit_code = 32
    default_next_step = (
        "`rushlight size --html FILE` shows the bytes of each part, and --diff what has grown."
    )

    def __init__(self, message: str, over: Sequence[tuple[str, int, int]] = ()) -> None:
        super().__init__(message)
        self.over = list(over)


class InvalidSelection(RushlightError):
    """An operator list, a selection file or the operator table is invalid."""

    exit_code = 22
    default_next_step = "Correct the list or the table that the message names."


class MissingDependency(RushlightError):
    """A Python package of `extra` is not installed; `install` is a command for the package alone."""

    exit_code = 23

    def __init__(self, package: str, extra: str, *, install: str = "") -> None:
        super().__init__(
            f"the Python package '{package}' is not installed",
            next_step=install or f"pip install 'rushlight[{extra}]'",
        )
        self.package = package
        self.extra = extra


class MissingFeature(MissingDependency, AttributeError):
    """A name of the package `rushlight` needs an extra that is not installed.

    Also an AttributeError, so that help() and completion skip the name."""


class MissingExecutable(RushlightError):
    """A program that rushlight starts is not on this machine."""

    exit_code = 24

    def __init__(self, executable: str, install: str = "") -> None:
        super().__init__(
            f"'{executable}' not found",
            next_step=f"Install it: {install}" if install else "Install it, or put its folder on PATH.",
        )
        self.executable = executable


class CommandFailed(RushlightError):
    """A command that rushlight started failed: its exit status is not 0."""

    exit_code = 25
    default_next_step = "Mend the cause that the output above shows, and run again; -v shows all commands."

    def __init__(self, command: Sequence[str], returncode: int, output: str) -> None:
        tail = "\n".join(output.rstrip().splitlines()[-30:])
        super().__init__(f"exit status {returncode}: {' '.join(command)}\n{tail}".rstrip())
        self.command = list(command)
        self.returncode = returncode
        self.output = output


class ExportFailed(RushlightError):
    """A model cannot be exported; the message says which part of it, and why."""

    exit_code = 26
    default_next_step = "Change the model where the message says, and export again."


class NotExportable(ExportFailed):
    """A model has operations that the runtime cannot run.

    `problems` has an entry with the source line of each."""

    exit_code = 27

    def __init__(
        self, message: str, *, problems: Sequence[object] = (), next_step: str | None = None
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.problems = list(problems)


class DelegationFailed(ExportFailed):
    """A part of a model cannot be delegated to a backend.

    `tag` is the part's, `backend` the id of its backend, if there is one, and `nodes` has source lines."""

    exit_code = 28
    default_next_step = "Correct the partitioner or the backend, or export without it."

    def __init__(
        self,
        message: str,
        *,
        tag: str | None = None,
        backend: str | None = None,
        nodes: Sequence[str] = (),
        next_step: str | None = None,
    ) -> None:
        super().__init__("\n".join([message, *(f"  {node}" for node in nodes)]), next_step=next_step)
        self.tag = tag
        self.backend = backend
        self.nodes = list(nodes)


class NotRunnable(RushlightError):
    """A program has calls that the runtime or the target cannot run.

    `findings` has each of them, with its instruction."""

    exit_code = 29
    default_next_step = "Export the model without these calls, or choose another target."

    def __init__(
        self, message: str, findings: Sequence[object] = (), *, next_step: str | None = None
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.findings = list(findings)


class BuildOnly(RushlightError):
    """Programs for the target can be built, but not run on this machine."""

    exit_code = 35

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(
            f"target '{target}' is for building only: {reason}",
            next_step="Run the model on another target of `rushlight targets`, and flash the output of "
            f"`rushlight build --target {target}`.",
        )
        self.target = target
        self.reason = reason


class NotBakeable(RushlightError):
    """A program uses a feature that baked programs lack; the interpreter can run it."""

    exit_code = 33
    default_next_step = "Build a runner that interprets the program: rushlight build."


class ClusterNotUsable(RushlightError):
    """A Dask cluster does not answer, has no workers, or its workers have another version of rushlight."""

    exit_code = 34
    default_next_step = "Check the scheduler's address, and that its workers have this version of rushlight."


class DeadlineExceeded(RushlightError):
    """An asynchronous execution did not finish within its timeout."""

    exit_code = 38
    default_next_step = "Allow a longer timeout, which includes the wait for others, or begin fewer at once."


class NotReady(RushlightError):
    """This machine lacks what `rushlight doctor` was asked to check, or may not install it.

    `findings` has each problem that doctor found."""

    exit_code = 37
    default_next_step = "Run the commands above."

    def __init__(
        self, message: str, findings: Sequence[object] = (), *, next_step: str | None = None
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.findings = list(findings)


class FileFailed(RushlightError):
    """The operating system refused to read or write a file or folder.

    `path` and `errno` are None if unknown."""

    exit_code = 36

    def __init__(self, path: str | os.PathLike[str] | None, reason: str, number: int | None = None) -> None:
        where = f"{os.fspath(path)}: " if path is not None else ""
        super().__init__(f"{where}{reason}", next_step=_FILE_STEPS.get(number or 0, _FILE_STEP))
        self.path = None if path is None else os.fspath(path)
        self.errno = number

    @classmethod
    def of(cls, error: OSError, path: str | os.PathLike[str] | None = None) -> FileFailed:
        """The error for an OSError; `path` replaces the path in it."""
        named = error.filename if path is None else path
        text = None if named is None or isinstance(named, int) else os.fsdecode(named)
        return cls(text, error.strerror or str(error), error.errno)

    @classmethod
    def disk_full(cls, path: str | os.PathLike[str]) -> FileFailed:
        """The error for a full file system at `path`."""
        return cls(path, os.strerror(errno.ENOSPC), errno.ENOSPC)


_FILE_STEP = "Check the path and its permissions."
_FILE_STEPS = {
    errno.ENOSPC: "Free some space, or name a folder on another disk.",
    errno.EDQUOT: "Free some space, or name a folder on another disk.",
    errno.EROFS: "Name a file or folder on a disk that can be written.",
    errno.EACCES: "Name a file or folder that you may read and write, or change its permissions.",
    errno.EPERM: "Name a file or folder that you may read and write, or change its permissions.",
    errno.ENOENT: "Check the path: one of its folders is missing.",
    errno.ENOTDIR: "Check the path: a part of it is a file, not a folder.",
    errno.EISDIR: "Name a file: this is a folder.",
    errno.ENAMETOOLONG: "Give a shorter name.",
    errno.EMFILE: "Allow more open files: ulimit -n.",
    errno.ENFILE: "Allow more open files: ulimit -n.",
}
