# SPDX-License-Identifier: BSD-3-Clause
"""Names of the operators that mark quantized values. A module of its own, as every load of a program compares
with them (rushlight.convert.loading) and few loads need the graphs."""

QUANTIZE = "quantized_decomposed::quantize_per_tensor"
DEQUANTIZE = "quantized_decomposed::dequantize_per_tensor"
