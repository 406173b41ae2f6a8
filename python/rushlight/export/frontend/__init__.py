# SPDX-License-Identifier: BSD-3-Clause
"""From models to Core ATen: tracing, decompositions, and the operators of the runtime and of the user."""
