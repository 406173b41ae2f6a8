// SPDX-License-Identifier: BSD-3-Clause
// Padding with elements of the input: its reflection at the border, or copies of the border.
#pragma once

#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

enum class Padding : uint8_t { kReflection, kReplication };

// `padding` has (before, after) for each of `spatial` dimensions, last one first; negative amounts crop.
// Resizes `out`. InvalidType unless the dtypes are equal and `types` contains them; InvalidArgument where
// PyTorch refuses.
Error pad_spatial(TypeSet types, Padding kind, size_t spatial, const Tensor& self,
                  Span<const int64_t> padding, const Tensor& out);

}  // namespace rushlight::kernels
