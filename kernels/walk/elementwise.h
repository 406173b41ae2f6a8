// SPDX-License-Identifier: BSD-3-Clause
// The one broadcasting loop. An elementwise kernel gives the type it computes in and a function of
// elements; walking shapes and converting element types happens once, here:
//
//   return elementwise<kTypes>(compute_type, out, [](auto a, auto b) { return a < b; }, self, other);
//
// Without that type it computes in the inputs' result type, which takes the least code:
//
//   return elementwise<kTypes>(out, [](auto a, auto b) { return a < b; }, self, other);
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

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element.h"
#include "kernels/walk/broadcast.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Whether 0-dim inputs are rounded to a 16-bit compute type before they are used. PyTorch rounds them
// in general, and takes them as they are in products and quotients.
enum class Numbers : uint8_t { kRounded, kExact };

// Computes n elements. pointers[0] and strides[0] are the output's, strides in bytes. `function` is
// the operator's function object, or what makes it.
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

// What an operator is, as constants: the types it takes and a row for each type it computes in.
struct ElementwiseRow {
  RowFunction row;
  ScalarType computed;
  ScalarType result;
};
struct ElementwiseOperator {
  TypeSet types;
  Signs signs;
  Numbers numbers;
  uint8_t num_inputs;
  const ElementwiseRow* rows;
};

// tensors: out, then the inputs. `function` is what the rows take. Errors: as above, and InvalidType when
// the operator does not take `promoted`.
Error run_elementwise(const ElementwiseOperator& op, ScalarType promoted, const Tensor* const* tensors,
                      const void* function);

// Computed in the inputs' result type, by a function without constants.
Error run_elementwise(const ElementwiseOperator& op, const Tensor& self, const Tensor& out);
Error run_elementwise(const ElementwiseOperator& op, const Tensor& a, const Tensor& b, const Tensor& out);
// The same of functions that only exist on floating numbers: integers are computed in float32.
Error run_floating(const ElementwiseOperator& op, const Tensor& self, const Tensor& out);
Error run_floating(const ElementwiseOperator& op, const Tensor& a, const Tensor& b, const Tensor& out);

namespace internal {

// Made here, not by the caller: what an operator does before its loop is then the same for all types.
template <class In, class Out, class Make, size_t... I>
void elementwise_row(const void* make, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  const auto f = (*static_cast<const Make*>(make))(Type<In>{});
  for (size_t i = 0; i < n; ++i) {
    const auto offset = static_cast<ptrdiff_t>(i);
    *reinterpret_cast<Out*>(pointers[0] + offset * strides[0]) =
        static_cast<Out>(f(load(reinterpret_cast<const In*>(pointers[I + 1] + offset * strides[I + 1]))...));
  }
}

// Makes the same function for all types.
template <class F>
struct Same {
  F f;
  template <class T>
  F operator()(Type<T>) const {
    return f;
  }
};

// What is stored of a value that a function of elements of type In returned.
template <class In, class Returned>
struct Result {
  static constexpr bool kIsMeasure = is_complex_number<In> && std::is_floating_point_v<Returned>;
  using Type = std::conditional_t<std::is_same_v<Returned, bool> || kIsMeasure, Returned, In>;
};

template <class T, size_t>
using First = T;

constexpr size_t count(TypeSet set) {
  size_t types = 0;
  for (; set != 0; set &= set - 1) ++types;
  return types;
}

template <size_t kSize>
struct RowList {
  ElementwiseRow rows[kSize] = {};
  size_t size = 0;
};

template <TypeSet kHeld, class T, class Make, size_t... I>
constexpr void add_row(RowList<count(kHeld)>* list, std::index_sequence<I...>) {
  if constexpr (contains(kHeld, scalar_type_of<T>)) {
    using F = decltype(std::declval<const Make&>()(Type<T>{}));
    using Out = typename Result<T, decltype(std::declval<const F&>()(First<T, I>{}...))>::Type;
    list->rows[list->size++] = {&elementwise_row<T, Out, Make, I...>, scalar_type_of<T>, scalar_type_of<Out>};
  }
}

template <TypeSet kHeld, class Make, class Inputs, class... T>
constexpr RowList<count(kHeld)> list_rows() {
  RowList<count(kHeld)> list;
  (add_row<kHeld, T, Make>(&list, Inputs()), ...);
  return list;
}

// Of all types that something is held in.
template <TypeSet kHeld, class Make, size_t kInputs>
inline constexpr auto kRows = list_rows<kHeld, Make, std::make_index_sequence<kInputs>, float, double,
                                        int64_t, uint64_t, bool, Complex<float>, Complex<double>>();

template <TypeSet kTypes, Signs kSigns, Numbers kNumbers, class Make, size_t kInputs>
constexpr ElementwiseOperator describe() {
  constexpr TypeSet kHeld = held_in(kTypes, kSigns);
  if constexpr (kHeld == 0) {
    return {0, kSigns, kNumbers, kInputs, nullptr};
  } else {
    constexpr const auto& kList = kRows<kHeld, Make, kInputs>;
    static_assert(kList.size == count(kHeld), "a type that rows are not made for");
    return {kTypes, kSigns, kNumbers, kInputs, kList.rows};
  }
}

template <TypeSet kTypes, Signs kSigns, Numbers kNumbers, class Make, size_t kInputs>
inline constexpr ElementwiseOperator kOperator = describe<kTypes, kSigns, kNumbers, Make, kInputs>();

}  // namespace internal

// `make` takes the compute type and returns a function of one element for each input. What that
// returns decides the result type: bool for comparisons, real for measures of complex numbers, otherwise
// the compute type. It is called for each run of elements, so it should only convert constants.
template <TypeSet kTypes, Signs kSigns = Signs::kMatter, Numbers kNumbers = Numbers::kRounded, class Make,
          class... Inputs>
Error elementwise_for(ScalarType promoted, const Tensor& out, const Make& make, const Inputs&... inputs) {
  static_assert(sizeof...(Inputs) <= kMaxElementwiseInputs);
  const Tensor* const tensors[] = {&out, &inputs...};
  return run_elementwise(internal::kOperator<kTypes, kSigns, kNumbers, Make, sizeof...(Inputs)>, promoted,
                         tensors, &make);
}

template <TypeSet kTypes, Signs kSigns = Signs::kMatter, Numbers kNumbers = Numbers::kRounded, class F,
          class... Inputs>
Error elementwise(ScalarType promoted, const Tensor& out, F f, const Inputs&... inputs) {
  return elementwise_for<kTypes, kSigns, kNumbers>(promoted, out, internal::Same<F>{f}, inputs...);
}

// The same in the result type of the inputs, where the function has no constants.
template <TypeSet kTypes, Signs kSigns = Signs::kMatter, Numbers kNumbers = Numbers::kRounded, class F,
          class... Inputs>
Error elementwise(const Tensor& out, F, const Inputs&... inputs) {
  static_assert(std::is_empty_v<F>);
  return run_elementwise(internal::kOperator<kTypes, kSigns, kNumbers, internal::Same<F>, sizeof...(Inputs)>,
                         inputs..., out);
}

// Of a function that only exists on floating numbers: integers and bool are computed in float32.
template <TypeSet kTypes, Numbers kNumbers = Numbers::kRounded, class F, class... Inputs>
Error elementwise_floating(const Tensor& out, F, const Inputs&... inputs) {
  static_assert(std::is_empty_v<F>);
  return run_floating(internal::kOperator<(kTypes & types::kFloating), Signs::kMatter, kNumbers,
                                          internal::Same<F>, sizeof...(Inputs)>,
                      inputs..., out);
}

}  // namespace rushlight::kernels
