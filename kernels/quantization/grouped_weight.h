// SPDX-License-Identifier: BSD-3-Clause
// Arguments of linear layers whose weights are integers of 8 or 4 bits with scales of groups.
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

// int8 [features, depth]; or uint8 [features, (depth + 1) / 2], two numbers from -8 to 7 a byte, counted from
// 0, the first in the lower half. Scales are float32: one, [features] or [features, groups]; groups are
// equally long. Numbers of a row are adjacent.
struct GroupedWeight : ukernel::GroupedWeights {
  size_t features = 0;
};

// Checks the arguments of a linear layer in float32 and plans the sizes of its result. InvalidType,
// InvalidArgument.
Error plan_grouped_linear(TypeSet types, const Tensor& input, const Tensor& weight, const Tensor& scales,
                          const std::optional<Tensor>& bias, GroupedWeight* made, Shape* shape);

}  // namespace rushlight::kernels
