// SPDX-License-Identifier: BSD-3-Clause
// What the runtime logged on this thread since it was last cleared: the innermost cause first.
#pragma once

#include <string>

namespace rushlight {

std::string& captured_log();

}  // namespace rushlight
