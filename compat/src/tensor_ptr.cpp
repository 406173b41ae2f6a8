// SPDX-License-Identifier: BSD-3-Clause
// Tensors that own their description. Every maker fills TensorParts and passes them to assemble(), which
// makes all checks. One shared object holds the parts, the implementation that refers to them, and the
// handle.
#include <algorithm>
#include <cstring>
#include <numeric>

#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/device_memory_buffer.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include "compat/detail/dim_order.h"

namespace executorch::extension::internal RUSHLIGHT_TENSOR_MODE {

using executorch::aten::Device;
using executorch::aten::DimOrderType;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::aten::TensorShapeDynamism;

namespace {

#ifdef USE_ATEN_LIB

// A tensor of PyTorch over the memory, whose storage calls the deleter. at::for_blob() would need PyTorch's
// library for the device, which a process that only passes the device's memory on may not have.
TensorPtr make(TensorParts&& parts) {
  if (parts.deleter == nullptr) parts.deleter = [](void*) {};
  const auto options = at::TensorOptions(parts.type).device(parts.device);
  const size_t nbytes =
      at::detail::computeStorageNbytes(parts.sizes, parts.strides, options.dtype().itemsize());
  c10::Storage storage(
      c10::Storage::use_byte_size_t(), nbytes,
      c10::InefficientStdFunctionContext::makeDataPtr(parts.data, std::move(parts.deleter), parts.device));
  auto impl = c10::make_intrusive<TensorImpl>(
      std::move(storage), c10::DispatchKeySet(options.computeDispatchKey()), options.dtype());
  impl->set_sizes_and_strides(parts.sizes, parts.strides);
  return std::make_shared<Tensor>(std::move(impl));
}

#else

// The object behind a TensorPtr: the parts, to which the implementation refers, and the handle.
class Assembled {
 public:
  explicit Assembled(TensorParts&& given)
      : parts_(std::move(given)),
        impl_(parts_.type, static_cast<ssize_t>(parts_.sizes.size()), parts_.sizes.data(), parts_.data,
              parts_.dim_order.data(), parts_.strides.data(), parts_.dynamism, parts_.device.type(),
              parts_.device.index()),
        handle_(&impl_) {}
  Assembled(const Assembled&) = delete;
  Assembled& operator=(const Assembled&) = delete;
  ~Assembled() {
    // The implementation's memory, not the initial one: set_data() may have replaced it.
    if (parts_.deleter != nullptr) parts_.deleter(impl_.mutable_data());
  }

  static TensorPtr make(TensorParts&& parts) {
    auto object = std::make_shared<Assembled>(std::move(parts));
    // Aliasing constructor: points to the handle, owns the whole object.
    return {object, &object->handle_};
  }

