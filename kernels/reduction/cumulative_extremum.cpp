// SPDX-License-Identifier: BSD-3-Clause
// Compares the int64 keys of sorting/order.h, 64 elements at a time, and remembers the index of the winner:
// one comparison and one copy for each element, and one copy of the code for all dtypes.
#include "kernels/reduction/cumulative_extremum.h"

#include "kernels/checks/checks.h"
#include "kernels/sorting/order.h"
#include "kernels/walk/fibers.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error cumulate_extremum(TypeSet types, const Tensor& self, int64_t dim, bool largest, const Tensor& values,
                        const Tensor& indices) {
  const ScalarType type = self.scalar_type();
  if (!contains(types, type)) return unsupported_type(type);
  RL_TRY(check_same_dtype(self, values, "self and values"));
  RL_TRY(check_indices_dtype(indices));
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  RL_TRY(resize_out(values, self.sizes()));
  RL_TRY(resize_out(indices, self.sizes()));
  const View views[] = {at_least_1d(self), at_least_1d(values), at_least_1d(indices)};
  const size_t element = self.element_size();
  return for_each_fiber(views, d, [=](const Fiber* fibers) {
    constexpr ptrdiff_t kLength = 64;
    const Fiber& source = fibers[0];
    int64_t keys[kLength];
    int64_t key = INT64_MAX;
    int64_t best = 0;
    for (ptrdiff_t first = 0; first < source.size; first += kLength) {
      const ptrdiff_t n = source.size - first < kLength ? source.size - first : kLength;
      // The smallest key wins: NaN, and then the largest or smallest element.
      order_keys(source.data + first * source.stride, source.stride, type, static_cast<size_t>(n), largest,
                 NanOrder::kFirst, keys);
      for (ptrdiff_t i = first; i < first + n; ++i) {
        const bool wins = keys[i - first] <= key;  // a later element that equals the winner wins
        key = wins ? keys[i - first] : key;
        best = wins ? i : best;
        fibers[2].at<int64_t>(i) = best;
        copy_element(fibers[1].data + i * fibers[1].stride, source.data + best * source.stride, element);
      }
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
