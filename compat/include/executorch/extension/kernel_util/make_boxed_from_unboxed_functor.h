// SPDX-License-Identifier: BSD-3-Clause
// Registers a kernel that takes C++ arguments:
//
//   Tensor& double_out(KernelRuntimeContext& context, const Tensor& in, Tensor& out) { ... }
//   EXECUTORCH_LIBRARY(mine, "double.out", double_out);
//
// From its parameters come the unpacking of the arguments and the signature that a program is checked
// against when it is loaded. The context may be left out. Methods report the call to their tracer.
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

// How a parameter's type, without reference, is written in a signature and read from a value. What an
// exporter writes for a number may be of another kind of number.
template <class T>
struct evalue_to_arg final {
  static_assert(std::is_same_v<T, executorch::aten::ScalarType> ||
                    std::is_same_v<T, executorch::aten::MemoryFormat> ||
                    std::is_same_v<T, executorch::aten::Layout> ||
                    std::is_same_v<T, executorch::aten::Device>,
                "no operator argument is of this type");
  static constexpr char kCode = 'i';
  static T call(executorch::runtime::EValue& v) { return v.to<T>(); }
};

#define RUSHLIGHT_ARGUMENT(type, code, expression)                          \
  template <>                                                               \
  struct evalue_to_arg<type> final {                                        \
    static constexpr char kCode = code;                                     \
    static type call(executorch::runtime::EValue& v) { return expression; } \
  };

RUSHLIGHT_ARGUMENT(int64_t, 'i', v.to_int())
RUSHLIGHT_ARGUMENT(double, 'd', v.to_double())
RUSHLIGHT_ARGUMENT(bool, 'b', v.to_bool())
RUSHLIGHT_ARGUMENT(executorch::aten::Scalar, 's', v.toScalar())
RUSHLIGHT_ARGUMENT(std::string_view, 'z', v.toString())
RUSHLIGHT_ARGUMENT(executorch::aten::Tensor, 't', v.toTensor())
RUSHLIGHT_ARGUMENT(executorch::aten::ArrayRef<int64_t>, 'n', v.toIntList())
RUSHLIGHT_ARGUMENT(executorch::aten::ArrayRef<double>, 'f', v.toDoubleList())
RUSHLIGHT_ARGUMENT(executorch::aten::ArrayRef<bool>, 'o', v.toBoolList())
RUSHLIGHT_ARGUMENT(executorch::aten::TensorList, 'l', v.toTensorList())
RUSHLIGHT_ARGUMENT(executorch::aten::ArrayRef<std::optional<executorch::aten::Tensor>>, 'p',
                   v.toListOptionalTensor())
#undef RUSHLIGHT_ARGUMENT

template <>
struct evalue_to_arg<executorch::aten::Tensor&> final {
  static constexpr char kCode = 'w';
  static executorch::aten::Tensor& call(executorch::runtime::EValue& v) { return v.toTensor(); }
};
template <>
struct evalue_to_arg<const executorch::aten::Tensor&> final {
  static constexpr char kCode = 't';
  static const executorch::aten::Tensor& call(executorch::runtime::EValue& v) { return v.toTensor(); }
};
template <class T>
struct evalue_to_arg<std::optional<T>> final {
  static constexpr char kCode = evalue_to_arg<T>::kCode - 'a' + 'A';
  static std::optional<T> call(executorch::runtime::EValue& v) {
    if (v.isNone()) return std::nullopt;
    return evalue_to_arg<T>::call(v);
  }
};

template <class T>
struct decay_if_not_tensor final {
  using type = std::decay_t<T>;
};
template <>
struct decay_if_not_tensor<executorch::aten::Tensor&> final {
  using type = executorch::aten::Tensor&;
};
template <>
struct decay_if_not_tensor<const executorch::aten::Tensor&> final {
  using type = const executorch::aten::Tensor&;
};
template <class Parameter>
using argument_of = evalue_to_arg<typename decay_if_not_tensor<Parameter>::type>;

