// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace executorch::runtime::etensor {
// Arguments of copying operators. Preserve keeps the dim order of the input. Other layouts are requested by a
// dim order (the dim_order_ops operators). Tensors are always strided.
enum class MemoryFormat : int8_t { Contiguous = 0, Preserve = 1 };
enum class Layout : int8_t { Strided = 0 };
}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::Layout;
using ::executorch::runtime::etensor::MemoryFormat;
}  // namespace torch::executor
