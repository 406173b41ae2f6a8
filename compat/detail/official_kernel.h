// SPDX-License-Identifier: BSD-3-Clause
// Functions by which generated kernels call kernels with the official C++ signature.
// rushlight.codegen.adapters writes, for each operator with such kernels, a kernel that tries their keys in
// sequence: matches(), then call_official() with as() for each argument. This replaces the registry, so
// boards need no start-up code.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include "compat/detail/convert.h"
#include "compat/detail/temporary.h"
#include "runtime/kernel/context.h"

namespace rushlight::compat {

namespace aten = executorch::aten;

// True for std::optional<T>, and for ArrayRef<T>.
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_array_ref = false;
template <class T>
inline constexpr bool is_array_ref<aten::ArrayRef<T>> = true;

// The official classes add functions only, so references and arrays convert by a cast.
static_assert(sizeof(aten::Tensor) == sizeof(Tensor) && sizeof(aten::Scalar) == sizeof(Scalar));

// Converts an argument of rushlight's kernel to the official kernel's parameter type `To`. Lists keep their
// memory: the items of both list types have the same layout. A device has its type only; its index is lost.
template <class To, class From>
To as(From& value) {
  using Plain = std::decay_t<To>;
  if constexpr (std::is_same_v<To, aten::Tensor&>) {
    return static_cast<aten::Tensor&>(value);
  } else if constexpr (is_optional<Plain>) {
    if (!value.has_value()) return std::nullopt;
    return as<typename Plain::value_type>(*value);
  } else if constexpr (is_array_ref<Plain>) {
    return Plain(reinterpret_cast<const typename Plain::value_type*>(value.data()), value.size());
  } else if constexpr (std::is_same_v<Plain, aten::Device>) {
    return Plain(static_cast<aten::DeviceType>(value));
  } else {
    return static_cast<Plain>(value);
  }
}

// The part of a kernel key that describes one tensor: dtype and dim order, outermost dimension first.
struct TensorKey {
  ScalarType dtype;
  uint8_t rank;
  uint8_t order[16];
};

// True if the tensors are as many as the keys and each has its key's dtype, rank and dim order.
inline bool matches(Span<const TensorKey> keys, std::initializer_list<const Tensor*> tensors) {
  size_t index = 0;
  for (const Tensor* tensor : tensors) {
    if (index == keys.size()) return false;
    const TensorKey& key = keys[index++];
    const auto order = tensor->dim_order();
    if (tensor->scalar_type() != key.dtype || order.size() != key.rank) return false;
    for (size_t d = 0; d < key.rank; ++d) {
      if (order[d] != key.order[d]) return false;
    }
  }
  return index == keys.size();
}

// Calls `function(KernelRuntimeContext&)` with the kernel's scratch, and returns the context's failure. The
// context has no tracer: the method has already reported the call.
template <class Function>
Error call_official(KernelContext& context, Function&& function) {
  // On the stack: boards have no heap.
  TemporaryOf<KernelContext> temporary(context);
  executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext official_context(nullptr, &temporary);
  function(official_context);
  return ours(official_context.failure_state());
}

}  // namespace rushlight::compat
