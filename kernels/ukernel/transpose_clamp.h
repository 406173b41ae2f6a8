// SPDX-License-Identifier: BSD-3-Clause
// Transposes float32, adds a residual and clamps:
//
//   to[j * to_stride + i] = clamp(from[i * from_stride + j] + residual[j * to_stride + i], low, high)
//
// for i < rows, j < columns. Strides are in floats. Accesses only these elements; alignment of float; `to`
// overlaps no operand. NaN passes. All variants give the same bits.
//
// Winograd's convolution of channels-first images transposes to channels-last and back with it
// (kernels/host/convolution/winograd.cpp); residual and clamp then need no further pass over memory. Squares
// of as many rows as a vector has lanes are transposed in registers; edges take partial loads and stores.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

struct TransposeClamp {
  size_t rows = 0;
  size_t columns = 0;
  const float* from = nullptr;
  ptrdiff_t from_stride = 0;
  float* to = nullptr;
  ptrdiff_t to_stride = 0;
  const float* residual = nullptr;  // null: none
  float low = -__builtin_inff();
  float high = __builtin_inff();
};

RL_UKERNEL(void, transpose_clamped, (const TransposeClamp& transpose), (transpose))

}  // namespace rushlight::ukernel
