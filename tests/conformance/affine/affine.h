// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tests/runtime/support/affine_backend.h"

namespace rushlight::testing {

inline constexpr AffineBackend affine;

}  // namespace rushlight::testing
