// SPDX-License-Identifier: BSD-3-Clause
// The one broadcasting loop. An elementwise kernel gives the types it computes in and a function of
// elements; walking shapes and converting element types happens once, here:
//
//   return elementwise<kTypes>(compute_type, out, [](auto a, auto b) { return a + b; }, self, other);
//
// Tensors whose element type differs from the compute type pass through a small stack buffer, so the
// code of an operator grows with its compute types only, not with combinations of dtypes. Half and
// bfloat16 are computed in float and rounded once, as PyTorch does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/shared/checks.h"
#include "kernels/shared/selection.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

inline constexpr size_t kMaxElementwiseInputs = 3;

// Computes n elements. pointers[0] and strides[0] are the output's, strides in bytes. `function` is
// the operator's function object.
using RowFunction = void (*)(const void* function, char* const* pointers, const ptrdiff_t* strides, size_t n);

// Resizes `out` to the broadcast shape of the inputs and runs `row` over it. Inputs are converted to
// `compute`, results of type `result` to the dtype of `out`.
// Errors: InvalidArgument (shapes), InvalidType (result does not go into out; a dtype not selected).
Error run_elementwise(Span<const Tensor* const> inputs, const Tensor& out, ScalarType compute,
                      ScalarType result, RowFunction row, const void* function);

namespace internal {

template <class In, class Out, class F, size_t... I>
void elementwise_row(const void* function, char* const* pointers, const ptrdiff_t* strides, size_t n,
                     std::index_sequence<I...>) {
  const F& f = *static_cast<const F*>(function);
  for (size_t i = 0; i < n; ++i) {
    const auto offset = static_cast<ptrdiff_t>(i);
    *reinterpret_cast<Out*>(pointers[0] + offset * strides[0]) =
        static_cast<Out>(f(*reinterpret_cast<const In*>(pointers[I + 1] + offset * strides[I + 1])...));
  }
}

template <class T, class...>
using First = T;

}  // namespace internal

// `f` takes one element of the compute type for each input; what it returns decides the result type:
// bool for comparisons, otherwise the compute type.
template <TypeSet kTypes, class F, class... Inputs>
Error elementwise(ScalarType compute, const Tensor& out, F f, const Inputs&... inputs) {
  static_assert(sizeof...(Inputs) <= kMaxElementwiseInputs);
  const Tensor* const tensors[] = {&inputs...};
  if constexpr ((kTypes & types::kReducedFloat) != 0) {
    if (contains(kTypes & types::kReducedFloat, compute)) compute = ScalarType::Float;
  }
  return dispatch<computed_in(kTypes)>(compute, [&](auto type) {
    using In = typename decltype(type)::Element;
    using Raw = decltype(f(internal::First<In, Inputs>{}...));
    using Out = std::conditional_t<std::is_same_v<Raw, bool>, bool, In>;
    const RowFunction row = [](const void* function, char* const* pointers, const ptrdiff_t* strides,
                               size_t n) {
      internal::elementwise_row<In, Out, F>(function, pointers, strides, n,
                                            std::make_index_sequence<sizeof...(Inputs)>());
    };
    return run_elementwise({tensors, sizeof...(Inputs)}, out, compute, scalar_type_of<Out>, row, &f);
  });
}

}  // namespace rushlight::kernels
