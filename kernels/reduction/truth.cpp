// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduction/truth.h"

#include "kernels/checks/checks.h"
#include "kernels/index/nonzero.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error reduce_truth(TypeSet types, const Tensor& self, const DimList& dims, bool keepdim, bool decisive,
                   const Tensor& out) {
  const ScalarType result_type = out.scalar_type();
  RL_CHECK(result_type == ScalarType::Bool || result_type == ScalarType::Byte, Error::InvalidType,
           "out: expected dtype bool or uint8, got %s", to_string(result_type));
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  Reduction reduction;
  RL_TRY(reduction.plan(self, dims, keepdim, out));
  reduction.for_each_output([&](const char* first, char* result) {
    // Stops to read elements as soon as some decide the result.
    bool found = false;
    reduction.for_each_stored_span(first, [&](const char* values, ptrdiff_t stride, size_t n) {
      constexpr size_t kLength = 128;
      uint8_t set[kLength];
      for (size_t length = 0; n > 0 && !found;
           n -= length, values += static_cast<ptrdiff_t>(length) * stride) {
        length = n < kLength ? n : kLength;
        find_set(values, stride, self.scalar_type(), length, set);
        // Without an exit in the loop compilers vectorize it.
        uint8_t trues = 0;
        for (size_t i = 0; i < length; ++i) trues = static_cast<uint8_t>(trues + set[i]);
        found = decisive ? trues != 0 : trues != length;
      }
    });
    *result = found == decisive ? 1 : 0;  // the same for bool and uint8
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels
