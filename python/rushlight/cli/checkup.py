# SPDX-License-Identifier: BSD-3-Clause
"""The checks of `rushlight doctor`. Each yields findings; none downloads, builds or imports a large package,
and all of them together take about a second."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import rushlight
from rushlight import process, targets
from rushlight.cli.extras import Requirement, extras, python_versions, requirements
from rushlight.errors import InvalidArgument, RushlightError, UnknownTarget
from rushlight.run.builds import build_cache
from rushlight.runtime import runtime_info
from rushlight.sources import source_root

OK, MISSING, WRONG = "ok", "missing", "wrong"
_REINSTALL = "pip install --force-reinstall --no-deps rushlight"
_DEVELOPMENT = {"bench", "check", "dev", "test"}
"""Extras for work on rushlight itself, which are checked by name only."""
_LEAST_FREE = 500_000_000
"""Bytes that the build cache needs. A runner takes 5 to 10 MB; all operators for a host take 200 MB."""
_PROGRAM_SECONDS = 10.0


@dataclass(frozen=True)
class Finding:
    """One check. `status` is "ok", "missing" (not installed) or "wrong" (installed, but broken or too old or
    new); `mend` has the shell commands that mend it."""

    section: str
    name: str
    status: str
    detail: str
    mend: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def check_machine(wanted: Sequence[str] = ()) -> list[Finding]:
    """All findings, or those for the `wanted` targets and extras, with what they build upon.

    Error: InvalidArgument for a name that is neither a target nor an extra.
    """
    named_targets, named_extras = _sorted_out(wanted)
    findings = [*_package(), *_disk()]
    if named_targets or not wanted:
        findings += [*_tools(), *map(_target, named_targets or targets.all_targets())]
    return findings + [_extra(name) for name in named_extras]


def _sorted_out(wanted: Sequence[str]) -> tuple[list[targets.Target], list[str]]:
    known = _extras()
    if not wanted:
        return [], [name for name in known if name not in _DEVELOPMENT]
    named_targets = []
    for name in wanted:
        if name not in known:
            try:
                named_targets.append(targets.get(name))
            except UnknownTarget as error:
                raise InvalidArgument(
                    f"doctor: expected the name of a target or an extra, got '{name}'",
                    next_step=f"`rushlight targets` lists targets; extras: {', '.join(known) or 'none'}.",
                ) from error
    return named_targets, [name for name in wanted if name in known]


def _extras() -> list[str]:
    try:
        return extras()
    except metadata.PackageNotFoundError:
        return []


def _package() -> Iterator[Finding]:
    """Python, the package and its core requirements, the compiled runtime, the C++ sources."""
    section, here = "rushlight", str(Path(rushlight.__file__).parent)
    try:
        version, pythons = metadata.version("rushlight"), python_versions()
    except metadata.PackageNotFoundError:
        detail = f"expected an installed package, got the sources in {here}; extras are unknown"
        yield Finding(section, "package", WRONG, detail, ("pip install .",))
    else:
        python = platform.python_version()
        in_range = pythons.allows(python)
        yield Finding(
            section,
            "Python",
            OK if in_range else WRONG,
            python if in_range else f"expected {pythons.versions}, got {python}",
        )
        is_same = version == rushlight.__version__
        detail = f"{version} in {here}" if is_same else f"expected {version}, got {rushlight.__version__}"
        yield Finding(section, "package", OK if is_same else WRONG, detail, () if is_same else (_REINSTALL,))
        yield from (
            _distribution(section, each, f"pip install {shlex.quote(str(each))}") for each in requirements()
        )
    yield _runtime(section)
    try:
        yield Finding(section, "C++ sources", OK, str(source_root()))
    except RushlightError as error:
        yield Finding(section, "C++ sources", MISSING, error.message, (_REINSTALL,))


def _runtime(section: str) -> Finding:
    try:
        info = runtime_info()
    except RushlightError as error:
        return Finding(section, "compiled runtime", WRONG, error.message, (_REINSTALL,))
    build = info["build"]
    detail = f"{len(info['operators'])} operators, {build['variant']} of {' '.join(build['variants'])}"
    return Finding(section, "compiled runtime", OK, detail)


def _distribution(section: str, needed: Requirement, mend: str) -> Finding:
    """A distribution; a program of its name on PATH serves as well."""
    version = needed.installed()
    if version is None:
        if program := process.find_program(needed.name):
            return Finding(section, needed.name, OK, program)
        return Finding(section, needed.name, MISSING, f"needs {needed}", (mend,))
    if not needed.allows(version):
        return Finding(section, needed.name, WRONG, f"expected {needed}, got {version}", (mend,))
    return Finding(section, needed.name, OK, version)


def _disk() -> Iterator[Finding]:
    """The folders that every build writes to."""
    for name, folder in (("build cache", build_cache()), ("temporary files", Path(tempfile.gettempdir()))):
        yield _folder(name, folder)


def _folder(name: str, folder: Path) -> Finding:
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    if not os.access(existing, os.W_OK | os.X_OK) or not existing.is_dir():
        detail = f"expected a folder that can be written, got {existing}"
        return Finding("disk", name, WRONG, detail, (f"sudo chown $USER {shlex.quote(str(existing))}",))
    free = shutil.disk_usage(existing).free
    if free < _LEAST_FREE:
        detail = f"{folder}: expected {_LEAST_FREE / 1e6:,.0f} MB of free space, got {free / 1e6:,.0f} MB"
        return Finding("disk", name, WRONG, detail, (f"rm -r {shlex.quote(str(build_cache()))}",))
    return Finding("disk", name, OK, f"{folder}, {free / 1e9:,.1f} GB free")


def _tools() -> Iterator[Finding]:
    """The requirements of host builds, and the compiler cache."""
    compiler = os.environ.get("CXX") or "c++"
    yield _program("C++ compiler", [compiler, "--version"], targets.get("host").requirements())
    cmake = next((each for each in _build_extra() if each.name == "cmake"), Requirement("cmake", ""))
    yield _program("CMake", ["cmake", "--version"], targets.get("host").requirements(), cmake)
    runs = "ninja" if process.find_program("ninja") else "make"
    yield _program(runs, [runs, "--version"], targets.get("host").requirements())
    cache = next(filter(process.find_program, ("ccache", "sccache")), "")
    if cache:
        yield _program(cache, [cache, "--version"], ())
    else:
        detail = "not needed; builds that repeat take a tenth of the time with it"
        yield Finding("build tools", "ccache", MISSING, detail, _install("ccache"))


def _build_extra() -> list[Requirement]:
    try:
        return list(requirements("build"))
    except metadata.PackageNotFoundError:
        return []


def _program(
    name: str,
    command: Sequence[str],
    missing: Iterable[targets.Requirement],
    versions: Requirement | None = None,
) -> Finding:
    """Starts a program for its version."""
    section = "build tools"
    mend = _commands([each for each in missing if each.name == command[0]])
    try:
        told = process.run(command, timeout=_PROGRAM_SECONDS)
    except RushlightError as error:
        kind = MISSING if process.find_program(command[0]) is None else WRONG
        return Finding(section, name, kind, error.message, mend or (error.next_step,))
    line = next(iter((told.stdout or told.stderr).splitlines()), "")
    version = line.split()[-1] if line else ""
    if told.returncode != 0:
        return Finding(section, name, WRONG, f"{shlex.join(command)}: exit status {told.returncode}", mend)
    if versions is not None and not versions.allows(version):
        need = f"pip install {shlex.quote(str(versions))}"
        return Finding(section, name, WRONG, f"expected {versions}, got {version}", (need,))
    return Finding(section, name, OK, f"{line}, {process.find_program(command[0])}")


def _install(program: str) -> tuple[str, ...]:
    hint = process.INSTALL_HINTS[program]
    return (f"sudo {hint}" if hint.startswith("apt-get") and os.geteuid() != 0 else hint,)


def _target(target: targets.Target) -> Finding:
    """A target is ok if one of its compilers can build for it and the result can be run here."""
    others = target.compilers[1:] if target.compiler == next(iter(target.compilers), "") else ()
    choices = [target, *(targets.get(targets.spelled(target.name, compiler)) for compiler in others)]
    lacks = [choice.requirements() for choice in choices]
    if not all(lacks):
        ready = [choice.compiler for choice, missing in zip(choices, lacks, strict=True) if not missing]
        detail = ", ".join(filter(None, ready)) or "builds and runs"
        only = f"; build only: {target.build_only}" if target.build_only else ""
        return Finding("targets", target.name, OK, detail + only)
    usual = lacks[0]
    builds = "builds, but cannot run: " if all(each.only_to_run for each in usual) else ""
    detail = f"{builds}missing {', '.join(each.name for each in usual)}"
    mends = dict.fromkeys(command for missing in lacks for command in _commands(missing))
    return Finding("targets", target.name, MISSING, detail, tuple(mends))


def _commands(missing: Sequence[targets.Requirement]) -> tuple[str, ...]:
    """One command line that installs all of `missing`; none without them."""
    if not missing:
        return ()
    root = "" if os.geteuid() == 0 else "sudo "
    lines = (
        (root if command[0] == "apt-get" else "") + shlex.join(command)
        for command in targets.package_commands(missing)
    )
    return (" && ".join(lines),)


def _extra(name: str) -> Finding:
    """An extra is ok if all its packages are installed in versions that rushlight works with."""
    mend = f"pip install 'rushlight[{name}]'"
    listed = list(requirements(name))
    found = [_distribution("extras", each, mend) for each in listed]
    for status in (WRONG, MISSING):
        bad = [each for each in found if each.status == status]
        if bad:
            detail = ", ".join(each.detail for each in bad)
            return Finding("extras", name, status, detail, (mend,))
    own = (each for each, needed in zip(found, listed, strict=True) if needed.extra == name)
    return Finding("extras", name, OK, ", ".join(f"{each.name} {each.detail}" for each in own))
