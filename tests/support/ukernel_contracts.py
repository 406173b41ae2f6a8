# SPDX-License-Identifier: BSD-3-Clause
"""Headers of kernels/ukernel that are no families."""

CONTRACTS = (
    "block_weights",
    "grouped_weights",
    "loops",
    "quantized_product",
    "quantized_sum",
    "requantize",
    "rescaled_sum",
)
"""Contracts between fronts, which prove numbers, and microkernels, which use them;
and the macro for loops outside of microkernels: any folder of kernels/ may include these headers."""
