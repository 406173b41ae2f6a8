// SPDX-License-Identifier: BSD-3-Clause
// The one broadcasting loop. An elementwise kernel passes the dtype to compute in and a function of elements;
// walking over shapes and converting dtypes happens here, once:
//
//   return elementwise<kTypes>(compute_type, out, [](auto a, auto b) { return a < b; }, self, other);
//
// Without the dtype it computes in the promoted dtype of the inputs, which takes the least code:
//
//   return elementwise<kTypes>(out, [](auto a, auto b) { return a < b; }, self, other);
//
// A function with a constant of the element type is constructed for each type:
//
//   return elementwise_for<kTypes>(compute_type, out, [&](auto type) {
//     using T = typename decltype(type)::Element;
//     return [limit = bound.to<T>()](T a) { return a < limit ? a : limit; };
//   }, self);
//
// Integers compute in int64 and wrap when they are stored; builds for speed have loops for the narrower ones,
// too, if the function has no constants or signs do not matter to it. As in PyTorch, half and bfloat16
// compute in float and round once. Bool is 0 and 1 in int64, and is stored as value != 0: a function that
// treats it differently must test the compute dtype, not the C++ type of its arguments. uint64 has its own
// loops, except for operations that declare that signs do not matter:
//
//   return elementwise<kTypes, Signs::kIgnored>(compute_type, out, f, self, other);
//
// Such operations have loops for both complex types, all others only for complex128. An operation that treats
// both parts of a complex element like a real one declares Signs::kIgnoredInParts, and needs no complex loop.
//
// Tensors with another dtype than the compute dtype pass through a small buffer on the stack, so the code of
// an operator grows with the few compute dtypes, not with all dtypes or their combinations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element.h"
#include "kernels/ukernel/loops.h"
#include "kernels/walk/broadcast.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// kRounded rounds 0-dim inputs to a 16-bit compute dtype before use; kExact does not. PyTorch rounds them in
// general, but not in products and quotients.
enum class Numbers : uint8_t { kRounded, kExact };

// Computes n elements. pointers[0] and strides[0] are the output's; strides in bytes. `function` is the
// operator's function object, or its factory. Elements are aligned and of the dtypes of the computation.
using RowFunction = void (*)(const void* function, char* const* pointers, const ptrdiff_t* strides, size_t n);

// A computation for one set of dtypes; the general form behind the functions below.
struct Computation {
  ScalarType promoted;  // PyTorch's result dtype of the operation; may be a 16-bit float
  ScalarType computed;  // dtype that `row` reads and that holds `promoted`; real for parts of complex
  ScalarType result;    // dtype that `row` writes
  Numbers numbers;
  RowFunction row;
  const void* function;
#ifndef __OPTIMIZE_SIZE__
  bool is_long = false;  // see run_long()
#endif
};

// Resizes `out` to the broadcast shape of the inputs and runs the computation. Errors: InvalidArgument
// (shapes), InvalidType (`out` cannot store the result; dtype not selected).
Error run_elementwise(Span<const Tensor* const> inputs, const Tensor& out, const Computation& computation);

// An operator as constants: its dtypes, and a row function for each compute dtype. All constants of an
// operator in one read-only object keep the code of a call small: it passes one address.
struct ElementwiseRow {
  RowFunction row;
  ScalarType computed;
  ScalarType result;
};
struct ElementwiseOperator {
  TypeSet types;
  TypeSet own;  // dtypes that no wider one holds; bool is held by uint8
  Signs signs;
  Numbers numbers;
  uint8_t num_inputs;
  const ElementwiseRow* rows;
#ifndef __OPTIMIZE_SIZE__
  bool is_long = false;
#endif
};

// `tensors` is out, then the inputs; `function` is passed to the rows. Errors as above, and InvalidType if
// the operator does not take `promoted`.
Error run_elementwise(const ElementwiseOperator& op, ScalarType promoted, const Tensor* const* tensors,
                      const void* function);

