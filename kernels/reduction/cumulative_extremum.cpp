// SPDX-License-Identifier: BSD-3-Clause
// Remembers the index of the winner and compares elements where they are stored, by dtype at run time: one
// comparison and one copy for each element, and one copy of the code for all dtypes.
#include "kernels/reduction/cumulative_extremum.h"

#include "kernels/checks/checks.h"
#include "kernels/elements/element_access.h"
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
    const Fiber& source = fibers[0];
    ptrdiff_t best = 0;
    for (ptrdiff_t i = 0; i < source.size; ++i) {
      const char* const at = source.data + i * source.stride;
      const char* const winner = source.data + best * source.stride;
      // NaN compares as the largest value. That suffices for cummax; cummin has to test for it. A later
      // element that equals the winner wins.
      if (!largest && is_nan_element(at, type)) {
        best = i;
      } else if (largest || !is_nan_element(winner, type)) {
        const int order = compare_elements(at, winner, type);
        if (largest ? order >= 0 : order <= 0) best = i;
      }
      copy_elements(fibers[1].data + i * fibers[1].stride, 0, source.data + best * source.stride, 0, 1,
                    element);
      fibers[2].at<int64_t>(i) = best;
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
