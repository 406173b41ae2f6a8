// SPDX-License-Identifier: BSD-3-Clause
// From the last call to the first: a call is needed if it has an effect beyond its results, or if an output
// or a needed call reads one of them.
#include "backends/rewrite/passes.h"

namespace rushlight::rewrite {

bool remove_dead_calls(Graph* graph) {
  bool changed = false;
  std::vector<bool> needed(graph->list().num_storages());
  const auto is_needed = [&](ValueId id) -> std::vector<bool>::reference {
    return needed[static_cast<size_t>(graph->value(id).storage)];
  };
  for (const ValueId id : graph->list().outputs()) {
    if (graph->is_tensor(id)) is_needed(id) = true;
  }
  for (size_t call = graph->num_calls(); call-- > 0;) {
    if (graph->is_removed(call)) continue;
    bool stays = !graph->has_no_effect(call);
    for (const ValueId id : graph->writes(call))
      stays = stays || is_needed(id) || !graph->is_stable(id) || graph->is_input(id);
    if (!stays) {
      graph->list().remove_call(call);
      changed = true;
      continue;
    }
    for (const ValueId id : graph->reads(call)) is_needed(id) = true;
  }
  return changed;
}

}  // namespace rushlight::rewrite
