// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace executorch::runtime {
constexpr size_t kTensorDimensionLimit = 16;
}
