// SPDX-License-Identifier: BSD-3-Clause
// Problems of normalizations, and their backs. Every result has its shape. The definitions, with their order
// of rounding, are in kernels/normalization.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/normalization/layer_norm.h"
#include "kernels/normalization/normalization.h"
#include "kernels/normalization/rms_norm.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct RunningStatistics;

// Normalizes each channel by its running statistics, see check_batch_norm(). Input and out are [N, C, ...],
// statistics and parameters [C]. If the input is float32, so are all other tensors. Backs fold the statistics
// into one factor and one offset for each channel.
struct BatchNormProblem {
  static constexpr bool kDtypeIsSelected = true;

  const Tensor& input;
  const NormalizationParameters& parameters;
  const Tensor& running_mean;
  const Tensor& running_var;
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return input.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

// Normalizes each group of elements by its own mean and standard deviation. Also stores the mean and the
// inverse of the standard deviation of each group. is_in() is false for 16-bit inputs with float32 statistics
// or parameters.
struct GroupedNormProblem {
  const Tensor& input;
  const NormalizationParameters& parameters;
  const Tensor& out;  // has the dtype of the input
  const Tensor& mean;
  const Tensor& rstd;

  [[nodiscard]] ScalarType type() const { return input.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const {
    return contains(types, type()) && mean.scalar_type() == type() && rstd.scalar_type() == type() &&
           parameters.type(type()) == type();
  }
};

// Normalizes each channel by its own mean and standard deviation over the batch. mean and rstd have one
// element for each channel of [N, C, ...], and so have running statistics, which the batch updates; null:
// none.
struct BatchStatisticsProblem : GroupedNormProblem {
  const RunningStatistics* running;
};

// The groups are the last dimensions; the layout walks over them. mean and rstd have the leading dimensions,
// then ones.
struct LayerNormProblem : GroupedNormProblem {
  const LayerNormLayout& layout;
};

// The groups divide the channels, dimension 1. mean and rstd are [N, groups].
struct GroupNormProblem : GroupedNormProblem {
  size_t groups;  // in each sample
};

// Divides each row by its root mean square, then multiplies by the weight. All tensors have one dtype; the
// weight has `plan.count` elements or is absent.
struct RmsNormProblem {
  const Tensor& input;
  const std::optional<Tensor>& weight;
  double eps;
  const RmsNormPlan& plan;
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return input.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// layer_norm, group_norm and batch_norm_of_batch compute the variance in a second pass over the group;
// rms_norm needs one pass for its mean of squares. None needs scratch memory; none declines or fails. Layouts
// without fast loops take the portable loops. All compute float32, float16 and bfloat16, in float32;
// layer_norm also float64.
Error batch_norm(KernelContext& context, const BatchNormProblem& problem);
Error batch_norm_of_batch(KernelContext& context, const BatchStatisticsProblem& problem);
Error layer_norm(KernelContext& context, const LayerNormProblem& problem);
Error group_norm(KernelContext& context, const GroupNormProblem& problem);
Error rms_norm(KernelContext& context, const RmsNormProblem& problem);

}  // namespace host

namespace board {

// batch_norm.cpp, rms_norm.cpp: float32.
Error batch_norm(KernelContext& context, const BatchNormProblem& problem);
Error rms_norm(KernelContext& context, const RmsNormProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