// Computes in the promoted dtype of the inputs, with a function without constants.
Error run_elementwise(const ElementwiseOperator& op, const Tensor& self, const Tensor& out);
Error run_elementwise(const ElementwiseOperator& op, const Tensor& a, const Tensor& b, const Tensor& out);
// The same for functions that exist only for floating values: integers compute in float32.
Error run_floating(const ElementwiseOperator& op, const Tensor& self, const Tensor& out);
Error run_floating(const ElementwiseOperator& op, const Tensor& a, const Tensor& b, const Tensor& out);

#ifndef __OPTIMIZE_SIZE__
// run_floating() for functions that take longer than a lookup: many uint8, int8 or bool elements beside
// single ones get their results from a table of all bytes, in builds for speed.
Error run_long(const ElementwiseOperator& op, const Tensor& self, const Tensor& out);
Error run_long(const ElementwiseOperator& op, const Tensor& a, const Tensor& b, const Tensor& out);
#endif

namespace internal {

// Computes n elements of contiguous operands: compilers vectorize the loop. The output may be an operand, so
// that iterations depend on no earlier one.
template <class In, class Out, class F, size_t... I>
RL_LOOPS void dense_row(const F& function, char* const* pointers, size_t n) {
  const F f = function;  // a copy, whose constants no store can change
  auto* const out = reinterpret_cast<Out*>(pointers[0]);
  const In* const in[] = {reinterpret_cast<const In*>(pointers[I + 1])...};
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<Out>(f(load(in[I] + i)...));
}

// Calls the factory here, not in the caller, so that the caller's code does not depend on the type. Builds
// for speed have a further loop for contiguous operands.
template <class In, class Out, class Make, size_t... I>
void elementwise_row(const void* make, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  const auto f = (*static_cast<const Make*>(make))(Type<In>{});
#ifndef __OPTIMIZE_SIZE__
  constexpr auto kStep = static_cast<ptrdiff_t>(sizeof(In));
  if (strides[0] == ptrdiff_t{sizeof(Out)} && ((strides[I + 1] == kStep) && ...) && ukernel::runs_loops())
    return dense_row<In, Out, decltype(f), I...>(f, pointers, n);
#endif
  for (size_t i = 0; i < n; ++i) {
    const auto offset = static_cast<ptrdiff_t>(i);
    *reinterpret_cast<Out*>(pointers[0] + offset * strides[0]) =
        static_cast<Out>(f(load(reinterpret_cast<const In*>(pointers[I + 1] + offset * strides[I + 1]))...));
  }
}

// A factory that returns the same function for all types. The function is its base, so that the factory is
// empty if the function is: see own_types().
template <class F>
struct SameForAllTypes : F {
  template <class T>
  F operator()(Type<T>) const {
    return *this;
  }
};

// The stored type of a value that a function of In returned: bool for comparisons, a real type for measures
// of complex elements, In for all others, even if the C++ promotion rules returned a wider integer.
template <class In, class Returned>
struct Result {
  static constexpr bool kIsMeasure = is_complex_number<In> && std::is_floating_point_v<Returned>;
  using Type = std::conditional_t<std::is_same_v<Returned, bool> || kIsMeasure, Returned, In>;
};

template <class T, size_t>
using First = T;

// Number of dtypes in a set.
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

// Appends the row for elements of type T if the set has it.
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

// Further dtypes with rows, which held_type() does not return: integers for which conversions to int64 and
// back would take most of the time. A constant of int64 may not fit in them, which does not matter to
// operations that wrap: the low bits of their results depend on the low bits of the constant only. For these,
// the two integers that models have. Bool takes uint8's row: results of 0 and 1 are 0 in both or in neither.
template <class Make>
constexpr TypeSet own_types([[maybe_unused]] TypeSet set, [[maybe_unused]] Signs signs) {
#ifndef __OPTIMIZE_SIZE__
  if (std::is_empty_v<Make>) {
    const TypeSet as_byte = contains(set, ScalarType::Byte) ? types::kBool : 0;
    return set & ((types::kIntegral & ~type_set(ScalarType::Long)) | as_byte);
  }
  if (signs != Signs::kMatter) return set & type_set(ScalarType::Byte, ScalarType::Int);
#endif
  return 0;
}

// Rows for all types that can hold elements, and for own_types().
template <TypeSet kHeld, class Make, size_t kInputs>
inline constexpr auto kRows =
    list_rows<kHeld, Make, std::make_index_sequence<kInputs>, float, double, int64_t, uint64_t, bool, uint8_t,
              int8_t, int16_t, int32_t, Complex<float>, Complex<double>>();

template <TypeSet kTypes, Signs kSigns, Numbers kNumbers, class Make, size_t kInputs>
constexpr ElementwiseOperator describe() {
  constexpr TypeSet kOwn = own_types<Make>(kTypes, kSigns);
  constexpr TypeSet kHeld = held_in(kTypes, kSigns) | (kOwn & ~types::kBool);
  if constexpr (kHeld == 0) {
    return {0, 0, kSigns, kNumbers, kInputs, nullptr};
  } else {
    constexpr const auto& kList = kRows<kHeld, Make, kInputs>;
    static_assert(kList.size == count(kHeld), "a type that rows are not made for");
    return {kTypes, kOwn, kSigns, kNumbers, kInputs, kList.rows};
  }
}

template <TypeSet kTypes, Signs kSigns, Numbers kNumbers, class Make, size_t kInputs>
inline constexpr ElementwiseOperator kOperator = describe<kTypes, kSigns, kNumbers, Make, kInputs>();

}  // namespace internal

