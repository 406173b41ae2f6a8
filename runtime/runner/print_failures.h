// SPDX-License-Identifier: BSD-3-Clause
// What a runner says about a run that failed.
#pragma once

#include "runtime/base/error.h"

namespace rushlight {

// The error's name, and "failure: 1b2c3d63 ..." for `rushlight decode`; nothing for Ok.
void print_error(Error error);

}  // namespace rushlight
