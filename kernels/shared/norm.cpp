// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/norm.h"

#include "kernels/shared/checks.h"
#include "kernels/shared/extremum.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kHeld = computed_in(kAnySelectedType & types::kFloating);

}  // namespace

Error norm_over(TypeSet types, const Tensor& self, double p, const DimList& dims, bool keepdim,
                std::optional<int64_t> dtype, const Tensor& out) {
  if (!contains(types & types::kFloating, self.scalar_type())) return unsupported_type(self.scalar_type());
  if (!contains(types & types::kFloating, out.scalar_type())) return unsupported_type(out.scalar_type());
  RL_TRY(check_requested_dtype(dtype, out));
  if (p < 0 || std::isinf(p)) RL_TRY(check_not_empty(self, dims));
  Reduction reduction;
  RL_TRY(reduction.plan(self, dims, keepdim, out));
  const ScalarType held = computed_type(out.scalar_type());
  return dispatch<kHeld>(held, [&](auto type) {
    using T = typename decltype(type)::Element;
    reduction.for_each_output([&](const char* first, char* result) {
      Norm<T> norm(static_cast<T>(p));
      reduction.for_each_run<T>(first, [&](const T* values, ptrdiff_t stride, size_t n) {
        for (size_t i = 0; i < n; ++i) norm.add(values[static_cast<ptrdiff_t>(i) * stride]);
      });
      const T value = norm.result();
      convert_run(result, 0, out.scalar_type(), &value, 0, held, 1);
    });
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
