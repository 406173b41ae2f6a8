// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/scalar_tensor.h"

#include <cstring>

#include "kernels/shared/convert.h"
#include "kernels/shared/selection.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

ScalarTensor::ScalarTensor(const Scalar& value, ScalarType type)
    : impl_(type, 0, nullptr, storage_, nullptr, nullptr), tensor_(&impl_) {
  if (!contains(kConvertibleTypes, type)) return;
  static_cast<void>(dispatch<kConvertibleTypes>(type, [&](auto element_type) {
    using T = typename decltype(element_type)::Element;
    const T element = value.is_floating() ? convert<T>(value.to<double>()) : convert<T>(value.to<int64_t>());
    std::memcpy(storage_, &element, sizeof element);
    return Error::Ok;
  }));
}

}  // namespace rushlight::kernels
