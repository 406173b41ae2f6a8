// SPDX-License-Identifier: BSD-3-Clause
// Calling rushlight's kernels with official arguments.
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

namespace rushlight::compat {

namespace aten = executorch::aten;

// One argument, as a kernel's parameter takes it: what rushlight has as well is passed by the same reference.
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
// Also of tensors that are written: a list of handles.
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

// Likewise; a tensor that is written stays so.
template <class T>
decltype(auto) pass(T& value) {
  if constexpr (std::is_same_v<T, aten::Tensor>) {
    return static_cast<Tensor&>(value);
  } else {
    return argument(std::as_const(value));
  }
}

// Kernels hold the indices of kTensorDimensionLimit dimensions; an official tensor may have more,
// where its maker brought the memory that describes them.
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
  return true;  // no tensor
}

// Fails the context with InvalidArgument.
void refuse_rank(executorch::runtime::KernelRuntimeContext& context);

// Runs `function(KernelContext&)` and fails the context with its error. Temporary memory is the system's or,
// once the kernel turns out to need it, that of the context's allocator.
template <class Function>
void run(executorch::runtime::KernelRuntimeContext& context, Function&& function) {
  const SystemMemory reserved(context.temp_allocator() == nullptr);
  Arena temporary(reserved.memory());
  KernelContext ours(&temporary);
  Error error = function(ours);
  if (error == Error::MemoryAllocationFailed && context.temp_allocator() != nullptr) {
    temporary = Arena(take_block(*context.temp_allocator()));
    error = function(ours);
  }
  if (error != Error::Ok) context.fail(official(error));
}

template <auto kKernel, class... Arguments>
void call(executorch::runtime::KernelRuntimeContext& context, Arguments&... arguments) {
  if (!(has_rank_of_kernels(arguments) && ...)) return refuse_rank(context);
  run(context, [&](KernelContext& ours) { return kKernel(ours, pass(arguments)...); });
}

// For functions that have no context to fail.
template <auto kKernel, class... Arguments>
void call_or_abort(Arguments&... arguments) {
  executorch::runtime::KernelRuntimeContext context;
  call<kKernel>(context, arguments...);
  ET_CHECK_MSG(context.failure_state() == executorch::runtime::Error::Ok,
               "a kernel without a context failed");
}

}  // namespace rushlight::compat
