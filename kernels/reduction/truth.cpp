// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduction/truth.h"

#include "kernels/checks/checks.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error reduce_truth(TypeSet types, const Tensor& self, const DimList& dims, bool keepdim, bool decisive,
                   const Tensor& out) {
  const ScalarType result_type = out.scalar_type();
  RL_CHECK(result_type == ScalarType::Bool || result_type == ScalarType::Byte, Error::InvalidType,
           "out: expected dtype bool or uint8, got %s", to_string(result_type));
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  // Spans of other dtypes are converted to bool, where NaN counts as true.
  RL_TRY(check_convertible(ScalarType::Bool));
  Reduction reduction;
  RL_TRY(reduction.plan(self, dims, keepdim, out));
  reduction.for_each_output([&](const char* first, char* result) {
    // Stops to read elements as soon as one decides the result.
    bool found = false;
    reduction.for_each_span<bool>(first, [&](const bool* values, ptrdiff_t stride, size_t n) {
      if (found) return;
#ifndef __OPTIMIZE_SIZE__
      if (stride == 1) {
        // Without an exit in the loop compilers vectorize it. Spans are converted in short pieces.
        size_t decided = 0;
        for (size_t i = 0; i < n; ++i) decided += values[i] == decisive ? 1 : 0;
        found = decided != 0;
        return;
      }
#endif
      for (size_t i = 0; i < n && !found; ++i) found = values[static_cast<ptrdiff_t>(i) * stride] == decisive;
    });
    *result = found == decisive ? 1 : 0;  // the same for bool and uint8
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels
