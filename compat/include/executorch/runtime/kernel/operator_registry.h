// SPDX-License-Identifier: BSD-3-Clause
// Kernels registered at run time, for hosts, in addition to the operators that the build selected. Storage is
// fixed (MAX_KERNEL_NUM kernels). A kernel replaces the build's kernel with the same name and key.
#pragma once

#include <cstring>

#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/platform.h>

#define ET_LOG_KERNEL_KEY(k) ET_LOG(Info, "key: %s", (k).is_fallback() ? "of the fallback" : (k).data())
#define ET_LOG_TENSOR_META(meta_list)                                               \
  for (const auto& meta : meta_list) {                                              \
    ET_LOG(Info, "dtype: %d, dim order:", static_cast<int>(meta.dtype_));           \
    for (const auto d : meta.dim_order_) ET_LOG(Info, "  %d", static_cast<int>(d)); \
  }

namespace executorch::ET_RUNTIME_NAMESPACE {

class KernelRuntimeContext;

// Arguments follow the schema's order: outputs last, and then those outputs again that the operator returns.
using OpFunction = void (*)(KernelRuntimeContext&, Span<EValue*>);

// The properties of a tensor that kernels can be specialised for.
struct TensorMeta {
  executorch::aten::ScalarType dtype_;
  Span<executorch::aten::DimOrderType> dim_order_;

  TensorMeta() = default;
  TensorMeta(executorch::aten::ScalarType dtype, Span<executorch::aten::DimOrderType> order)
      : dtype_(dtype), dim_order_(order) {}

  bool equals(const TensorMeta& other) const {
    return dtype_ == other.dtype_ && dim_order_.size() == other.dim_order_.size() &&
           (dim_order_.empty() ||
            std::memcmp(dim_order_.data(), other.dim_order_.data(), dim_order_.size()) == 0);
  }
  bool operator==(const TensorMeta& other) const { return equals(other); }
  bool operator!=(const TensorMeta& other) const { return !equals(other); }
};

// The metas of a kernel's tensors as text: "v1/6;0,1|6;0,1". Null is the fallback for any tensors.
struct KernelKey {
 public:
  constexpr KernelKey() = default;
  constexpr KernelKey(const char* kernel_key_data) : kernel_key_data_(kernel_key_data) {}

  bool is_fallback() const { return kernel_key_data_ == nullptr; }
  const char* data() const { return kernel_key_data_; }
  bool equals(const KernelKey& other) const {
    if (is_fallback() || other.is_fallback()) return is_fallback() == other.is_fallback();
    return std::strcmp(kernel_key_data_, other.kernel_key_data_) == 0;
  }
  bool operator==(const KernelKey& other) const { return equals(other); }
  bool operator!=(const KernelKey& other) const { return !equals(other); }

 private:
  const char* kernel_key_data_ = nullptr;
};

struct Kernel {
  const char* name_;  // "namespace::name.overload"; must stay valid, like the key
  KernelKey kernel_key_;
  OpFunction op_;
  // rushlight's signature of the arguments (runtime/kernel/boxing.h), against which programs are checked at
  // load; null if unknown.
  const char* signature_ = nullptr;

  constexpr Kernel() : name_(nullptr), op_(nullptr) {}
  constexpr explicit Kernel(const char* name, OpFunction func) : name_(name), op_(func) {}
  constexpr explicit Kernel(const char* name, KernelKey key, OpFunction func)
      : name_(name), kernel_key_(key), op_(func) {}
};

namespace internal {

constexpr size_t kKernelKeyBufSize = 659;

// Writes an empty text for no tensors. Error: InvalidArgument (the buffer is too small, an invalid dtype).
Error make_kernel_key_string(Span<const TensorMeta> key, char* buf, size_t buf_size);

}  // namespace internal

// Returns the kernel for exactly these tensors, or the fallback. Error: OperatorMissing.
Result<OpFunction> get_op_function_from_registry(const char* name, Span<const TensorMeta> meta_list = {});
// The same, but searches `kernel_list` first.
Result<OpFunction> get_op_function_from_registry(const char* name, Span<const TensorMeta> meta_list,
                                                 Span<const Kernel> kernel_list);
bool registry_has_op_function(const char* name, Span<const TensorMeta> meta_list = {});

// Kernels of the build come first.
Span<const Kernel> get_registered_kernels();

// Always returns Ok, so that statics can be initialised with it. Aborts if there are more than MAX_KERNEL_NUM
// kernels, or if another registered kernel has the same name and key.
ET_NODISCARD Error register_kernels(const Span<const Kernel>);
ET_NODISCARD inline Error register_kernel(const Kernel& kernel) {
  return register_kernels({&kernel, size_t{1}});
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {

using ::executorch::ET_RUNTIME_NAMESPACE::Kernel;
using ::executorch::ET_RUNTIME_NAMESPACE::KernelKey;
using ::executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext;
using ::executorch::ET_RUNTIME_NAMESPACE::OpFunction;
using ::executorch::ET_RUNTIME_NAMESPACE::TensorMeta;

inline ::executorch::runtime::Error register_kernels(ArrayRef<Kernel> kernels) {
  return ::executorch::ET_RUNTIME_NAMESPACE::register_kernels({kernels.data(), kernels.size()});
}
inline OpFunction getOpsFn(const char* name, ArrayRef<TensorMeta> meta_list = {}) {
  auto function = ::executorch::ET_RUNTIME_NAMESPACE::get_op_function_from_registry(
      name, {meta_list.data(), meta_list.size()});
  ET_CHECK(function.ok());
  return *function;
}
inline bool hasOpsFn(const char* name, ArrayRef<TensorMeta> meta_list = {}) {
  return ::executorch::ET_RUNTIME_NAMESPACE::registry_has_op_function(name,
                                                                      {meta_list.data(), meta_list.size()});
}
inline ArrayRef<Kernel> get_kernels() {
  const auto kernels = ::executorch::ET_RUNTIME_NAMESPACE::get_registered_kernels();
  return {kernels.data(), kernels.size()};
}

}  // namespace torch::executor
