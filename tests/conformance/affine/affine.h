// SPDX-License-Identifier: BSD-3-Clause
// The backend of tests/runtime/support as an object that a build can name as its backend.
#pragma once

#include "tests/runtime/support/affine_backend.h"

namespace rushlight::testing {

inline constexpr AffineBackend affine;

}  // namespace rushlight::testing
