// SPDX-License-Identifier: BSD-3-Clause
// A function as a type, and traits of its parameters and result: the part of extension/kernel_util that
// official kernel libraries name. Everything here is evaluated at compile time.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <executorch/extension/kernel_util/type_list.h>

namespace executorch::extension::kernel_util_internal {

template <class T>
using is_function_type = std::is_function<T>;
template <class T>
using is_function_type_t = typename is_function_type<T>::type;

// A function known at compile time, with a name in static storage; created by EXECUTORCH_FN. Being a type, it
// lets a boxed kernel call the function directly, without a pointer to load.
template <class Function, Function* kFunction, const char* kName>
struct CompileTimeFunctionPointer final {
  using FuncType = Function;
  static_assert(is_function_type<FuncType>::value, "EXECUTORCH_FN: expected a function");
  static constexpr auto func_ptr() { return kFunction; }
  static constexpr auto func_name_ = kName;
};

// An object that stands for `func`; `name` is an object with static storage. `func` may be a function or a
// pointer to one, known at compile time.
#define EXECUTORCH_FN(func, name) (EXECUTORCH_FN_TYPE(func, name){})
#define EXECUTORCH_FN_TYPE(func, name)                                       \
  ::executorch::extension::kernel_util_internal::CompileTimeFunctionPointer< \
      std::remove_pointer_t<std::decay_t<decltype(func)>>, func, name>

// Traits of any callable: its result, its type without a class, and its parameters as a typelist.
template <class Result, class... Parameters>
struct callable_traits {
  using return_type = Result;
  using func_type = return_type(Parameters...);
  using parameter_types = typelist<Parameters...>;
  static constexpr auto number_of_parameters = size<parameter_types>::value;
};

// Declared only for their return types: overload resolution decomposes a callable's pointer. Methods may be
// const.
template <class Result, class... Parameters>
callable_traits<Result, Parameters...> traits_of(Result (*)(Parameters...));
template <class Result, class Object, class... Parameters>
callable_traits<Result, Parameters...> traits_of(Result (Object::*)(Parameters...) const);
template <class Result, class Object, class... Parameters>
callable_traits<Result, Parameters...> traits_of(Result (Object::*)(Parameters...));
template <class Function, Function* kFunction, const char* kName>
std::true_type names_function(const CompileTimeFunctionPointer<Function, kFunction, kName>*);
std::false_type names_function(...);

// True for the types that EXECUTORCH_FN creates.
template <class T>
using is_compile_time_function_pointer = decltype(names_function(static_cast<T*>(nullptr)));

// Traits of a function type: return_type, func_type, parameter_types, number_of_parameters.
template <class Function>
struct function_traits : decltype(traits_of(static_cast<Function*>(nullptr))){};

// The function type of a pointer to a member function, without the class: R (C::*)(A) const gives R(A).
template <class Method>
using strip_class_t = typename decltype(traits_of(std::declval<Method>()))::func_type;

// Traits of a function, a function pointer, or an object with one operator() that is neither overloaded nor a
// template. The functions here are only named in decltype, never called.
template <class Callable>
constexpr auto function_of() {
  using Pointed = std::remove_pointer_t<Callable>;
  if constexpr (std::is_function_v<Pointed>) {
    return static_cast<Pointed*>(nullptr);
  } else {
    return static_cast<strip_class_t<decltype(&Pointed::operator())>*>(nullptr);
  }
}
// The same traits, as infer_function_traits_t<Callable>, for anything that function_of() accepts.
template <class Callable>
struct infer_function_traits {
  using type = function_traits<std::remove_pointer_t<decltype(function_of<Callable>())>>;
};
template <class Callable>
using infer_function_traits_t = typename infer_function_traits<Callable>::type;

}  // namespace executorch::extension::kernel_util_internal
