// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/backend/backend.h"

namespace rushlight::fuzz {

// Registered under the names that programs use; reads and writes all its arguments, and does nothing else.
// init() fails for some payloads, and keeps an allocated handle for others, so that sanitizers see a missing
// destroy().
extern const BackendTable backends;

}  // namespace rushlight::fuzz
