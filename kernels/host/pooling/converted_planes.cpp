// SPDX-License-Identifier: BSD-3-Clause
// Threads share planes; the stack holds a block of inputs and one of results.
#include "kernels/host/pooling/converted_planes.h"

#include <algorithm>

namespace rushlight::kernels::host {

bool has_small_planes(const View& view) {
  const View dense = View::row_major(view.data, view.type, {view.sizes, view.dim});
  for (size_t d = 0; d < view.dim; ++d) {
    if (view.sizes[d] > 1 && view.strides[d] != dense.strides[d]) return false;
  }
  return dense.strides[1] <= dense.strides[4] * static_cast<ptrdiff_t>(PlaneBlock::kFloats / 2);
}

void convert_blocks(KernelContext& context, const View& from, const View& to,
                    void (*compute)(const void* state, const PlaneBlock& block), const void* state) {
  const auto plane_of = [](const View& view) {
    return static_cast<size_t>(view.sizes[2]) * static_cast<size_t>(view.sizes[3]) *
           static_cast<size_t>(view.sizes[4]);
  };
  const size_t element = element_size(from.type);
  const size_t in = plane_of(from);
  const size_t out = plane_of(to);
  const size_t planes = static_cast<size_t>(from.sizes[0]) * static_cast<size_t>(from.sizes[1]);
  const size_t at_once = PlaneBlock::kFloats / std::max(std::max(in, out), size_t{1});
  constexpr size_t kBlocks = 8;  // worth another thread
  context.parallel_for(planes, kBlocks * at_once, [&](size_t begin, size_t end, size_t) {
    alignas(64) float inputs[PlaneBlock::kFloats];
    alignas(64) float results[PlaneBlock::kFloats];
    while (begin < end) {
      const size_t n = std::min(end - begin, at_once);
      load_floats(inputs, from.type, from.data + begin * in * element, 1, n * in);
      compute(state, {inputs, results, begin, n, in, out});
      store_floats(to.data + begin * out * element, 1, to.type, results, n * out);
      begin += n;
    }
  });
}

}  // namespace rushlight::kernels::host
