// SPDX-License-Identifier: BSD-3-Clause
// Registers a kernel that takes C++ arguments:
//
//   Tensor& double_out(KernelRuntimeContext& context, const Tensor& in, Tensor& out) { ... }
//   EXECUTORCH_LIBRARY(mine, "double.out", double_out);
//
// Its parameter types determine how arguments are unpacked, and the signature that programs are checked
// against at load. The context parameter is optional. Methods report the call to their tracer.
//
// Parameters are taken by value or const reference; a Tensor& is an output. Permitted types: Tensor, int64_t,
// double, bool, Scalar, std::string_view, ScalarType, MemoryFormat, Layout, Device, ArrayRef of int64_t,
// double, bool or optional tensors, TensorList, and std::optional of these. Another type is a compile error.
// The result is ignored: a kernel reports failure by context.fail().
#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <executorch/extension/kernel_util/meta_programming.h>
#include <executorch/extension/kernel_util/type_list.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace executorch::extension {

namespace kernel_util_internal {

// T without std::optional, as required<T>::type.
template <class T>
struct required {
  using type = T;
};
template <class T>
struct required<std::optional<T>> {
  using type = T;
};
#ifdef USE_ATEN_LIB
template <class T>
struct required<c10::OptionalArrayRef<T>> {
  using type = c10::ArrayRef<T>;
};
#endif

// True if T is one of the others, without conversions.
template <class T, class... Others>
inline constexpr bool kIsAny = (std::is_same_v<T, Others> || ...);

// The signature character of a type; upper case for an optional. runtime/kernel/boxing.h lists the
// characters.
template <class T>
constexpr char letter_of() {
  namespace aten = executorch::aten;
  using Value = typename required<T>::type;
  if constexpr (!std::is_same_v<T, Value>) {
    return letter_of<Value>() - ('a' - 'A');
  } else if constexpr (kIsAny<T, int64_t, aten::ScalarType, aten::MemoryFormat, aten::Layout, aten::Device>) {
    return 'i';
  } else if constexpr (kIsAny<T, double>) {
    return 'd';
  } else if constexpr (kIsAny<T, bool>) {
    return 'b';
  } else if constexpr (kIsAny<T, aten::Scalar>) {
    return 's';
  } else if constexpr (kIsAny<T, std::string_view>) {
    return 'z';
  } else if constexpr (kIsAny<T, aten::Tensor>) {
    return 't';
  } else if constexpr (kIsAny<T, aten::ArrayRef<int64_t>>) {
    return 'n';
  } else if constexpr (kIsAny<T, aten::ArrayRef<double>>) {
    return 'f';
  } else if constexpr (kIsAny<T, aten::ArrayRef<bool>>) {
    return 'o';
  } else if constexpr (kIsAny<T, aten::TensorList>) {
    return 'l';
  } else {
    static_assert(kIsAny<T, aten::ArrayRef<std::optional<aten::Tensor>>>, "not a type of operator arguments");
    return 'p';
  }
}

// Reads a value as T. An exporter may have stored a number as another kind of number: int64_t and
// enumerations also read a bool, bool an integer, double both. Precondition: the value is of a kind that the
// loader accepts for letter_of<T>(). On another kind, tensors, lists and strings abort; numbers are not
// checked.
template <class T>
decltype(auto) unboxed(executorch::runtime::EValue& value) {
  constexpr char kLetter = letter_of<T>();
  using Value = typename required<T>::type;
  if constexpr (!std::is_same_v<T, Value>) {
    return value.isNone() ? T() : T(unboxed<Value>(value));
  } else if constexpr (kLetter == 't') {
    return value.toTensor();
  } else if constexpr (kLetter == 's') {
    return value.toScalar();
  } else if constexpr (kLetter == 'b') {
    return value.to_bool();
  } else if constexpr (kLetter == 'd') {
    return value.to_double();
  } else if constexpr (std::is_same_v<T, executorch::aten::Device>) {
    return T(static_cast<executorch::aten::DeviceType>(value.to_int()), -1);
  } else if constexpr (kLetter == 'i') {
    return static_cast<T>(value.to_int());
  } else {
    return value.to<T>();
  }
}

// A function's parameters without the context: the signature, and the call with values from a stack. A
// non-const Tensor& has the letter w, which the loader accepts for writable tensors only.
template <class List>
struct Parameters;
template <class... Each>
struct Parameters<typelist<Each...>> {
  template <class Parameter>
  static constexpr bool kIsOutput = std::is_same_v<Parameter, executorch::aten::Tensor&>;
  template <class Parameter>
  static constexpr char kLetter = kIsOutput<Parameter> ? 'w' : letter_of<std::decay_t<Parameter>>();

