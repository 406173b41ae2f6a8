// SPDX-License-Identifier: BSD-3-Clause
// Adapts kernels with C++ signatures to the uniform (boxed) signature that instructions call. boxed<&add_out>
// unpacks the EValues; signature_of<&add_out> describes them. The loader compares that description with the
// program once, so unpacking needs no checks. Kernels with the same C++ type can share one unpacking
// function, which saves code:
//
//   {"aten::add.out", &call_unpacked<decltype(&add_out)>, signature_of<&add_out>(), RL_ERASED(add_out)}
//
// Signature characters (upper case: None is allowed):
//   t T tensor    i I int    d D float    b B bool    s S number    z Z string
//   n N int list  f F float list  o O bool list  l tensor list  p list of optional tensors
//   w tensor that is written (Tensor&)   k list of tensors that are written (Span<Tensor>)
//   e any value, passed as EValue& (prim operators that write numbers). If a call replaces a number by
//     another kind of value, or the reverse, the value is restored and the call fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

namespace internal {

// Maps a parameter type to its signature character (kCode) and to the accessor of EValue (get()). get() has
// the preconditions of that accessor: the loader has compared kCode with the value's tag.
template <class T>
struct Argument;

// A handle, as the value stores it. Kernels change the tensor behind it.
template <>
struct Argument<Tensor> {
  static constexpr char kCode = 't';
  static Tensor& get(EValue& value) {
    RL_DCHECK(value.is_tensor());
    return value.payload.as_tensor;
  }
};
template <>
struct Argument<int64_t> {
  static constexpr char kCode = 'i';
  static int64_t get(EValue& value) { return value.to_int(); }
};
template <>
struct Argument<double> {
  static constexpr char kCode = 'd';
  static double get(EValue& value) { return value.to_double(); }
};
template <>
struct Argument<bool> {
  static constexpr char kCode = 'b';
  static bool get(EValue& value) { return value.to_bool(); }
};
template <>
struct Argument<Scalar> {
  static constexpr char kCode = 's';
  static Scalar get(EValue& value) { return value.to_scalar(); }
};
template <>
struct Argument<std::string_view> {
  static constexpr char kCode = 'z';
  static std::string_view get(EValue& value) { return value.to_string_view(); }
};
// Lists are views of memory of the program or the method; a kernel must not keep them after it returns.
template <>
struct Argument<Span<const int64_t>> {
  static constexpr char kCode = 'n';
  static Span<const int64_t> get(EValue& value) { return value.to_int_list(); }
};
template <>
struct Argument<Span<const double>> {
  static constexpr char kCode = 'f';
  static Span<const double> get(EValue& value) { return value.to_double_list(); }
};
template <>
struct Argument<Span<const bool>> {
  static constexpr char kCode = 'o';
  static Span<const bool> get(EValue& value) { return value.to_bool_list(); }
};
template <>
struct Argument<Span<Tensor>> {
  static constexpr char kCode = 'k';
  static Span<Tensor> get(EValue& value) { return value.to_tensor_list(); }
};
template <>
struct Argument<Span<const Tensor>> {
  static constexpr char kCode = 'l';
  static Span<const Tensor> get(EValue& value) { return value.to_tensor_list(); }
};
template <>
struct Argument<Span<const std::optional<Tensor>>> {
  static constexpr char kCode = 'p';
  static Span<const std::optional<Tensor>> get(EValue& value) { return value.to_optional_tensor_list(); }
};
// The value itself. The kernel may replace it by one of the same kind; see keep_kinds().
template <>
struct Argument<EValue> {
  static constexpr char kCode = 'e';
  static EValue& get(EValue& value) { return value; }
};
// An optional parameter: the upper-case character, and nullopt for None. Other values are unpacked as T.
template <class T>
struct Argument<std::optional<T>> {
  static constexpr char kCode = Argument<T>::kCode - 'a' + 'A';
  static std::optional<T> get(EValue& value) {
    if (value.is_none()) return std::nullopt;
    return Argument<T>::get(value);
  }
};

// The signature character of one parameter. Tensor& and const Tensor& are unpacked alike and differ only in
// the signature.
template <class Parameter>
inline constexpr char kParameterCode =
    std::is_same_v<Parameter, Tensor&> ? 'w' : Argument<std::decay_t<Parameter>>::kCode;

// Values must keep their kind, which the loader compared with all signatures. Restores values whose kind a
// kernel changed and returns InvalidType then.
inline Error keep_kinds(const EValue* before, EValue* const* after, size_t count, Error error) {
  for (size_t i = 0; i < count; ++i) {
    if (after[i]->tag == before[i].tag || (after[i]->is_number() && before[i].is_number())) continue;
    *after[i] = before[i];
    error = Error::InvalidType;
  }
  return error;
}

// The unpacking code of one C++ function type: its signature string and call(). Only functions that return
// Error and take a KernelContext& first have one. `arguments` must have at least as many items as the
// signature has characters.
template <class Function>
struct Boxing;

template <class... Args>
struct Boxing<Error (*)(KernelContext&, Args...)> {
  static constexpr char kSignature[] = {kParameterCode<Args>..., '\0'};