template <class TypeList>
struct boxed_arguments;

template <class... Parameters>
struct boxed_arguments<typelist<Parameters...>> {
  static constexpr char kSignature[] = {argument_of<Parameters>::kCode..., '\0'};
  static constexpr size_t kCount = sizeof...(Parameters);
  template <class Functor, bool kWithContext, size_t... I>
  static void call(executorch::runtime::KernelRuntimeContext& context,
                   executorch::runtime::Span<executorch::runtime::EValue*> stack, std::index_sequence<I...>) {
    if constexpr (kWithContext) {
      static_cast<void>((*Functor::func_ptr())(context, argument_of<Parameters>::call(*stack[I])...));
    } else {
      static_cast<void>((*Functor::func_ptr())(argument_of<Parameters>::call(*stack[I])...));
    }
  }
};

}  // namespace kernel_util_internal

template <class FuncType>
struct WrapUnboxedIntoFunctor {
  static_assert(kernel_util_internal::is_compile_time_function_pointer<FuncType>::value,
                "expected what EXECUTORCH_FN makes");
  using TrueType = typename FuncType::FuncType;
  using ReturnType = typename kernel_util_internal::infer_function_traits_t<TrueType>::return_type;
  using ArgsType = typename kernel_util_internal::infer_function_traits_t<TrueType>::parameter_types;
  static constexpr bool first_arg_is_context =
      std::is_same_v<::executorch::runtime::KernelRuntimeContext,
                     std::remove_reference_t<kernel_util_internal::head_with_default_t<void, ArgsType>>>;
  using ContextRemovedArgsType =
      std::conditional_t<first_arg_is_context, kernel_util_internal::drop_if_nonempty_t<ArgsType, 1>,
                         ArgsType>;
  using Arguments = kernel_util_internal::boxed_arguments<ContextRemovedArgsType>;

  static void call(::executorch::runtime::KernelRuntimeContext& context,
                   executorch::runtime::Span<executorch::runtime::EValue*> stack) {
    if (stack.size() < Arguments::kCount) {
      context.fail(executorch::runtime::Error::InvalidArgument);
      return;
    }
    Arguments::template call<FuncType, first_arg_is_context>(context, stack,
                                                             std::make_index_sequence<Arguments::kCount>());
  }
};

template <class FuncType>
static executorch::runtime::Kernel make_boxed_kernel(const char* name, FuncType) {
  using Wrapped = WrapUnboxedIntoFunctor<FuncType>;
  executorch::runtime::Kernel kernel(name, Wrapped::call);
  kernel.signature_ = Wrapped::Arguments::kSignature;
  return kernel;
}

}  // namespace executorch::extension

#define ET_CONCATENATE_IMPL(s1, s2) s1##s2
#define ET_CONCATENATE(s1, s2) ET_CONCATENATE_IMPL(s1, s2)
#define ET_UID __LINE__

#define EXECUTORCH_LIBRARY(ns, op_name, func) _EXECUTORCH_LIBRARY_IMPL(ns, op_name, func, ET_UID)
#define _EXECUTORCH_LIBRARY_IMPL(ns, op_name, func, uid)                                 \
  static constexpr const char ET_CONCATENATE(name_of_op_, uid)[] = #ns "::" op_name;     \
  [[maybe_unused]] static const auto ET_CONCATENATE(res_##ns##_, uid) =                  \
      ::executorch::runtime::register_kernel(::executorch::extension::make_boxed_kernel( \
          ET_CONCATENATE(name_of_op_, uid), EXECUTORCH_FN(func, ET_CONCATENATE(name_of_op_, uid))))

namespace torch::executor {
using ::executorch::extension::make_boxed_kernel;
using ::executorch::extension::WrapUnboxedIntoFunctor;
}  // namespace torch::executor
