// SPDX-License-Identifier: BSD-3-Clause
// Shared by linear layers whose weights have scales for groups of inputs: packed panels, and rows with
// constant strides.
#pragma once

#include <algorithm>
#include <optional>

#include "kernels/backs/grouped_linear.h"
#include "kernels/checks/checks.h"
#include "kernels/ukernel/grouped_weights.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// Fewest products for a piece of parallel work: waking a thread takes some microseconds.
inline constexpr size_t kLeastProducts = size_t{1} << 20;

// The number of items, each with `products` products, in such a piece.
[[nodiscard]] inline size_t items_for_piece(size_t products) {
  return std::max<size_t>(kLeastProducts / std::max<size_t>(products, 1), 1);
}

// The packed layout of a family of microkernels: `columns` features in a panel of `bytes` bytes, aligned to
// 64.
struct PanelLayout {
  uint64_t layout;  // identifies the layout in layout_id()
  size_t columns;
  size_t bytes;
  void (*pack)(const ukernel::GroupedWeights& weights, size_t columns, void* panel);

  [[nodiscard]] size_t count(size_t features) const { return (features + columns - 1) / columns; }
};

// Packs all panels of a weight to `to`, which has panels.count() * panels.bytes.
void pack_panels(const PanelLayout& panels, const GroupedWeight& weight, void* to);

// For prepare functions: packs a constant weight at load. Requests `scratch` bytes for calls, and memory for
// the panels if the weight is not constant.
void prepare_panels(KernelContext& context, const PanelLayout& panels, const WeightOnlyLinearProblem& problem,
                    size_t scratch);

// The panels packed at load, or packed now in scratch memory; null if that is too small.
[[nodiscard]] const void* packed_panels(KernelContext& context, const PanelLayout& panels,
                                        const GroupedWeight& weight);

// Rows of input and output; strides in elements.
struct LinearRows {
  size_t count = 0;
  const float* input = nullptr;
  ptrdiff_t input_stride = 0;
  float* out = nullptr;
  ptrdiff_t out_stride = 0;
};

// Finds the rows; none if they have no constant stride, or their elements are not adjacent.
[[nodiscard]] std::optional<LinearRows> find_rows(const WeightOnlyLinearProblem& problem);

}  // namespace rushlight::kernels::host
