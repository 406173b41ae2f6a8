// SPDX-License-Identifier: BSD-3-Clause
// The one broadcasting loop. An elementwise kernel gives the type it computes in and a function of
// elements; walking shapes and converting element types happens once, here:
//
//   return elementwise<kTypes>(compute_type, out, [](auto a, auto b) { return a < b; }, self, other);
//
// A function that needs a constant of the element type is made for each type instead:
//
//   return elementwise_for<kTypes>(compute_type, out, [&](auto type) {
//     using T = typename decltype(type)::Element;
//     return [limit = bound.to<T>()](T a) { return a < limit ? a : limit; };
//   }, self);
//
// Integers are computed in int64 and wrap to the compute type when they are stored, half and bfloat16 in
// float and rounded once, as PyTorch does. Bool is 0 and 1 of int64, stored as whether it differs from 0:
// a function that means something else by it asks the compute type, not its arguments' C++ type. uint64
// has code of its own, but for operations that say that signs do not matter to them:
//
//   return elementwise<kTypes, Signs::kIgnored>(compute_type, out, f, self, other);
//
// Of complex numbers these have code in both types, others in complex128 only. What treats both parts of a
// complex number as it treats a real one says Signs::kIgnoredInParts, and has no complex code at all.
//
// Tensors whose element type differs from the one computed in pass through a small stack buffer, so the
// code of an operator grows with the few types computed in, not with dtypes or their combinations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/shared/checks.h"
#include "kernels/shared/element.h"
#include "kernels/shared/selection.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

inline constexpr size_t kMaxElementwiseInputs = 3;

// Whether 0-dim inputs are rounded to a 16-bit compute type before they are used. PyTorch rounds them
// in general, and takes them as they are in products and quotients.
enum class Numbers : uint8_t { kRounded, kExact };

// Computes n elements. pointers[0] and strides[0] are the output's, strides in bytes. `function` is
// the operator's function object.
using RowFunction = void (*)(const void* function, char* const* pointers, const ptrdiff_t* strides, size_t n);

struct Computation {
  ScalarType promoted;  // what PyTorch says the operation happens in: may be a 16-bit float
  ScalarType computed;  // what `row` reads: what `promoted` is held in; real for parts of complex numbers
  ScalarType result;    // what `row` writes
  Numbers numbers;
  RowFunction row;
  const void* function;
};

// Resizes `out` to the broadcast shape of the inputs and runs the computation over it.
// Errors: InvalidArgument (shapes), InvalidType (result does not go into out; a dtype not selected).
Error run_elementwise(Span<const Tensor* const> inputs, const Tensor& out, const Computation& computation);

namespace internal {

template <class In, class Out, class F, size_t... I>
void elementwise_row(const void* function, char* const* pointers, const ptrdiff_t* strides, size_t n,
                     std::index_sequence<I...>) {
  const F f = *static_cast<const F*>(function);  // a copy: what it captures stays in registers
  for (size_t i = 0; i < n; ++i) {
    const auto offset = static_cast<ptrdiff_t>(i);
    *reinterpret_cast<Out*>(pointers[0] + offset * strides[0]) =
        static_cast<Out>(f(load(reinterpret_cast<const In*>(pointers[I + 1] + offset * strides[I + 1]))...));
  }
}

template <class T, class...>
using First = T;

// What is stored of a value that a function of elements of type In returned.
template <class In, class Returned>
struct Result {
  static constexpr bool kIsMeasure = is_complex_number<In> && std::is_floating_point_v<Returned>;
  using Type = std::conditional_t<std::is_same_v<Returned, bool> || kIsMeasure, Returned, In>;
};

}  // namespace internal

// `make` takes the compute type and returns a function of one element for each input. What that
// returns decides the result type: bool for comparisons, real for measures of complex numbers, otherwise
// the compute type.
template <TypeSet kTypes, Signs kSigns, class Make, class... Inputs>
Error elementwise_for(ScalarType promoted, Numbers numbers, const Tensor& out, Make make,
                      const Inputs&... inputs) {
  static_assert(sizeof...(Inputs) <= kMaxElementwiseInputs);
  const Tensor* const tensors[] = {&inputs...};
  if (!contains(kTypes, promoted)) return unsupported_type(promoted);
  const ScalarType computed = held_type(kTypes, promoted, kSigns);
  return dispatch<held_in(kTypes, kSigns)>(computed, [&](auto type) {
    using In = typename decltype(type)::Element;
    const auto f = make(type);
    using F = std::remove_const_t<decltype(f)>;
    using Out = typename internal::Result<In, decltype(f(internal::First<In, Inputs>{}...))>::Type;
    const RowFunction row = [](const void* function, char* const* pointers, const ptrdiff_t* strides,
                               size_t n) {
      internal::elementwise_row<In, Out, F>(function, pointers, strides, n,
                                            std::make_index_sequence<sizeof...(Inputs)>());
    };
    return run_elementwise({tensors, sizeof...(Inputs)}, out,
                           {promoted, computed, scalar_type_of<Out>, numbers, row, &f});
  });
}

template <TypeSet kTypes, class Make, class... Inputs>
Error elementwise_for(ScalarType promoted, Numbers numbers, const Tensor& out, Make make,
                      const Inputs&... inputs) {
  return elementwise_for<kTypes, Signs::kMatter>(promoted, numbers, out, make, inputs...);
}

template <TypeSet kTypes, Signs kSigns, class Make, class... Inputs>
Error elementwise_for(ScalarType promoted, const Tensor& out, Make make, const Inputs&... inputs) {
  return elementwise_for<kTypes, kSigns>(promoted, Numbers::kRounded, out, make, inputs...);
}

template <TypeSet kTypes, class Make, class... Inputs>
Error elementwise_for(ScalarType promoted, const Tensor& out, Make make, const Inputs&... inputs) {
  return elementwise_for<kTypes, Signs::kMatter>(promoted, Numbers::kRounded, out, make, inputs...);
}

template <TypeSet kTypes, Signs kSigns, class F, class... Inputs>
Error elementwise(ScalarType promoted, Numbers numbers, const Tensor& out, F f, const Inputs&... inputs) {
  return elementwise_for<kTypes, kSigns>(promoted, numbers, out, [f](auto) { return f; }, inputs...);
}

template <TypeSet kTypes, class F, class... Inputs>
Error elementwise(ScalarType promoted, Numbers numbers, const Tensor& out, F f, const Inputs&... inputs) {
  return elementwise<kTypes, Signs::kMatter>(promoted, numbers, out, f, inputs...);
}

template <TypeSet kTypes, Signs kSigns, class F, class... Inputs>
Error elementwise(ScalarType promoted, const Tensor& out, F f, const Inputs&... inputs) {
  return elementwise<kTypes, kSigns>(promoted, Numbers::kRounded, out, f, inputs...);
}

template <TypeSet kTypes, class F, class... Inputs>
Error elementwise(ScalarType promoted, const Tensor& out, F f, const Inputs&... inputs) {
  return elementwise<kTypes, Signs::kMatter>(promoted, Numbers::kRounded, out, f, inputs...);
}

}  // namespace rushlight::kernels