 private:
  TensorParts parts_;
  TensorImpl impl_;
  Tensor handle_;
};

TensorPtr make(TensorParts&& parts) { return Assembled::make(std::move(parts)); }

#endif

// Derives the dim order from the strides; row-major without strides.
void complete_dim_order(TensorParts& parts) {
  if (!parts.dim_order.empty()) return;
  parts.dim_order.resize(parts.sizes.size());
  if (parts.strides.empty()) {
    std::iota(parts.dim_order.begin(), parts.dim_order.end(), DimOrderType{0});
    return;
  }
  const auto error =
      runtime::stride_to_dim_order(parts.strides.data(), parts.strides.size(), parts.dim_order.data());
  ET_CHECK_MSG(error == runtime::Error::Ok, "strides: expected at most %zu dimensions, got %zu",
               runtime::kTensorDimensionLimit, parts.strides.size());
}

// Computes dense strides for the dim order, and checks that given ones are equal where they matter: neither
// in an empty tensor nor in a dimension of size 1.
void complete_strides(TensorParts& parts) {
  const size_t rank = parts.sizes.size();
  std::vector<StridesType> dense(rank);
  const auto error =
      runtime::dim_order_to_stride(parts.sizes.data(), parts.dim_order.data(), rank, dense.data());
  ET_CHECK_MSG(error == runtime::Error::Ok, "dim order: expected a permutation of %zu dimensions", rank);
  // Strides of an empty tensor and of a dimension of size 1 address nothing.
  const bool is_empty = std::find(parts.sizes.begin(), parts.sizes.end(), 0) != parts.sizes.end();
  for (size_t d = 0; d < parts.strides.size(); ++d) {
    const bool counts = !is_empty && parts.sizes[d] != 1;
    ET_CHECK_MSG(!counts || parts.strides[d] == dense[d], "stride of dimension %zu: expected %d, got %d", d,
                 static_cast<int>(dense[d]), static_cast<int>(parts.strides[d]));
  }
  parts.strides = std::move(dense);
}

void check_rank(const char* name, size_t given, size_t rank) {
  ET_CHECK_MSG(given == 0 || given == rank, "%s: expected %zu entries, got %zu", name, rank, given);
}

// A tensor's shape, layout and dynamism, without its memory.
TensorParts parts_of(const Tensor& tensor) {
  TensorParts parts;
  parts.sizes = {tensor.sizes().begin(), tensor.sizes().end()};
  const auto dim_order = rushlight::compat::dim_order_of(tensor);
  parts.dim_order = {dim_order.begin(), dim_order.end()};
  parts.type = tensor.scalar_type();
#ifndef USE_ATEN_LIB  // PyTorch's shapes are always dynamic
  parts.dynamism = tensor.shape_dynamism();
#endif
  return parts;
}

// Writes the tensor's elements to `to`, converted to `type`.
void convert_elements(const Tensor& tensor, ScalarType type, uint8_t* to) {
  check_castable(tensor.scalar_type(), type);
  AbortOnFailure context;
  ET_SWITCH_REALHBBF16_AND_UINT_TYPES(tensor.scalar_type(), context, "clone_tensor_ptr", FROM, [&] {
    const FROM* elements = tensor.const_data_ptr<FROM>();
    ET_SWITCH_REALHBBF16_AND_UINT_TYPES(type, context, "clone_tensor_ptr", TO, [&] {
      for (ssize_t i = 0; i < tensor.numel(); ++i) {
        reinterpret_cast<TO*>(to)[i] = static_cast<TO>(elements[i]);
      }
    });
  });
}

}  // namespace

size_t checked_numel(const std::vector<SizesType>& sizes) {
  const auto numel = executorch::aten::safe_numel(sizes.data(), static_cast<ssize_t>(sizes.size()));
  ET_CHECK_MSG(numel.ok(), "sizes: got a negative size, or too many elements");
  return static_cast<size_t>(*numel);
}

void check_castable(ScalarType from, ScalarType to) {
  ET_CHECK_MSG(runtime::canCast(from, to), "dtype: expected one that represents %s, got %s",
               runtime::toString(from), runtime::toString(to));
}

TensorPtr assemble(TensorParts parts) {
  check_rank("dim order", parts.dim_order.size(), parts.sizes.size());
  check_rank("strides", parts.strides.size(), parts.sizes.size());
  // Aborts on invalid sizes before they are multiplied.
  static_cast<void>(checked_numel(parts.sizes));
  complete_dim_order(parts);
  complete_strides(parts);
  return make(std::move(parts));
}

TensorPtr assemble(TensorParts parts, std::vector<uint8_t> bytes) {
  const size_t needed = checked_numel(parts.sizes) * runtime::elementSize(parts.type);
  ET_CHECK_MSG(bytes.size() == needed, "bytes: expected %zu, got %zu", needed, bytes.size());
  // Moving a vector keeps the address of its elements.
  parts.data = bytes.data();
  // The deleter, and with it the bytes, live as long as the tensor.
  parts.deleter = [kept = std::make_shared<std::vector<uint8_t>>(std::move(bytes))](void*) {};
  return assemble(std::move(parts));
}

}  // namespace executorch::extension::internalRUSHLIGHT_TENSOR_MODE

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

using executorch::aten::Device;
using executorch::aten::DimOrderType;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::aten::TensorShapeDynamism;
using internal::TensorParts;

TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, void* data, std::vector<DimOrderType> dim_order,
                          std::vector<StridesType> strides, ScalarType type, Device device,
                          TensorShapeDynamism dynamism, std::function<void(void*)> deleter) {
  return internal::assemble({std::move(sizes), std::move(dim_order), std::move(strides), type, dynamism,
                             device, data, std::move(deleter)});
}

TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, void* data, ScalarType type, Device device,
                          TensorShapeDynamism dynamism, std::function<void(void*)> deleter) {
  return internal::assemble({std::move(sizes), {}, {}, type, dynamism, device, data, std::move(deleter)});
}

TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, std::vector<uint8_t> data,
                          std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
                          ScalarType type, TensorShapeDynamism dynamism) {
  return internal::assemble({std::move(sizes), std::move(dim_order), std::move(strides), type, dynamism},
                            std::move(data));
}

TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, std::vector<uint8_t> data, ScalarType type,
                          TensorShapeDynamism dynamism) {
  return internal::assemble({std::move(sizes), {}, {}, type, dynamism}, std::move(data));
}

