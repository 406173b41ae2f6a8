// SPDX-License-Identifier: BSD-3-Clause
// Embedding lookup in a quantized table: gathers rows and dequantizes them, so that only the rows that are
// read are ever converted.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/quantization/affine.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Bits of a weight. Packed weights are stored as unsigned values with half the range added: of four-bit
// weights the first is in the upper half of the byte, of two-bit weights in the lowest bits.
enum class Packing : uint8_t { kByte = 8, kFourBits = 4, kTwoBits = 2 };

// The table and its parameters; see embed() for the checks.
struct QuantizedTable {
  Packing packing;
  const Tensor& weight;  // [rows, bytes]
  const Tensor& scales;  // [rows] or [rows, groups]
  const std::optional<Tensor>& zero_points;
  AffineRange range;
};

// Writes the rows that `indices` (int32 or int64) selects to `out`, which becomes [*indices, columns]. `out`
// must have the dtype `dtype`, or that of the scales if it is absent. Computes in float32: (weight -
// zero_point) * scale of the row's group. All tensors are row-major. InvalidArgument (also for an index out
// of range), InvalidType.
Error embed(const QuantizedTable& table, TypeSet types, const Tensor& indices, std::optional<int64_t> dtype,
            const Tensor& out);

}  // namespace rushlight::kernels
