// SPDX-License-Identifier: BSD-3-Clause
// Custom operators that are written against ATen, registered by one line in the application:
//
//   at::Tensor& scale_out(const at::Tensor& x, double factor, at::Tensor& out) {
//     return at::mul_out(out, x, at::scalar_tensor(factor));
//   }
//   RL_ATEN_KERNEL("my_ns::scale.out", scale_out);
//
// Parameters of type at::Tensor& are written. A kernel without them returns its results, which are copied to
// the program's tensors. Where the C++ types do not say enough, as for lists of out tensors, the line has the
// whole schema: RL_ATEN_KERNEL("my_ns::parts.out(Tensor x, *, Tensor(a!)[] out) -> ()", parts_out).
//
// Registration is a static constructor: this is for hosts with PyTorch. It takes precedence over all other
// kernels of the operator.
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/boxing/impl/make_boxed_from_unboxed_functor.h>
#include <ATen/core/op_registration/infer_schema.h>

#include "runtime/base/result.h"

namespace rushlight::aten {

// A registered kernel.
struct CustomKernel {
  c10::FunctionSchema schema;
  void (*call)(torch::jit::Stack& stack);  // replaces the arguments by the results
};

// Finds a registered kernel by its operator's name; null if there is none.
const CustomKernel* custom_kernel(const std::string& name);

namespace internal {

// Adds a kernel. `operator_text` is a name, or a schema that `inferred` must agree with; `written` has an
// item for each parameter. Throws c10::Error if they differ, or if the name is registered twice.
void add_custom_kernel(const std::string& operator_text, const c10::FunctionSchema& inferred,
                       const std::vector<bool>& written, void (*call)(torch::jit::Stack&));

template <auto kFunction, class Function>
struct Custom;

template <auto kFunction, class Return, class... Parameters>
struct Custom<kFunction, Return (*)(Parameters...)> {
  using Functor = typename c10::impl::WrapFunctionIntoFunctor<
      c10::CompileTimeFunctionPointer<Return(Parameters...), kFunction>>::type;

  static void call(torch::jit::Stack& stack) {
    Functor functor;
    const c10::DispatchKeySet keys(c10::DispatchKey::CPU);
    if constexpr (std::is_void_v<Return>) {
      c10::impl::call_functor_with_args_from_stack<Functor, false>(&functor, keys, &stack);
      stack.clear();
    } else {
      // Copied before the stack is cleared: a returned reference is one of its tensors.
      auto results = c10::impl::call_functor_with_args_from_stack<Functor, false>(&functor, keys, &stack);
      stack.clear();
      c10::impl::push_outputs<decltype(results), false>::call(std::move(results), &stack);
    }
  }

  static void add(const char* operator_text) {
    add_custom_kernel(operator_text, c10::inferFunctionSchemaFlattenedReturns<Return(Parameters...)>(),
                      {std::is_same_v<Parameters, at::Tensor&>...}, &call);
  }
};

// Registers in its constructor.
template <auto kFunction>
struct CustomRegistration {
  explicit CustomRegistration(const char* operator_text) {
    Custom<kFunction, decltype(kFunction)>::add(operator_text);
  }
};

}  // namespace internal

}  // namespace rushlight::aten

#define RL_ATEN_KERNEL(operator_text, function)                                      \
  static const ::rushlight::aten::internal::CustomRegistration<&function> RL_CONCAT( \
      rl_aten_kernel_, __COUNTER__)(operator_text)
