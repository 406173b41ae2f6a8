// SPDX-License-Identifier: BSD-3-Clause
// The dim order of a tensor in either mode: rushlight's tensors store it, PyTorch's have strides.
#pragma once

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#ifdef USE_ATEN_LIB
#include <vector>
#endif

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

#ifdef USE_ATEN_LIB
// Aborts for more than kTensorDimensionLimit dimensions.
inline std::vector<executorch::aten::DimOrderType> dim_order_of(const executorch::aten::Tensor& tensor) {
  std::vector<executorch::aten::DimOrderType> order(static_cast<size_t>(tensor.dim()));
  const auto error = executorch::ET_RUNTIME_NAMESPACE::get_dim_order(tensor, order.data(), order.size());
  ET_CHECK_MSG(error == executorch::runtime::Error::Ok, "tensor: no dim order, error %d",
               static_cast<int>(error));
  return order;
}
#else
inline auto dim_order_of(const executorch::aten::Tensor& tensor) { return tensor.dim_order(); }
#endif

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
