# SPDX-License-Identifier: BSD-3-Clause
"""Imports torch and torchao, or says how to install them. Errors: MissingDependency.

torchao logs a warning for each CUDA library that it cannot load. Quantizing needs none of them, so its
warnings are off during the import.
"""

import logging

from rushlight.errors import MissingDependency

_disabled = logging.root.manager.disable
logging.disable(logging.WARNING)
try:
    import torch  # noqa: F401
    import torchao  # noqa: F401
except ImportError as missing:
    raise MissingDependency(missing.name or "torch", "export") from missing
finally:
    logging.disable(_disabled)
