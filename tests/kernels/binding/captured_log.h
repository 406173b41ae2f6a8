// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace rushlight::testing {

// Log lines since the list was last cleared.
std::vector<std::string>& captured_log();

}  // namespace rushlight::testing
