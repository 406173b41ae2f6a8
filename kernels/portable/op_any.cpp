// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/checks.h"
#include "kernels/shared/reduce.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::any.out") | selected_types("aten::any.dims_out") |
                           selected_types("aten::any.all_out");

Error any(const Tensor& self, const DimList& dims, bool keepdim, Tensor& out) {
  const ScalarType result_type = out.scalar_type();
  RL_CHECK(result_type == ScalarType::Bool || result_type == ScalarType::Byte, Error::InvalidType,
           "out: expected dtype bool or uint8, got %s", to_string(result_type));
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_convertible(ScalarType::Bool));
  Reduction reduction;
  RL_TRY(reduction.plan(self, dims, keepdim, out));
  reduction.for_each_output([&](const char* first, char* result) {
    bool found = false;
    reduction.for_each_run<bool>(first, [&](const bool* values, ptrdiff_t stride, size_t n) {
      for (size_t i = 0; i < n; ++i) found = found || values[static_cast<ptrdiff_t>(i) * stride];
    });
    *result = found ? 1 : 0;  // bool and uint8 alike
  });
  return Error::Ok;
}

}  // namespace

Error any_out(KernelContext&, const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  return any(self, Span<const int64_t>(&dim, 1), keepdim, out);
}

// An empty list reduces nothing here, unlike in sum.
Error any_dims_out(KernelContext&, const Tensor& self, std::optional<Span<const int64_t>> dim, bool keepdim,
                   Tensor& out) {
  return any(self, dim, keepdim, out);
}

Error any_all_out(KernelContext&, const Tensor& self, Tensor& out) {
  return any(self, std::nullopt, false, out);
}

}  // namespace rushlight::kernels
