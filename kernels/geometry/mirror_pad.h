// SPDX-License-Identifier: BSD-3-Clause
// Padding with what is inside: mirrored at the border, or the border itself.
#pragma once

#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

enum class Padding : uint8_t { kReflection, kReplication };

// `padding` has the numbers before and after each of `spatial` dimensions, the last one first; below zero
// is cut off. InvalidType unless dtypes are equal and of `types`; InvalidArgument as PyTorch refuses.
Error pad_spatial(TypeSet types, Padding kind, size_t spatial, const Tensor& self,
                  Span<const int64_t> padding, const Tensor& out);

}  // namespace rushlight::kernels