// `make` takes the compute type and returns a function with one parameter for each input. The function's
// return type selects the result dtype: bool for comparisons, real for measures of complex elements,
// otherwise the compute dtype. `make` is called for each span, so it should only convert constants. Errors as
// run_elementwise().
template <TypeSet kTypes, Signs kSigns = Signs::kMatter, Numbers kNumbers = Numbers::kRounded, class Make,
          class... Inputs>
Error elementwise_for(ScalarType promoted, const Tensor& out, const Make& make, const Inputs&... inputs) {
  static_assert(sizeof...(Inputs) <= kMaxElementwiseInputs);
  const Tensor* const tensors[] = {&out, &inputs...};
  return run_elementwise(internal::kOperator<kTypes, kSigns, kNumbers, Make, sizeof...(Inputs)>, promoted,
                         tensors, &make);
}

// Calls f on the elements of the inputs, computed in `promoted` (see held_type()). Errors as
// run_elementwise().
template <TypeSet kTypes, Signs kSigns = Signs::kMatter, Numbers kNumbers = Numbers::kRounded, class F,
          class... Inputs>
Error elementwise(ScalarType promoted, const Tensor& out, F f, const Inputs&... inputs) {
  return elementwise_for<kTypes, kSigns, kNumbers>(promoted, out, internal::SameForAllTypes<F>{f}, inputs...);
}

// The same in the promoted dtype of the inputs; the function must be empty.
template <TypeSet kTypes, Signs kSigns = Signs::kMatter, Numbers kNumbers = Numbers::kRounded, class F,
          class... Inputs>
Error elementwise(const Tensor& out, F, const Inputs&... inputs) {
  static_assert(std::is_empty_v<F>);
  return run_elementwise(
      internal::kOperator<kTypes, kSigns, kNumbers, internal::SameForAllTypes<F>, sizeof...(Inputs)>,
      inputs..., out);
}

// For functions that exist only for floating values: integers and bool compute in float32.
template <TypeSet kTypes, Numbers kNumbers = Numbers::kRounded, class F, class... Inputs>
Error elementwise_floating(const Tensor& out, F, const Inputs&... inputs) {
  static_assert(std::is_empty_v<F>);
  return run_floating(internal::kOperator<(kTypes & types::kFloating), Signs::kMatter, kNumbers,
                                          internal::SameForAllTypes<F>, sizeof...(Inputs)>,
                      inputs..., out);
}

#ifndef __OPTIMIZE_SIZE__
template <TypeSet kTypes, class F, class... Inputs>
Error elementwise_long(const Tensor& out, F, const Inputs&... inputs) {
  static_assert(std::is_empty_v<F>);
  return run_long(internal::kOperator<(kTypes & types::kFloating), Signs::kMatter, Numbers::kRounded,
                                      internal::SameForAllTypes<F>, sizeof...(Inputs)>,
                  inputs..., out);
}
#endif

}  // namespace rushlight::kernels
