// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/backend/backend.h"

namespace rushlight::fuzz {

// Registered under the names that programs use; reads and writes all its arguments, and does nothing else.
extern const BackendTable backends;

}  // namespace rushlight::fuzz
