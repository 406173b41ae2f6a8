// SPDX-License-Identifier: BSD-3-Clause
// Kernels registered at run time, for hosts, in addition to the operators that the build selected. Storage is
// fixed: MAX_KERNEL_NUM kernels, 2000 by default, the build's included; the value counts where the library is
// compiled. A kernel replaces the build's kernel with the same name and key.
//
//   static const Kernel kernel("my_ops::scale.out", [](KernelRuntimeContext& context, Span<EValue*> stack) {
//     scale_out(context, stack[0]->toTensor(), stack[1]->toDouble(), stack[2]->toTensor());
//   });
//   static const Error registered = register_kernel(kernel);
//
// Usually generated code or EXECUTORCH_LIBRARY (extension/kernel_util/make_boxed_from_unboxed_functor.h)
// registers kernels in a static initialiser. Lookups and loading may run in several threads; nothing may be
// registered meanwhile. Nothing can be removed. A method looks its operators up when it is loaded, so kernels
// must be registered before.
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

// Log a key, and the TensorMeta objects of a list, at level Info.
#define ET_LOG_KERNEL_KEY(k) ET_LOG(Info, "key: %s", (k).is_fallback() ? "of the fallback" : (k).data())
#define ET_LOG_TENSOR_META(meta_list)                                               \
  for (const auto& meta : meta_list) {                                              \
    ET_LOG(Info, "dtype: %d, dim order:", static_cast<int>(meta.dtype_));           \
    for (const auto d : meta.dim_order_) ET_LOG(Info, "  %d", static_cast<int>(d)); \
  }

namespace executorch::ET_RUNTIME_NAMESPACE {

class KernelRuntimeContext;

// A kernel behind the uniform signature. Arguments follow the schema's order: outputs last, and then those
// outputs again that the operator returns. The array is valid during the call only. Values have the kinds of
// the schema: the loader checked them if the signature is known.
using OpFunction = void (*)(KernelRuntimeContext&, Span<EValue*>);

// The properties of a tensor that kernels can be specialised for. The dim order is not copied; the default
// constructor leaves the dtype undefined.
struct TensorMeta {
  executorch::aten::ScalarType dtype_;
  Span<executorch::aten::DimOrderType> dim_order_;

  TensorMeta() = default;
  TensorMeta(executorch::aten::ScalarType dtype, Span<executorch::aten::DimOrderType> order)
      : dtype_(dtype), dim_order_(order) {}

  // Compares the dim orders' entries, not the layouts that they describe.
  bool equals(const TensorMeta& other) const {
    return dtype_ == other.dtype_ && dim_order_.size() == other.dim_order_.size() &&
           (dim_order_.empty() ||
            std::memcmp(dim_order_.data(), other.dim_order_.data(), dim_order_.size()) == 0);
  }
  bool operator==(const TensorMeta& other) const { return equals(other); }
  bool operator!=(const TensorMeta& other) const { return !equals(other); }
};

// The metas of a kernel's tensors as text, in the order of the arguments: "v1/6;0,1|6;0,1" are two float
// tensors (dtype 6) of rank 2 in row-major order. Null is the fallback for any tensors. The text is not
// copied.
struct KernelKey {
 public:
  constexpr KernelKey() = default;
  constexpr KernelKey(const char* kernel_key_data) : kernel_key_data_(kernel_key_data) {}

  bool is_fallback() const { return kernel_key_data_ == nullptr; }
  const char* data() const { return kernel_key_data_; }
  // Two fallbacks are equal; otherwise the texts are compared.
  bool equals(const KernelKey& other) const {
    if (is_fallback() || other.is_fallback()) return is_fallback() == other.is_fallback();
    return std::strcmp(kernel_key_data_, other.kernel_key_data_) == 0;
  }
  bool operator==(const KernelKey& other) const { return equals(other); }
  bool operator!=(const KernelKey& other) const { return !equals(other); }

 private:
  const char* kernel_key_data_ = nullptr;
};

// A kernel under an operator's name. Copied by the registry, without the texts.
struct Kernel {
  const char* name_;  // "namespace::name.overload"; must stay valid, like the key
  KernelKey kernel_key_;
  OpFunction op_;
  // rushlight's signature of the arguments (runtime/kernel/boxing.h), against which programs are checked at
  // load; null if unknown. A kernel with an unknown signature must check kinds and number of its arguments.
  const char* signature_ = nullptr;

  constexpr Kernel() : name_(nullptr), op_(nullptr) {}
  constexpr explicit Kernel(const char* name, OpFunction func) : name_(name), op_(func) {}
  constexpr explicit Kernel(const char* name, KernelKey key, OpFunction func)
      : name_(name), kernel_key_(key), op_(func) {}
};

namespace internal {

// Enough for 16 tensors of rank 16: "v1/", 41 characters a tensor, the last of which is the zero byte.
constexpr size_t kKernelKeyBufSize = 659;

// Writes the key of these tensors, with a zero byte, to `buf` of `buf_size` bytes; an empty text for no
// tensors. Error: InvalidArgument (the buffer is too small, an invalid dtype).
Error make_kernel_key_string(Span<const TensorMeta> key, char* buf, size_t buf_size);

}  // namespace internal

// Returns the kernel for exactly these tensors, or the fallback. Compares the names of all kernels one by
// one: look a function up once, not per call. Errors: OperatorMissing (logs the key), InvalidArgument (the
// tensors have no key).
Result<OpFunction> get_op_function_from_registry(const char* name, Span<const TensorMeta> meta_list = {});
// The same, but searches `kernel_list` first: even its fallback comes before a registered kernel for exactly
// these tensors.
Result<OpFunction> get_op_function_from_registry(const char* name, Span<const TensorMeta> meta_list,
                                                 Span<const Kernel> kernel_list);
// True if get_op_function_from_registry() finds a kernel; logs if not.
bool registry_has_op_function(const char* name, Span<const TensorMeta> meta_list = {});

// All kernels, the build's first. The view shows replaced kernels in place, but not kernels that are
// registered later.
Span<const Kernel> get_registered_kernels();

// Registers kernels for methods that are loaded from now on. Always returns Ok, so that statics can be
// initialised with it. Aborts for a null name or function, if there are more than MAX_KERNEL_NUM kernels, or
// if another registered kernel has the same name and key: statics have no caller who could handle an error.
ET_NODISCARD Error register_kernels(const Span<const Kernel>);
ET_NODISCARD inline Error register_kernel(const Kernel& kernel) {
  return register_kernels({&kernel, size_t{1}});
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE

// Older names of the same functions. getOpsFn() aborts if there is no kernel.
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
