// SPDX-License-Identifier: BSD-3-Clause
// Batch normalization in training averages the statistics of all batches.
#pragma once

#include <cstddef>

#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Running statistics, one element for each channel, and the momentum with which a batch updates them.
struct RunningStatistics {
  const Tensor& mean;
  const Tensor& var;
  double momentum;

  // kept = momentum * value + (1 - momentum) * kept, in double, for one channel of a batch whose channels
  // have `count` elements. The running variance is the unbiased one: it divides by count - 1. A channel with
  // one element has none: 0 / 0 is NaN, as in PyTorch.
  void update(size_t channel, double batch_mean, double biased_variance, size_t count) const;
};

}  // namespace rushlight::kernels
