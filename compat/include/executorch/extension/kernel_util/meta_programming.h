// SPDX-License-Identifier: BSD-3-Clause
// A function as a type, and what it takes and gives.
#pragma once

#include <cstddef>
#include <type_traits>

#include <executorch/extension/kernel_util/type_list.h>

namespace executorch::extension::kernel_util_internal {

template <class T>
struct is_function_type : std::is_function<T> {};
template <class T>
using is_function_type_t = typename is_function_type<T>::type;

template <class FuncType_, FuncType_* func_ptr_, const char* func_name>
struct CompileTimeFunctionPointer final {
  static_assert(is_function_type<FuncType_>::value, "EXECUTORCH_FN takes a function");
  using FuncType = FuncType_;
  static constexpr const char* func_name_ = func_name;
  static constexpr FuncType* func_ptr() { return func_ptr_; }
};

template <class T>
struct is_compile_time_function_pointer : std::false_type {};
template <class FuncType, FuncType* func_ptr, const char* func_name>
struct is_compile_time_function_pointer<CompileTimeFunctionPointer<FuncType, func_ptr, func_name>>
    : std::true_type {};

#define EXECUTORCH_FN_TYPE(func, name)                                       \
  ::executorch::extension::kernel_util_internal::CompileTimeFunctionPointer< \
      std::remove_pointer_t<std::remove_reference_t<decltype(func)>>, func, name>
#define EXECUTORCH_FN(func, name) EXECUTORCH_FN_TYPE(func, name)()

template <class T>
struct strip_class {};
template <class Class, class Result, class... Args>
struct strip_class<Result (Class::*)(Args...)> {
  using type = Result(Args...);
};
template <class Class, class Result, class... Args>
struct strip_class<Result (Class::*)(Args...) const> {
  using type = Result(Args...);
};
template <class T>
using strip_class_t = typename strip_class<T>::type;

template <class Func>
struct function_traits {
  static_assert(!std::is_same_v<Func, Func>, "expected a plain function type");
};
template <class Result, class... Args>
struct function_traits<Result(Args...)> {
  using func_type = Result(Args...);
  using return_type = Result;
  using parameter_types = typelist<Args...>;
  static constexpr auto number_of_parameters = sizeof...(Args);
};

// Of a function, a pointer to one, or an object with one operator().
template <class Functor>
struct infer_function_traits {
  using type = function_traits<strip_class_t<decltype(&Functor::operator())>>;
};
template <class Result, class... Args>
struct infer_function_traits<Result (*)(Args...)> {
  using type = function_traits<Result(Args...)>;
};
template <class Result, class... Args>
struct infer_function_traits<Result(Args...)> {
  using type = function_traits<Result(Args...)>;
};
template <class T>
using infer_function_traits_t = typename infer_function_traits<T>::type;

}  // namespace executorch::extension::kernel_util_internal
