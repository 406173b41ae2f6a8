# SPDX-License-Identifier: BSD-3-Clause
"""Headers of kernels/ukernel that are no families."""

CONTRACTS = (
    "block_weights",
    "grouped_weights",
    "loops",
    "normal_quantile",
    "quantized_product",
    "quantized_sum",
    "requantize",
    "rescaled_sum",
)
"""Contracts between fronts, which prove numbers, and microkernels, which use them; the macro for loops
outside of microkernels; and coefficients that both use. Any folder of kernels/ may include these headers."""
