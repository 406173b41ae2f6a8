// SPDX-License-Identifier: BSD-3-Clause
// Products of elements; no elements give 1. Integers wrap; a bool product is true if all elements are. The
// product of 16-bit floats is held in float, of integers in int64, and rounded or wrapped once. Rounding
// errors of products add up relatively, so the order matters little: contiguous elements take several
// products side by side, which compilers vectorize.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/math/arithmetic.h"
#include "kernels/reduction/reduce.h"
#include "kernels/reduction/truth.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::prod.out") | selected_types("aten::prod.int_out");

// The product of n elements and `product`.
template <class T>
T multiplied(T product, const T* values, ptrdiff_t stride, size_t n) {
  size_t i = 0;
#ifndef __OPTIMIZE_SIZE__
  constexpr size_t kProducts = 64 / sizeof(T);
  if (stride == 1 && n >= kProducts) {
    T products[kProducts];
    for (T& each : products) each = T(1);
    for (; n - i >= kProducts; i += kProducts) {
#pragma GCC unroll 16
      for (size_t k = 0; k < kProducts; ++k) products[k] = wrapping_multiply(products[k], values[i + k]);
    }
    for (const T each : products) product = wrapping_multiply(product, each);
  }
#endif
  for (; i < n; ++i) product = wrapping_multiply(product, values[static_cast<ptrdiff_t>(i) * stride]);
  return product;
}

Error prod(const Tensor& self, const DimList& dims, bool keepdim, std::optional<int64_t> dtype, Tensor& out) {
  RL_TRY(check_requested_dtype(dtype, out));
  const ScalarType type = out.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  // A bool product is all(), which has the loop already.
  if (type == ScalarType::Bool) {
    RL_TRY(check_convertible(self.scalar_type()));
    return reduce_truth(type_set(self.scalar_type()), self, dims, keepdim, false, out);
  }
  Reduction reduction;
  RL_TRY(reduction.plan(self, dims, keepdim, out));
  RL_TRY(check_convertible(self.scalar_type()));
  constexpr TypeSet kHeld = held_in(kTypes & ~types::kBool, Signs::kIgnored);
  return dispatch<kHeld>(held_type(kTypes, type, Signs::kIgnored), [&](auto held) {
    using T = typename decltype(held)::Element;
#ifndef __OPTIMIZE_SIZE__
    if (reduction.is_by_columns()) {
      reduction.for_each_tile<T>(type, [](auto for_each_row, T* products, size_t n) {
        for (size_t i = 0; i < n; ++i) products[i] = T(1);
        for_each_row([&](const T* row) {
          for (size_t i = 0; i < n; ++i) products[i] = wrapping_multiply(products[i], row[i]);
        });
      });
      return Error::Ok;
    }
#endif
    reduction.for_each_output([&](const char* first, char* result) {
      T product = 1;
      reduction.for_each_span<T>(first, [&](const T* values, ptrdiff_t stride, size_t n) {
        product = multiplied(product, values, stride, n);
      });
      convert_span(result, 0, type, &product, 0, held.value, 1);
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
