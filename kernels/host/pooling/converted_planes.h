// SPDX-License-Identifier: BSD-3-Clause
// Small planes of 16-bit floats by the code for float32: as many whole planes as fit on the stack are
// converted at once, because a call of a conversion takes longer than a small plane.
#pragma once

#include <cstddef>

#include "kernels/host/elements.h"
#include "kernels/walk/view.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// Converted planes of a tensor, and memory for as many planes of results.
struct PlaneBlock {
  static constexpr size_t kFloats = 2048;  // of either

  const float* from;
  float* to;
  size_t first;  // of all planes
  size_t planes;
  // Elements of a plane.
  size_t in;
  size_t out;
};

// True if the planes of a view [N, C, D, H, W] follow each other in row-major order and several fit in a
// block.
[[nodiscard]] bool has_small_planes(const View& view);

// See for_each_block().
void convert_blocks(KernelContext& context, const View& from, const View& to,
                    void (*compute)(const void* state, const PlaneBlock& block), const void* state);

// Calls compute(block) for all planes, concurrently on several threads. Preconditions: has_small_planes() of
// both views, which have one 16-bit dtype and differ in the sizes of planes only.
template <class F>
void for_each_block(KernelContext& context, const View& from, const View& to, const F& compute) {
  convert_blocks(
      context, from, to,
      [](const void* state, const PlaneBlock& block) { (*static_cast<const F*>(state))(block); }, &compute);
}

}  // namespace rushlight::kernels::host
