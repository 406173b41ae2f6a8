// SPDX-License-Identifier: BSD-3-Clause
// Plans memory for tensors between calls: greedy by size, like rushlight.memory's quick planner. The largest
// tensor is placed first, each at the lowest offset that is free during its lifetime.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/calls/call_list.h"

namespace rushlight {

// Assigns an offset to each planned storage; `bytes` receives the total. Cost: quadratic in the number of
// storages, up to 20,000. Error: OutOfResources (more than 2^48 bytes).
[[nodiscard]] Error plan_storages(std::vector<CallList::Storage>* storages, uint64_t* bytes);

}  // namespace rushlight
