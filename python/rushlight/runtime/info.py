# SPDX-License-Identifier: BSD-3-Clause
"""Version, formats, operators and build settings of this runtime."""

from __future__ import annotations

import importlib
import platform
import sys
from types import ModuleType
from typing import Any

from rushlight.runtime import native
from rushlight.runtime.arrays import DTYPES

# File identifiers with the supported schema versions.
_FORMATS: dict[str, dict[str, Any]] = {
    "pte": {"identifier": "ET12", "schema_versions": [0]},
    "ptd": {"identifier": "FT01", "schema_versions": [0]},
    "bpte": {"identifier": "BP08", "schema_versions": [2]},
}


def runtime_info(module: ModuleType | None = None) -> dict[str, Any]:
    """Facts for a report or a check, as plain values:

    "version"    of this package
    "formats"    files that are read: their identifiers and schema versions
    "operators"  the linked operators, each with the dtypes that it computes in
    "backends"   the ids of the linked backends
    "build"      "log_level", "compiler", "assertions", "event_tracing"; "variants" of the microkernels, and
                 the "variant" that this processor runs
    "sizes"      bytes of the C++ types "EValue", "TensorImpl", "pointer"
    "platform"   "system", "machine", "python", "numpy"
    """
    module = native.default_module() if module is None else module
    build = dict(module.build_info())
    sizes = {
        "EValue": build.pop("sizeof_evalue"),
        "TensorImpl": build.pop("sizeof_tensor_impl"),
        "pointer": build.pop("sizeof_pointer"),
    }
    dtypes = module.operator_dtypes()
    return {
        "version": importlib.import_module("rushlight").__version__,
        "formats": {name: dict(format) for name, format in _FORMATS.items()},
        "operators": {
            name: [DTYPES[number] for number in dtypes.get(name, []) if number in DTYPES]
            for name in module.operator_names()
        },
        "backends": module.backend_names(),
        "build": build,
        "sizes": sizes,
        "platform": {
            "system": sys.platform,
            "machine": platform.machine(),
            "python": platform.python_version(),
            "numpy": importlib.import_module("numpy").__version__,
        },
    }
