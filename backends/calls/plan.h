// SPDX-License-Identifier: BSD-3-Clause
// Memory of the tensors between calls: greedy by size, as rushlight.memory's quick planner does it. The
// largest comes first and takes the lowest gap between those that it meets in time.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/calls/call_list.h"

namespace rushlight {

// Gives an offset to each storage that is planned; `bytes` is the memory for all. Time grows with the square
// of their number, up to some thousands. Error: OutOfResources, for more than 2^48 bytes.
[[nodiscard]] Error plan_storages(std::vector<CallList::Storage>* storages, uint64_t* bytes);

}  // namespace rushlight
