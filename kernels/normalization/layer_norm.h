// SPDX-License-Identifier: BSD-3-Clause
// What every layer normalization begins with: checks, and where everything lies.
#pragma once

#include <cstddef>

#include "kernels/normalization/normalization.h"
#include "kernels/walk/joint_axes.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// `groups` steps from one group of elements that is normalized to the next, `elements` within such a group.
struct LayerNormLayout {
  enum Group { kGroupInput, kGroupOutput, kGroupMean, kGroupRstd, kGroupOperands };
  enum Element { kInput, kOutput, kWeight, kBias, kElementOperands };
  JointAxes<kGroupOperands> groups;
  JointAxes<kElementOperands> elements;  // with strides 0 where a parameter is absent
  size_t count = 1;                      // elements of a group
};

// Checks all arguments and resizes the outputs. Errors: InvalidArgument (shapes), InvalidType.
Error plan_layer_norm(const Tensor& input, Span<const int64_t> normalized_shape,
                      const NormalizationParameters& parameters, const Tensor& out, const Tensor& mean,
                      const Tensor& rstd, LayerNormLayout* layout);

}  // namespace rushlight::kernels
