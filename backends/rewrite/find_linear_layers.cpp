// SPDX-License-Identifier: BSD-3-Clause
// The official exporter writes a linear layer as a transpose of its weight and a product. Kernels of linear
// layers read the weight as it is stored, pack it when the method is loaded, and can fuse what follows.
#include "backends/rewrite/passes.h"

namespace rushlight::rewrite {

namespace {

// The matrix that a tensor of rank 3 repeats; -1 if it repeats none.
ValueId repeated_matrix(const Graph& graph, ValueId id) {
  const int32_t expand = graph.writer(id, "aten::expand_copy.out");
  if (expand == Graph::kNone) return -1;
  const ValueId source = graph.argument(static_cast<size_t>(expand), 0);
  const Sizes &matrix = graph.sizes(source), &sizes = graph.sizes(id);
  const bool repeats =
      matrix.size() == 2 && sizes.size() == 3 && sizes[1] == matrix[0] && sizes[2] == matrix[1];
  return repeats && graph.is_stable(source) && graph.is_row_major(id) ? source : -1;
}

// The constant matrix whose transpose `id` is; -1 if there is none.
ValueId transposed_constant(const Graph& graph, ValueId id) {
  const int32_t permute = graph.writer(id, "aten::permute_copy.out");
  const int32_t transpose = graph.writer(id, "aten::t_copy.out");
  const int32_t made = permute != Graph::kNone ? permute : transpose;
  if (made == Graph::kNone) return -1;
  const auto call = static_cast<size_t>(made);
  const ValueId source = graph.argument(call, 0);
  const Sizes &sizes = graph.sizes(source), &result = graph.sizes(id);
  if (!graph.is_constant(source) || sizes.size() != 2 || !graph.is_row_major(source)) return -1;
  if (permute != Graph::kNone) {
    const std::vector<int64_t> dims = graph.integers(graph.argument(call, 1));
    if (dims != std::vector<int64_t>{1, 0} && dims != std::vector<int64_t>{-1, -2}) return -1;
  }
  return result == Sizes{sizes[1], sizes[0]} ? source : -1;
}

}  // namespace

bool find_linear_layers(Graph* graph) {
  bool changed = false;
  for (size_t call = 0; call < graph->num_calls(); ++call) {
    const std::string_view name = graph->name(call);
    const bool has_bias = name == "aten::addmm.out", is_batch = name == "aten::bmm.out";
    if (!has_bias && !is_batch && name != "aten::mm.out") continue;
    const size_t first = has_bias ? 1 : 0;
    const ValueId rows = graph->argument(call, first), result = graph->result(call);
    const ValueId factor = graph->argument(call, first + 1);
    const ValueId matrix = is_batch ? repeated_matrix(*graph, factor) : factor;
    const ValueId weight = matrix < 0 ? -1 : transposed_constant(*graph, matrix);
    if (weight < 0) continue;
    const ScalarType dtype = graph->value(result).dtype;
    if (!is_floating(dtype) || graph->value(weight).dtype != dtype) continue;
    if (graph->value(rows).dtype != dtype || !graph->is_row_major(result)) continue;
    ValueId bias = -1;
    if (has_bias) {
      bias = graph->argument(call, 0);
      const bool fits =
          graph->sizes(bias) == Sizes{graph->sizes(weight)[0]} && graph->value(bias).dtype == dtype;
      if (!fits || !graph->is_number(graph->argument(call, 3), 1) ||
          !graph->is_number(graph->argument(call, 4), 1))
        continue;
    }
    if (!graph->has("aten::linear", "out")) continue;
    graph->replace(call, "aten::linear", "out",
                   {rows, weight, bias < 0 ? graph->list().none() : bias, result});
    changed = true;
  }
  return changed;
}

}  // namespace rushlight::rewrite
