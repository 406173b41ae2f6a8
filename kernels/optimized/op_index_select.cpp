// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "kernels/optimized/places.h"
#include "kernels/shared/checks.h"
#include "kernels/shared/index.h"
#include "kernels/shared/paired_axes.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::optimized {

namespace {

constexpr size_t kRun = 32;  // bytes that are worth a call to copy them

}  // namespace

Error index_select_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(check_index_dtype(index));
  RL_CHECK(index.dim() <= 1, Error::InvalidArgument, "index: expected at most 1 dimension, got %ld",
           static_cast<long>(index.dim()));
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  const auto rank = static_cast<size_t>(self.dim());
  RL_CHECK(rank > 0 || index.numel() == 1, Error::InvalidArgument,
           "index: expected 1 element for a self without dimensions, got %lu", log_number(index.numel()));
  Shape shape;
  for (size_t i = 0; i < rank; ++i) {
    shape.push(i == d ? static_cast<ptrdiff_t>(index.numel()) : self.sizes()[i]);
  }
  RL_TRY(resize_out(out, shape.span()));
  if (out.numel() == 0) return Error::Ok;

  const View source = at_least_1d(self);
  const View target = at_least_1d(out);
  PairedAxes others;
  for (size_t i = rank; i-- > 0;) {
    const size_t other = self.dim_order()[i];
    if (other == d) continue;
    others.add({static_cast<size_t>(source.sizes[other]), source.strides[other], target.strides[other]});
  }
  const Axis& inner = others.inner();
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
        others.walk(source.data + places[i], to + static_cast<ptrdiff_t>(i) * target.strides[d], 1,
                    [&](const char* from, char* at) {
                      copy_elements(at, inner.output, from, inner.input, inner.size, element);
                    });
      }
    } else {
      others.walk(source.data, to, 0, [&](const char* from, char* at) {
        copy_places(element, n, from, places, at, target.strides[d]);
      });
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels::optimized
