// SPDX-License-Identifier: BSD-3-Clause
// Plans memory for values that may live at the same time when windows execute in lanes.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/module/lanes/call_graph.h"
#include "runtime/module/lanes/lane_plan.h"

namespace rushlight {

// Offsets of the groups in one buffer.
struct LaneMemory {
  static constexpr size_t kAlignment = 64;

  std::vector<size_t> offsets;  // by group
  size_t bytes = 0;
};

// Gives two groups the same bytes only if all uses of one end before the other's begin, whatever the order of
// the lanes. Kept groups share bytes with none. Method: greedy by size, first fit. Cost: quadratic in the
// number of groups at worst.
LaneMemory plan_lane_memory(const CallGraph& graph, const std::vector<Window>& windows);

}  // namespace rushlight
