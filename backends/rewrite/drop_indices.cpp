// SPDX-License-Identifier: BSD-3-Clause
// The official exporter writes every max pool with the indices of its maxima, which only gradients and
// unpooling read. Without them a pool takes about a third of the time.
#include "backends/rewrite/passes.h"

namespace rushlight::rewrite {

bool drop_indices(Graph* graph) {
  if (!graph->has("rushlight::max_pool2d", "out")) return false;
  bool changed = false;
  for (size_t call = 0; call < graph->num_calls(); ++call) {
    if (graph->name(call) != "aten::max_pool2d_with_indices.out") continue;
    std::vector<ValueId> arguments = graph->list().arguments(call);
    const ValueId indices = arguments.back();
    if (graph->is_output(indices) || !graph->readers(indices).empty()) continue;
    arguments.pop_back();
    graph->replace(call, "rushlight::max_pool2d", "out", std::move(arguments));
    changed = true;
  }
  return changed;
}

}  // namespace rushlight::rewrite
