// SPDX-License-Identifier: BSD-3-Clause
// A view costs nothing: both tensors lie at one offset of planned memory.
#include "backends/rewrite/passes.h"

namespace rushlight::rewrite {

namespace {

constexpr std::string_view kPermute = "aten::permute_copy.out";

// Operators that copy a tensor's elements in their order if the result has as many.
bool copies_in_order(const Graph& graph, size_t call) {
  const std::string_view name = graph.name(call);
  return (graph.traits(call) & kViews) != 0 || name == "aten::expand_copy.out" || name == "aten::clone.out" ||
         name == "aten::alias_copy.out" || name == "aten::detach_copy.out" ||
         name == "dim_order_ops::_clone_dim_order.out" || name == "dim_order_ops::_to_dim_order_copy.out" ||
         name == "aten::_to_copy.out";
}

// The non-negative dimensions of a permutation; empty if they are damaged.
std::vector<int64_t> dims_of(const Graph& graph, size_t call) {
  std::vector<int64_t> dims = graph.integers(graph.argument(call, 1));
  const auto rank = static_cast<int64_t>(graph.sizes(graph.argument(call, 0)).size());
  if (static_cast<int64_t>(dims.size()) != rank) return {};
  for (int64_t& dim : dims) {
    if (dim < 0) dim += rank;
    if (dim < 0 || dim >= rank) return {};
  }
  return dims;
}

// Returns true if a permutation leaves the elements of a row-major tensor in their order: dimensions of more
// than one index keep theirs.
bool keeps_elements(const Graph& graph, size_t call) {
  int64_t last = -1;
  for (const int64_t dim : dims_of(graph, call)) {
    if (graph.sizes(graph.argument(call, 0))[static_cast<size_t>(dim)] == 1) continue;
    if (dim < last) return false;
    last = dim;
  }
  return true;
}

bool share(Graph* graph, size_t call) {
  const ValueId from = graph->argument(call, 0), to = graph->result(call);
  CallList& list = graph->list();
  const bool alike = graph->is_tensor(from) && graph->value(from).dtype == graph->value(to).dtype &&
                     numel(graph->sizes(from)) == numel(graph->sizes(to)) && graph->is_row_major(from) &&
                     graph->is_row_major(to);
  if (!alike || list.storage_of(from).is_external || list.storage_of(to).is_external) return false;
  if (!graph->is_stable(from) || !graph->is_stable(to)) return false;
  // An output in planned memory is not a constant.
  if (graph->is_constant(from) && graph->is_output(to)) return false;
  if (list.storage_of(from).is_input && list.storage_of(to).is_output) return false;
  list.merge(to, from);
  list.remove_call(call);
  return true;
}

// permute(permute(x)) becomes one permutation of x.
bool merge_permutations(Graph* graph, size_t call) {
  const ValueId middle = graph->argument(call, 0);
  const int32_t before = graph->writer(middle, kPermute);
  if (before == Graph::kNone) return false;
  const auto first = static_cast<size_t>(before);
  if (graph->sizes(graph->result(first)) != graph->sizes(middle)) return false;
  const ValueId source = graph->argument(first, 0);
  const std::vector<int64_t> inner = dims_of(*graph, first), outer = dims_of(*graph, call);
  if (inner.empty() || outer.size() != inner.size() || !graph->is_stable(source)) return false;
  std::vector<int64_t> dims;
  for (const int64_t dim : outer) dims.push_back(inner[static_cast<size_t>(dim)]);
  const ValueId result = graph->result(call);
  graph->replace(call, "aten::permute_copy", "out", {source, graph->list().integers(dims), result});
  return true;
}

}  // namespace

bool share_views(Graph* graph) {
  bool changed = false;
  for (size_t call = 0; call < graph->num_calls(); ++call) {
    const bool permutes = graph->name(call) == kPermute;
    if (permutes && merge_permutations(graph, call)) changed = true;
    const bool moves_nothing = permutes ? keeps_elements(*graph, call) : copies_in_order(*graph, call);
    if (moves_nothing && share(graph, call)) changed = true;
  }
  return changed;
}

}  // namespace rushlight::rewrite
