// SPDX-License-Identifier: BSD-3-Clause
// Decides which windows of a method's instructions execute in lanes.
//
// A window is a run of consecutive kernel calls. Its calls fall into components that do not depend on each
// other; list scheduling (longest first, to the least loaded lane; Graham, "Bounds on multiprocessing timing
// anomalies", 1969) gives each component to a lane. Lanes wait for each other only at the window's end.
// Dynamic programming over the program's order chooses the windows, among them none: the time before
// instruction j is the least over all windows that end there.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/module/lanes/call_costs.h"
#include "runtime/module/lanes/call_graph.h"

namespace rushlight {

// Consecutive instructions of a chain.
struct Window {
  size_t begin = 0;
  size_t end = 0;
  // The instructions of each lane, in program order; folded ones are left out.
  std::vector<std::vector<uint32_t>> lanes;
};

// Returns the windows of a method, in program order and disjoint, for a pool of `threads` threads, at most
// `lanes` at once. A window is taken if it saves a part of its time that a measurement would show.
std::vector<Window> plan_lanes(const CallGraph& graph, const std::vector<CallCost>& costs, size_t threads,
                               size_t lanes);

}  // namespace rushlight
