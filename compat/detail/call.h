// SPDX-License-Identifier: BSD-3-Clause
// Calls rushlight's kernels with official argument types. The generated Functions.h consists of such calls:
//
//   inline Tensor& add_outf(KernelRuntimeContext& context, const Tensor& self, ..., Tensor& out) {
//     ::rushlight::compat::call<&::rushlight::kernels::add_out>(context, self, ..., out);
//     return out;
//   }
//
// A failure is in the context, and `out` then has unspecified elements.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include "compat/detail/convert.h"
#include "compat/detail/temporary.h"
#include "runtime/kernel/context.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

namespace aten = executorch::aten;

#ifndef USE_ATEN_LIB  // in ATen mode, rushlight's kernels have no official functions
// Converts an argument to the kernel's parameter type. Types that rushlight shares are passed by reference;
// enumerations become their number, and a device its type. Lists are not copied. An optional becomes the
// optional of the converted type.
template <class T>
const T& argument(const T& value) {
  return value;
}
inline int64_t argument(const aten::ScalarType& value) { return static_cast<int64_t>(value); }
inline int64_t argument(const aten::MemoryFormat& value) { return static_cast<int64_t>(value); }
inline int64_t argument(const aten::Layout& value) { return static_cast<int64_t>(value); }
inline int64_t argument(const aten::Device& value) { return static_cast<int64_t>(value.type()); }
template <class T>
Span<const T> argument(const aten::ArrayRef<T>& value) {
  return value;
}
// Also for tensors that are written, because the list holds handles.
inline Span<Tensor> argument(const aten::TensorList& value) {
  static_assert(sizeof(aten::Tensor) == sizeof(Tensor));
  return {const_cast<aten::Tensor*>(value.data()), value.size()};
}
inline Span<const std::optional<Tensor>> argument(const aten::ArrayRef<std::optional<aten::Tensor>>& value) {
  return {reinterpret_cast<const std::optional<Tensor>*>(value.data()), value.size()};
}
inline std::optional<Tensor> argument(const std::optional<aten::Tensor>& value) {
  return value.has_value() ? std::optional<Tensor>(*value) : std::nullopt;
}
inline std::optional<Scalar> argument(const std::optional<aten::Scalar>& value) {
  return value.has_value() ? std::optional<Scalar>(*value) : std::nullopt;
}
inline std::optional<int64_t> argument(const std::optional<aten::ScalarType>& value) {
  return value.has_value() ? std::optional<int64_t>(argument(*value)) : std::nullopt;
}
inline std::optional<int64_t> argument(const std::optional<aten::MemoryFormat>& value) {
  return value.has_value() ? std::optional<int64_t>(argument(*value)) : std::nullopt;
}
inline std::optional<int64_t> argument(const std::optional<aten::Layout>& value) {
  return value.has_value() ? std::optional<int64_t>(argument(*value)) : std::nullopt;
}
inline std::optional<int64_t> argument(const std::optional<aten::Device>& value) {
  return value.has_value() ? std::optional<int64_t>(argument(*value)) : std::nullopt;
}
template <class T>
std::optional<Span<const T>> argument(const std::optional<aten::ArrayRef<T>>& value) {
  return value.has_value() ? std::optional<Span<const T>>(*value) : std::nullopt;
}

// The same; keeps written tensors non-const. The result refers to the argument.
template <class T>
decltype(auto) pass(T& value) {
  if constexpr (std::is_same_v<T, aten::Tensor>) {
    return static_cast<Tensor&>(value);
  } else {
    return argument(std::as_const(value));
  }
}
#endif

// Returns false if a tensor has more than kTensorDimensionLimit dimensions, the limit of kernels. Official
// tensors may have more, if their maker provides the memory that describes them.
template <class T>
bool has_rank_of_kernels(const T& argument) {
  if constexpr (std::is_same_v<T, aten::Tensor>) {
    return static_cast<size_t>(argument.dim()) <= executorch::runtime::kTensorDimensionLimit;
  } else if constexpr (std::is_same_v<T, std::optional<aten::Tensor>>) {
    return !argument.has_value() || has_rank_of_kernels(*argument);
  } else if constexpr (std::is_same_v<T, aten::TensorList> ||
                       std::is_same_v<T, aten::ArrayRef<std::optional<aten::Tensor>>>) {
    for (const auto& item : argument) {
      if (!has_rank_of_kernels(item)) return false;
    }
  }
  return true;  // not a tensor
}

// Logs, and fails the context with InvalidArgument.
void refuse_rank(executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext& context);

// Calls `function(KernelContext&)` and fails the context with its error. Without an allocator in the context,
// scratch comes from the system. With one, the kernel is called without scratch first, because most need
// none, and again with a block of the allocator if it reports MemoryAllocationFailed.
template <class Function>
void run(executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext& context, Function&& function) {
  // Address space only: pages are used when the kernel writes to them.
  const SystemMemory reserved(context.temp_allocator() == nullptr);
  Arena temporary(reserved.memory());
  KernelContext ours(&temporary);
  Error error = function(ours);
  // The kernel starts over with the scratch that it lacked.
  if (error == Error::MemoryAllocationFailed && context.temp_allocator() != nullptr) {
    temporary = Arena(take_block(*context.temp_allocator()));
    error = function(ours);
  }
  if (error != Error::Ok) context.fail(official(error));
}

#ifndef USE_ATEN_LIB
// Calls kKernel, a kernel with rushlight's signature and the same parameters in the same order.
template <auto kKernel, class... Arguments>
void call(executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext& context, Arguments&... arguments) {
  if (!(has_rank_of_kernels(arguments) && ...)) return refuse_rank(context);
  run(context, [&](KernelContext& ours) { return kKernel(ours, pass(arguments)...); });
}

// For functions without a context (add_out(self, other, alpha, out)): aborts on an error, because they have
// no other means to report it.
template <auto kKernel, class... Arguments>
void call_or_abort(Arguments&... arguments) {
  executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext context;
  call<kKernel>(context, arguments...);
  ET_CHECK_MSG(context.failure_state() == executorch::runtime::Error::Ok, "kernel without a context: failed");
}
#endif

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
