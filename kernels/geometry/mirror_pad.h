// SPDX-License-Identifier: BSD-3-Clause
// Padding with elements of the input: its reflection at the border, or copies of the border. For an input 1 2
// 3 padded by 2 on both sides:
//
//   kReflection    3 2 [1 2 3] 2 1      less than the size on each side
//   kReplication   1 1 [1 2 3] 3 3
#pragma once

#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

enum class Padding : uint8_t { kReflection, kReplication };

// `padding` has (before, after) for each of `spatial` dimensions, last one first; negative amounts crop.
// Resizes `out`. Every output copies one input, see gather_positions(). InvalidType unless the dtypes are
// equal and `types` contains them; InvalidArgument where PyTorch refuses.
Error pad_spatial(TypeSet types, Padding kind, size_t spatial, const Tensor& self,
                  Span<const int64_t> padding, const Tensor& out);

}  // namespace rushlight::kernels
