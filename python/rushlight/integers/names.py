# SPDX-License-Identifier: BSD-3-Clause
"""Names of the operators that mark quantized values. Every load of a program compares with them
(rushlight.convert.loading), and few loads need the graphs, whose import takes milliseconds."""

QUANTIZE = "quantized_decomposed::quantize_per_tensor"
DEQUANTIZE = "quantized_decomposed::dequantize_per_tensor"
