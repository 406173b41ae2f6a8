// SPDX-License-Identifier: BSD-3-Clause
// Estimates of the time of each call: on one thread, and with all threads of a pool.
#pragma once

#include <vector>

#include "runtime/kernel/prepared.h"
#include "runtime/module/lanes/call_graph.h"

namespace rushlight {

// The time of one call in ns.
struct CallCost {
  float alone = 0;    // on one thread
  float divided = 0;  // the part of it that parallel_for() divides among threads
  float joins = 0;    // the number of joins of threads, one after another

  // The time on `threads` threads. A kernel whose pieces cost less than the joins stays on one.
  [[nodiscard]] float on(size_t threads) const;
};

// A join of threads that spin, in ns: about two cache misses for each and an imbalance.
inline constexpr float kJoin = 2500;

// The cost of each instruction. `work` has the kernels' own estimates, by instruction; a call without one is
// taken to be bound by the bytes of its tensors. `seconds` may be empty, or has the measured time of each
// instruction, of which values that are not positive are ignored.
std::vector<CallCost> call_costs(const Method& method, const CallGraph& graph,
                                 const std::vector<CallWork>& work, const std::vector<double>& seconds);

}  // namespace rushlight
