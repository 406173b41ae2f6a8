// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/scalar_tensor.h"

#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/element.h"
#include "runtime/base/log.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

ScalarTensor::ScalarTensor(const Scalar& value, ScalarType type)
    : impl_(type, 0, nullptr, storage_, nullptr, nullptr), tensor_(&impl_) {
  // The operator's dispatch reports the dtype.
  if (!contains(kConvertibleTypes, type)) return;
  // The scalar becomes the real part of a complex element.
  constexpr TypeSet kRealTypes = kConvertibleTypes & ~types::kComplex;
  static_cast<void>(dispatch<kRealTypes>(component_type(type), [&](auto element_type) {
    using T = typename decltype(element_type)::Element;
    // Writes only the real part; the storage is zero before.
    const T element = value.is_floating() ? convert<T>(value.to<double>()) : convert<T>(value.to<int64_t>());
    std::memcpy(storage_, &element, sizeof element);
    return Error::Ok;
  }));
}

Result<Scalar> scalar_of(const Tensor& tensor, const char* name) {
  RL_CHECK(tensor.dim() == 0, Error::InvalidArgument, "%s: expected no dimension, got %ld", name,
           static_cast<long>(tensor.dim()));
  Scalar value(0);
  RL_TRY(dispatch<(kAnySelectedType & types::kAll)>(tensor.scalar_type(), [&](auto element_type) {
    using T = typename decltype(element_type)::Element;
    // load() makes 0 or 1 of any byte of a bool.
    const T element = load(tensor.const_data_ptr<T>());
    if constexpr (std::is_same_v<T, bool>) {
      value = Scalar(element);
    } else if constexpr (std::is_integral_v<T>) {
      value = Scalar(static_cast<int64_t>(element));
    } else {
      value = Scalar(convert<double>(element));
    }
    return Error::Ok;
  }));
  return value;
}

}  // namespace rushlight::kernels
