// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "kernels/optimized/places.h"
#include "kernels/shared/gather.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::optimized {

namespace {

constexpr size_t kRun = 32;  // bytes that are worth a call to copy them

}  // namespace

Error index_select_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  IndexSelectPlan plan;
  RL_TRY(plan_index_select(self, dim, index, out, &plan));
  if (out.numel() == 0) return Error::Ok;

  const View& source = plan.source;
  const View& target = plan.target;
  const size_t d = plan.dim;
  const Axis& inner = plan.others.inner();
  const size_t element = self.element_size();
  const bool runs = inner.input == static_cast<ptrdiff_t>(element) && inner.output == inner.input &&
                    inner.size * element >= kRun;
  const IndexRun indices{index.const_data_ptr<char>(),
                         static_cast<ptrdiff_t>(index.element_size()),
                         index.scalar_type(),
                         source.sizes[d],
                         source.strides[d],
                         false};
  const size_t count = index.numel();
  for (size_t first = 0; first < count; first += kPlaces) {
    ptrdiff_t places[kPlaces] = {};
    const size_t n = std::min(kPlaces, count - first);
    RL_TRY(add_places(indices, first, n, places));
    char* const to = target.data + static_cast<ptrdiff_t>(first) * target.strides[d];
    if (runs) {
      for (size_t i = 0; i < n; ++i) {
        plan.others.walk(source.data + places[i], to + static_cast<ptrdiff_t>(i) * target.strides[d], 1,
                         [&](const char* from, char* at) {
                           copy_elements(at, inner.output, from, inner.input, inner.size, element);
                         });
      }
    } else {
      plan.others.walk(source.data, to, 0, [&](const char* from, char* at) {
        copy_places(element, n, from, places, at, target.strides[d]);
      });
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels::optimized