TensorPtr make_tensor_ptr(const Tensor& tensor, std::vector<SizesType> sizes,
                          std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
                          std::function<void(void*)> deleter) {
  TensorParts view = internal::parts_of(tensor);
  if (!sizes.empty()) {
    const size_t numel = internal::checked_numel(sizes);
    ET_CHECK_MSG(numel <= static_cast<size_t>(tensor.numel()), "view: expected at most %zd elements, got %zu",
                 tensor.numel(), numel);
    // A dim order is only valid for its own rank.
    if (sizes.size() != view.sizes.size()) view.dim_order.clear();
    view.sizes = std::move(sizes);
  }
  if (!dim_order.empty() || !strides.empty()) view.dim_order = std::move(dim_order);
  view.strides = std::move(strides);
  view.device = tensor.device();
  view.data = tensor.mutable_data_ptr();
  view.deleter = std::move(deleter);
  TensorPtr made = internal::assemble(std::move(view));
#ifndef USE_ATEN_LIB  // PyTorch's tensors do not tell constants
  made->unsafeGetTensorImpl()->share_data(*tensor.unsafeGetTensorImpl());
#endif
  return made;
}

TensorPtr make_tensor_ptr(const TensorPtr& tensor_ptr, std::vector<SizesType> sizes,
                          std::vector<DimOrderType> dim_order, std::vector<StridesType> strides) {
  return make_tensor_ptr(*tensor_ptr, std::move(sizes), std::move(dim_order), std::move(strides),
                         [kept = tensor_ptr](void*) {});
}

TensorPtr clone_tensor_ptr(const Tensor& tensor, ScalarType type) {
  ET_CHECK_MSG(tensor.device().is_cpu(),
               "clone_tensor_ptr: expected a tensor of the CPU; clone_tensor_ptr_to "
               "copies from a device");
  TensorParts copy = internal::parts_of(tensor);
  copy.type = type;
  // A tensor whose memory is set later.
  if (tensor.const_data_ptr() == nullptr) return internal::assemble(std::move(copy));
  std::vector<uint8_t> bytes(static_cast<size_t>(tensor.numel()) * runtime::elementSize(type));
  if (type != tensor.scalar_type()) {
    internal::convert_elements(tensor, type, bytes.data());
  } else if (!bytes.empty()) {
    std::memcpy(bytes.data(), tensor.const_data_ptr(), bytes.size());
  }
  return internal::assemble(std::move(copy), std::move(bytes));
}

TensorPtr clone_tensor_ptr(const Tensor& tensor) { return clone_tensor_ptr(tensor, tensor.scalar_type()); }
TensorPtr clone_tensor_ptr(const TensorPtr& tensor, ScalarType type) {
  return clone_tensor_ptr(*tensor, type);
}
TensorPtr clone_tensor_ptr(const TensorPtr& tensor) { return clone_tensor_ptr(*tensor); }

#ifndef USE_ATEN_LIB
TensorPtr clone_tensor_ptr_to(const TensorPtr& tensor, Device target) {
  ET_CHECK_MSG(tensor->device().is_cpu() != target.is_cpu(),
               "clone_tensor_ptr_to: expected the CPU on one side and a device on the other");
  TensorParts copy = internal::parts_of(*tensor);
  TensorPtr result;
  if (target.is_cpu()) {
    result = internal::assemble(std::move(copy), std::vector<uint8_t>(tensor->nbytes()));
  } else {
    auto memory = runtime::DeviceMemoryBuffer::create(tensor->nbytes(), target.type(), target.index());
    ET_CHECK_MSG(memory.ok(), "clone_tensor_ptr_to: %zu bytes of device %d: error %d", tensor->nbytes(),
                 static_cast<int>(target.type()), static_cast<int>(memory.error()));
    auto kept = std::make_shared<runtime::DeviceMemoryBuffer>(std::move(*memory));
    copy.device = target;
    copy.data = kept->data();
    copy.deleter = [kept](void*) {};
    result = internal::assemble(std::move(copy));
  }
  // Through the device's allocator; see device.cpp.
  const auto error = runtime::internal::copy_tensor_data(*result, *tensor);
  ET_CHECK_MSG(error == runtime::Error::Ok, "clone_tensor_ptr_to: copying failed with error %d",
               static_cast<int>(error));
  return result;
}
#endif

runtime::Error resize_tensor_ptr(TensorPtr& tensor, const std::vector<SizesType>& sizes) {
  return ET_RUNTIME_NAMESPACE::resize_tensor(*tensor, {sizes.data(), sizes.size()});
}

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE
