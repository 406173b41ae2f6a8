// SPDX-License-Identifier: BSD-3-Clause
// Linear layers with integer weights and float32 inputs: panels are packed at load, dequantized by the
// microkernel and divided among threads. The integers are read once for all rows.
#include "kernels/host/int8/grouped_linear.h"
#include "kernels/ukernel/mixed_gemm.h"

namespace rushlight::kernels::host {

namespace {

PanelLayout panels_of(const GroupedWeight& weight) {
  return {0x4d31, ukernel::mixed_gemm_columns(), ukernel::mixed_panel_bytes(weight.form),
          [](const ukernel::GroupedWeights& from, size_t columns, void* panel) {
            ukernel::pack_mixed(from, columns, panel);
          }};
}

}  // namespace

std::optional<Error> weight_only_linear(KernelContext& context, const WeightOnlyLinearProblem& problem) {
  const GroupedWeight& weight = problem.weight;
  const std::optional<LinearRows> rows = find_rows(problem);
  if (!rows) return std::nullopt;
  if (rows->count == 0 || weight.features == 0) return Error::Ok;
  const PanelLayout panels = panels_of(weight);
  const void* packed = packed_panels(context, panels, weight);
  // Without prepared panels and without scratch memory the portable code takes the call.
  if (packed == nullptr) return std::nullopt;
  const size_t count = panels.count(weight.features);
  const size_t grain = items_for_piece(rows->count * panels.columns * weight.depth());
  context.parallel_for(count, grain, [&](size_t begin, size_t end, size_t) {
    ukernel::MixedGemm gemm;
    gemm.form = weight.form;
    gemm.rows = rows->count;
    gemm.left = rows->input;
    // The input is read in place: rows of float32, `left_stride` apart.
    gemm.left_stride = rows->input_stride;
    gemm.out_stride = rows->out_stride;
    for (size_t panel = begin; panel < end; ++panel) {
      const size_t first = panel * panels.columns;
      gemm.columns = std::min(panels.columns, weight.features - first);
      gemm.panel = static_cast<const char*>(packed) + panel * panels.bytes;
      gemm.bias = problem.bias == nullptr ? nullptr : problem.bias + first;
      gemm.out = rows->out + first;
      ukernel::multiply_mixed(gemm);
    }
  });
  return Error::Ok;
}

Error weight_only_linear_prepare(KernelContext& context, const WeightOnlyLinearProblem& problem) {
  context.need_products(problem.out.numel() * problem.weight.depth());
  prepare_panels(context, panels_of(problem.weight), problem, 0);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
