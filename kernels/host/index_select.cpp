// SPDX-License-Identifier: BSD-3-Clause
// Copies the selected slices: span by span if slices are contiguous, otherwise one position of all slices at
// a time.
#include <algorithm>

#include "kernels/backs/indexing.h"
#include "kernels/host/index_offsets.h"
#include "kernels/walk/paired_axes.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kRun = 32;  // bytes from which a call to copy them pays

}  // namespace

Error index_select(KernelContext&, const IndexSelectProblem& problem) {
  const IndexSelectPlan& plan = problem.plan;
  const Tensor& index = problem.index;
  const View& source = plan.source;
  const View& target = plan.target;
  const size_t d = plan.dim;
  const Axis& inner = plan.others.inner();
  const size_t element = element_size(source.type);
  // Slices with contiguous spans of at least kRun bytes.
  const bool is_contiguous = inner.input == static_cast<ptrdiff_t>(element) && inner.output == inner.input &&
                             inner.size * element >= kRun;
  const IndexSpan indices{index.const_data_ptr<char>(),
                          static_cast<ptrdiff_t>(index.element_size()),
                          index.scalar_type(),
                          source.sizes[d],
                          source.strides[d],
                          false};
  for (size_t first = 0; first < problem.count; first += kIndexBlock) {
    ptrdiff_t offsets[kIndexBlock] = {};
    const size_t n = std::min(kIndexBlock, problem.count - first);
    // Checks kIndexBlock indices at a time, before their slices are copied.
    RL_TRY(add_index_offsets(indices, first, n, offsets));
    char* const to = target.data + static_cast<ptrdiff_t>(first) * target.strides[d];
    if (is_contiguous) {
      for (size_t i = 0; i < n; ++i) {
        plan.others.walk(source.data + offsets[i], to + static_cast<ptrdiff_t>(i) * target.strides[d], 1,
                         [&](const char* from, char* at) {
                           copy_elements(at, inner.output, from, inner.input, inner.size, element);
                         });
      }
    } else {
      plan.others.walk(source.data, to, 0, [&](const char* from, char* at) {
        copy_at_offsets(element, n, from, offsets, at, target.strides[d]);
      });
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