  // The whole signature: "tw" for double_out above, "tsw" for (const Tensor&, const Scalar&, Tensor&).
  static constexpr char kSignature[] = {kLetter<Each>..., '\0'};

  // Unpacks one stack entry per parameter. The function's result refers to an argument and is not needed.
  template <class Function, size_t... kIndex, class... Context>
  static void call(Function* function, executorch::runtime::EValue* const* stack,
                   std::index_sequence<kIndex...>, Context&... context) {
    static_cast<void>(function(context..., unboxed<std::decay_t<Each>>(*stack[kIndex])...));
  }
};

}  // namespace kernel_util_internal

// The function that EXECUTORCH_FN names, called with values: call() is a kernel's OpFunction. The stack holds
// the arguments in the function's order; further entries, the outputs that an operator returns, are ignored.
// Fewer fail the context with InvalidArgument.
//
//   Kernel kernel("mine::double.out", &WrapUnboxedIntoFunctor<EXECUTORCH_FN_TYPE(double_out, name)>::call);
template <class FuncType>
struct WrapUnboxedIntoFunctor {
  static_assert(kernel_util_internal::is_compile_time_function_pointer<FuncType>::value,
                "expected the result of EXECUTORCH_FN");
  // The function's type, its result, and its parameters with and without the context.
  using TrueType = typename FuncType::FuncType;
  using Traits = kernel_util_internal::function_traits<TrueType>;
  using ReturnType = typename Traits::return_type;
  using ArgsType = typename Traits::parameter_types;
  // Kernels without a context cannot fail and get no scratch.
  static constexpr bool first_arg_is_context =
      std::is_same_v<kernel_util_internal::head_with_default_t<void, ArgsType>,
                     ::executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext&>;
  using ContextRemovedArgsType =
      kernel_util_internal::drop_if_nonempty_t<ArgsType, first_arg_is_context ? 1 : 0>;
  using Parameters = kernel_util_internal::Parameters<ContextRemovedArgsType>;

  // The number of arguments is checked here, because the registry hands out this function to any caller;
  // their kinds are not.
  static void call(::executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext& context,
                   executorch::runtime::Span<executorch::runtime::EValue*> stack) {
    constexpr size_t kCount = kernel_util_internal::size<ContextRemovedArgsType>::value;
    constexpr auto kIndices = std::make_index_sequence<kCount>();
    if (stack.size() < kCount) return context.fail(executorch::runtime::Error::InvalidArgument);
    if constexpr (first_arg_is_context) {
      Parameters::call(FuncType::func_ptr(), stack.data(), kIndices, context);
    } else {
      Parameters::call(FuncType::func_ptr(), stack.data(), kIndices);
    }
  }
};

// A kernel for any tensors under `name` ("namespace::name.overload"), which must stay valid, as by a literal.
template <class FuncType>
static executorch::ET_RUNTIME_NAMESPACE::Kernel make_boxed_kernel(const char* name, FuncType) {
  // Without a key: the fallback for all dtypes and dim orders.
  executorch::ET_RUNTIME_NAMESPACE::Kernel kernel(name, &WrapUnboxedIntoFunctor<FuncType>::call);
  kernel.signature_ = WrapUnboxedIntoFunctor<FuncType>::Parameters::kSignature;
  return kernel;
}

}  // namespace executorch::extension

// A number that differs within a file, for the names of static objects.
#define ET_UID __LINE__
#define ET_CONCATENATE(s1, s2) RUSHLIGHT_JOINED(s1, s2)
#define RUSHLIGHT_JOINED(left, right) left##right

// Registers `func` as "ns::op_name" during static initialisation, in front of a build's kernel with that
// name. Use it at namespace scope, at most once a line. Aborts if another registered kernel has the name. An
// object file in a static library has to be linked as a whole (--whole-archive), because nothing refers to
// it.
//
// The operator's name is a template argument, so it needs an object with static storage.
#define EXECUTORCH_LIBRARY(ns, op_name, func)                                                     \
  RUSHLIGHT_REGISTERED(#ns "::" op_name, func, ET_CONCATENATE(rushlight_name_of_##ns##_, ET_UID), \
                       ET_CONCATENATE(rushlight_registered_##ns##_, ET_UID))
#define RUSHLIGHT_REGISTERED(full_name, func, name, result)           \
  static constexpr const char name[] = full_name;                     \
  [[maybe_unused]] static const ::executorch::runtime::Error result = \
      ::executorch::ET_RUNTIME_NAMESPACE::register_kernel(            \
          ::executorch::extension::make_boxed_kernel(name, EXECUTORCH_FN(func, name)))

namespace torch::executor {
using ::executorch::extension::make_boxed_kernel;
using ::executorch::extension::WrapUnboxedIntoFunctor;
}  // namespace torch::executor