  // Provides an lvalue of the decayed type, which binds to every parameter form of a kernel (T, const T&,
  // T&).
  template <class T>
  struct Holder {
    decltype(Argument<T>::get(std::declval<EValue&>())) value;
    auto& ref() { return value; }
  };

  // Unpacks and calls. Kernels with EValue& parameters also have the kinds of all arguments compared
  // afterwards.
  template <size_t... I>
  static Error call(KernelContext& context, EValue* const* arguments,
                    Error (*function)(KernelContext&, Args...), std::index_sequence<I...> all) {
    if constexpr ((std::is_same_v<Args, EValue&> || ...)) {
      const EValue before[] = {*arguments[I]...};
      return keep_kinds(before, arguments, sizeof...(I), call_now(context, arguments, function, all));
    } else {
      return call_now(context, arguments, function, all);
    }
  }

 private:
  // Each argument is unpacked into a temporary that lives until the kernel returns.
  template <size_t... I>
  static Error call_now(KernelContext& context, EValue* const* arguments,
                        Error (*function)(KernelContext&, Args...), std::index_sequence<I...>) {
    return function(context,
                    Holder<std::decay_t<Args>>{Argument<std::decay_t<Args>>::get(*arguments[I])}.ref()...);
  }
};

}  // namespace internal

// Unpacks `arguments` and calls `kernel`, which must have type Function: it is converted back to that type,
// so another one is undefined behaviour. Returns the kernel's error, or InvalidType (see keep_kinds()).
template <class Function>
Error call_unpacked(KernelContext& context, EValue* const* arguments, ErasedKernel kernel) {
  using Box = internal::Boxing<Function>;
  return Box::call(context, arguments, reinterpret_cast<Function>(kernel),
                   std::make_index_sequence<sizeof(Box::kSignature) - 1>());
}

// Unpacks `arguments` and calls kFunction, which is a template argument: the call can be inlined. The last
// parameter is ignored; it makes this a KernelFunction.
template <auto kFunction>
Error boxed(KernelContext& context, EValue* const* arguments, ErasedKernel = nullptr) {
  using Box = internal::Boxing<decltype(kFunction)>;
  return Box::call(context, arguments, kFunction, std::make_index_sequence<sizeof(Box::kSignature) - 1>());
}

// Type-erases a kernel for a table. A macro, because the cast is not allowed in constexpr functions.
#define RL_ERASED(kernel) reinterpret_cast<::rushlight::ErasedKernel>(&(kernel))

// The signature string of a kernel, as KernelEntry stores it. It has static storage.
template <auto kFunction>
constexpr const char* signature_of() {
  return internal::Boxing<decltype(kFunction)>::kSignature;
}

}  // namespace rushlight
