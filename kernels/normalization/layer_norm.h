// SPDX-License-Identifier: BSD-3-Clause
// Layer normalization: argument checks and the layout of groups, shared by portable code and backs. A group
// is the elements of the last dimensions, which normalized_shape repeats, for one index of the leading ones.
#pragma once

#include <cstddef>

#include "kernels/normalization/normalization.h"
#include "kernels/walk/joint_axes.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// `groups` walks over the normalized groups and their statistics, `elements` over the elements of a group
// with their parameters. Both take the dimensions in the order of the input's memory. Strides are in bytes;
// the addresses are the caller's. `elements` need not be contiguous.
struct LayerNormLayout {
  enum Group { kGroupInput, kGroupOutput, kGroupMean, kGroupRstd, kGroupOperands };
  enum Element { kInput, kOutput, kWeight, kBias, kElementOperands };
  JointAxes<kGroupOperands> groups;
  JointAxes<kElementOperands> elements;  // stride 0 for an absent parameter
  size_t count = 1;                      // elements in a group
};

// Checks all arguments, resizes the outputs and computes the layout: mean and rstd have the leading
// dimensions, then 1 for each normalized one. `layout` must be new. Errors: InvalidArgument (shapes),
// InvalidType. Needs no tensor memory.
Error plan_layer_norm(const Tensor& input, Span<const int64_t> normalized_shape,
                      const NormalizationParameters& parameters, const Tensor& out, const Tensor& mean,
                      const Tensor& rstd, LayerNormLayout* layout);

}  // namespace rushlight::kernels
