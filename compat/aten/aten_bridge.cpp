// SPDX-License-Identifier: BSD-3-Clause
// Tensors of ExecuTorch and of PyTorch over the same memory, by the conversions of aten/. Failures abort, as
// the official functions do.
#include <executorch/extension/aten_util/aten_bridge.h>

#include "aten/convert.h"

namespace executorch::extension {

namespace {

namespace et = executorch::runtime::etensor;

// Aborts unless both tensors describe the same elements.
void check_same_description(const at::Tensor& at, const et::Tensor& et) {
  ET_CHECK_MSG(torch_to_executorch_scalar_type(at.dtype()) == et.scalar_type(), "dtype: expected %d, got %d",
               static_cast<int>(at.scalar_type()), static_cast<int>(et.scalar_type()));
  ET_CHECK_MSG(at.dim() == et.dim(), "rank: expected %d, got %d", static_cast<int>(at.dim()),
               static_cast<int>(et.dim()));
  for (int64_t d = 0; d < at.dim(); ++d) {
    const auto index = static_cast<size_t>(d);
    ET_CHECK_MSG(at.size(d) == et.sizes()[index], "size of dimension %zu: expected %lld, got %d", index,
                 static_cast<long long>(at.size(d)), static_cast<int>(et.sizes()[index]));
  }
  for (int64_t d = 0; d < at.dim(); ++d) {
    const auto index = static_cast<size_t>(d);
    ET_CHECK_MSG(at.size(d) == 1 || at.stride(d) == et.strides()[index],
                 "stride of dimension %zu: expected %lld, got %d", index,
                 static_cast<long long>(at.stride(d)), static_cast<int>(et.strides()[index]));
  }
}

}  // namespace

// The enumerations have the same values, of which PyTorch has more.
et::ScalarType torch_to_executorch_scalar_type(caffe2::TypeMeta type) {
  const auto value = static_cast<int>(c10::typeMetaToScalarType(type));
  ET_CHECK_MSG(value >= 0 && value < static_cast<int>(et::ScalarType::Undefined),
               "dtype: expected one of ExecuTorch's, got PyTorch's %d", value);
  return static_cast<et::ScalarType>(value);
}

c10::ScalarType executorch_to_torch_scalar_type(et::ScalarType type) {
  const auto value = static_cast<int>(type);
  ET_CHECK_MSG(value >= 0 && value < static_cast<int>(et::ScalarType::Undefined),
               "dtype: expected one of ExecuTorch's, got %d", value);
  return static_cast<c10::ScalarType>(value);
}

void alias_etensor_to_attensor(at::Tensor& at, et::Tensor& et) {
  ET_CHECK_MSG(at.is_contiguous(), "tensor: expected a row-major one of PyTorch");
  check_same_description(at, et);
  et.unsafeGetTensorImpl()->set_data(at.mutable_data_ptr());
}

at::Tensor alias_attensor_to_etensor(const et::Tensor& et) {
  ET_CHECK_MSG(et.device().is_cpu(), "tensor: expected memory of the CPU, got device %d",
               static_cast<int>(et.device_type()));
  return rushlight::aten::alias(et);
}

TensorPtr alias_tensor_ptr_to_attensor(at::Tensor& t) {
  auto alias = rushlight::aten::TensorAlias::make(t);
  ET_CHECK_MSG(alias.ok(), "tensor: no view of PyTorch's, error %d", static_cast<int>(alias.error()));
  const et::Tensor tensor(alias->tensor());
  // The deleter holds a handle, which keeps the storage alive. The shape may change: PyTorch's shapes do.
  return make_tensor_ptr({tensor.sizes().begin(), tensor.sizes().end()}, tensor.mutable_data_ptr(),
                         {tensor.dim_order().begin(), tensor.dim_order().end()}, {}, tensor.scalar_type(),
                         tensor.device(), runtime::TensorShapeDynamism::DYNAMIC_BOUND, [kept = t](void*) {});
}

}  // namespace executorch::extension
