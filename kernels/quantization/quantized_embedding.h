// SPDX-License-Identifier: BSD-3-Clause
// Rows of a quantized table, dequantized on the way out.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/quantization/affine.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// How many bits a weight has. Several in a byte stand as numbers from 0 on, of which half the range is
// taken: four bits with the first in the upper half, two bits with the first in the lowest.
enum class Packing : uint8_t { kByte = 8, kFourBits = 4, kTwoBits = 2 };

struct QuantizedTable {
  Packing packing;
  const Tensor& weight;  // [rows, bytes]
  const Tensor& scales;  // [rows] or [rows, groups]
  const std::optional<Tensor>& zero_points;
  AffineRange range;
};

// Writes the rows that `indices` names to `out`, which becomes [*indices, columns]. `dtype`, else the
// dtype of the scales, is that of `out`. InvalidArgument, InvalidType.
Error embed(const QuantizedTable& table, TypeSet types, const Tensor& indices, std::optional<int64_t> dtype,
            const Tensor& out);

}  // namespace rushlight::kernels
