// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/arithmetic.h"
#include "kernels/shared/checks.h"
#include "kernels/shared/order.h"
#include "kernels/shared/reduce.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::prod.out") | selected_types("aten::prod.int_out");

// Elements are converted to the dtype of `out` and multiplied in it, 16-bit floats in float.
Error prod(const Tensor& self, const DimList& dims, bool keepdim, std::optional<int64_t> dtype, Tensor& out) {
  RL_TRY(check_requested_dtype(dtype, out));
  Reduction reduction;
  RL_TRY(reduction.plan(self, dims, keepdim, out));
  RL_TRY(check_convertible(self.scalar_type()));
  RL_TRY(check_convertible(out.scalar_type()));
  return dispatch<kTypes>(out.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    reduction.for_each_output([&](const char* first, char* result) {
      Comparable<T> product = 1;
      reduction.for_each_run<T>(first, [&](const T* values, ptrdiff_t stride, size_t n) {
        for (size_t i = 0; i < n; ++i) {
          product = wrapping_multiply(product,
                                      static_cast<Comparable<T>>(values[static_cast<ptrdiff_t>(i) * stride]));
        }
      });
      *reinterpret_cast<T*>(result) = static_cast<T>(product);
    });
    return Error::Ok;
  });
}

}  // namespace

Error prod_out(KernelContext&, const Tensor& self, std::optional<int64_t> dtype, Tensor& out) {
  return prod(self, std::nullopt, false, dtype, out);
}

Error prod_int_out(KernelContext&, const Tensor& self, int64_t dim, bool keepdim,
                   std::optional<int64_t> dtype, Tensor& out) {
  return prod(self, Span<const int64_t>(&dim, 1), keepdim, dtype, out);
}

}  // namespace rushlight::kernels
