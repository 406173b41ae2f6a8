// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace executorch::runtime {
// The largest rank that kernels accept; arrays of this length hold the sizes of any tensor. A constant of
// programs' verification, too: a change needs the whole runtime compiled again.
constexpr size_t kTensorDimensionLimit = 16;
}  // namespace executorch::runtime
