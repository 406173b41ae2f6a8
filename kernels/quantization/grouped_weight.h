// SPDX-License-Identifier: BSD-3-Clause
// Arguments of linear layers whose weights are integers of 8 or 4 bits with scales for groups of inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/checks/checks.h"
#include "kernels/ukernel/grouped_weights.h"
#include "runtime/base/error.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// A checked weight. int8 [features, depth]; or uint8 [features, (depth + 1) / 2] with two elements in a byte,
// -8 to 7 stored as 0 to 15, the first in the lower half. Scales are float32: one, [features], or [features,
// groups] for groups of equal length. The elements of a row are adjacent. Refers to the tensors' data.
struct GroupedWeight : ukernel::GroupedWeights {
  size_t features = 0;
};

// Checks the arguments of a float32 linear layer, and computes the weight and the shape of the result.
// InvalidType, InvalidArgument.
Error plan_grouped_linear(TypeSet types, const Tensor& input, const Tensor& weight, const Tensor& scales,
                          const std::optional<Tensor>& bias, GroupedWeight* made, Shape* shape);

}  // namespace rushlight::kernels
