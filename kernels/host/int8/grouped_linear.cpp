// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/host/int8/grouped_linear.h"

#include "kernels/walk/view.h"

namespace rushlight::kernels::host {

void pack_panels(const PanelLayout& panels, const GroupedWeight& weight, void* to) {
  auto* panel = static_cast<char*>(to);
  // Panels follow each other; the last one has fewer columns, but the same size.
  for (size_t first = 0; first < weight.features; first += panels.columns, panel += panels.bytes) {
    panels.pack(weight.from(first), std::min(panels.columns, weight.features - first), panel);
  }
}

void prepare_panels(KernelContext& context, const PanelLayout& panels, const WeightOnlyLinearProblem& problem,
                    size_t scratch) {
  const GroupedWeight& weight = problem.weight;
  const size_t bytes = panels.count(weight.features) * panels.bytes;
  // Panels contain integers and scales, so both must be constants to be packed at load.
  const bool is_fixed = is_constant(problem.numbers) && is_constant(problem.scales);
  // Weights that are not constant are packed in each call, into scratch memory.
  context.need_scratch(scratch + 64 + (is_fixed ? 0 : bytes + 64));
  if (!is_fixed) return;
  // Weights that share integers but not scales are packed separately.
  const auto scales = reinterpret_cast<uintptr_t>(weight.scales);
  const uint64_t layout =
      layout_id(panels.layout, weight.features, weight.form.groups, weight.form.group, weight.form.is_packed,
                weight.stride, weight.scale_stride, scales, panels.columns);
  void* to = context.prepare(weight.data, layout, bytes);
  if (to != nullptr) pack_panels(panels, weight, to);
}

const void* packed_panels(KernelContext& context, const PanelLayout& panels, const GroupedWeight& weight) {
  if (context.prepared() != nullptr) return context.prepared();
  const size_t bytes = panels.count(weight.features) * panels.bytes;
  void* to = context.allocate_temp(std::max<size_t>(bytes, 1), 64);
  if (to != nullptr) pack_panels(panels, weight, to);
  return to;
}

std::optional<LinearRows> find_rows(const WeightOnlyLinearProblem& problem) {
  const size_t last = problem.input.sizes().size() - 1;
  const bool is_near = (problem.input.sizes()[last] <= 1 || problem.input.strides()[last] == 1) &&
                       (problem.out.sizes()[last] <= 1 || problem.out.strides()[last] == 1);
  if (!is_near) return std::nullopt;
  View source = View::of(problem.input), target = View::of(problem.out);
  // One loop: all rows have one stride, in the input and in the result.
  const PairedLoops loops(target.select(last, 0), source.select(last, 0));
  if (loops.loops().size() > 1) return std::nullopt;
  LinearRows rows;
  loops.for_each_span([&](char* to, const char* from, const auto& run) {
    rows.count = static_cast<size_t>(run.size);
    rows.input = reinterpret_cast<const float*>(from);
    rows.input_stride = run.source / static_cast<ptrdiff_t>(sizeof(float));
    rows.out = reinterpret_cast<float*>(to);
    rows.out_stride = run.target / static_cast<ptrdiff_t>(sizeof(float));
  });
  return rows;
}

}  // namespace rushlight::kernels::host
