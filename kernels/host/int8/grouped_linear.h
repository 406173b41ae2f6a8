// SPDX-License-Identifier: BSD-3-Clause
// What linear layers with weights in groups have in common on hosts: packed panels, and rows at equal steps.
#pragma once

#include <algorithm>
#include <optional>

#include "kernels/backs/grouped_linear.h"
#include "kernels/checks/checks.h"
#include "kernels/ukernel/grouped_weights.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// Products that a piece of work for a thread should have at least: to wake one takes some microseconds.
inline constexpr size_t kLeastProducts = size_t{1} << 20;

// How many items of so many products make such a piece.
[[nodiscard]] inline size_t items_for_piece(size_t products) {
  return std::max<size_t>(kLeastProducts / std::max<size_t>(products, 1), 1);
}

// How a family of microkernels packs its weights.
struct Panels {
  uint64_t layout;  // the family's, for layout_number()
  size_t columns;
  size_t bytes;
  void (*pack)(const ukernel::GroupedWeights& weights, size_t columns, void* panel);

  [[nodiscard]] size_t count(size_t features) const { return (features + columns - 1) / columns; }
};

// Packs all of a weight's panels.
void pack_panels(const Panels& panels, const GroupedWeight& weight, void* to);

// For prepare functions: packs constants. `scratch` is what calls take besides; others are packed there, too.
void prepare_panels(KernelContext& context, const Panels& panels, const WeightOnlyLinearProblem& problem,
                    size_t scratch);

// What was packed at load, or is packed now, in scratch memory; null without that.
[[nodiscard]] const void* packed_panels(KernelContext& context, const Panels& panels,
                                        const GroupedWeight& weight);

// Rows of input and output.
struct LinearRows {
  size_t count = 0;
  const float* input = nullptr;
  ptrdiff_t input_stride = 0;
  float* out = nullptr;
  ptrdiff_t out_stride = 0;
};

// None where the rows do not lie at equal steps, or their numbers are apart.
[[nodiscard]] std::optional<LinearRows> find_rows(const WeightOnlyLinearProblem& problem);

}  // namespace rushlight::kernels::host
