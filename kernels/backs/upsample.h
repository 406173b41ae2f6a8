// SPDX-License-Identifier: BSD-3-Clause
// Problems of operators that resample images, and their backs. `out` has its shape; of its dimensions only
// the batch may be empty.
#pragma once

#include "kernels/geometry/spatial_gather.h"
#include "kernels/geometry/upsample.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// `self` is [N, C, H, W] in any dim order, and `out` differs in H and W; the resampled dimensions are given
// as a volume of three, the first of size 1.
struct UpsampleProblem {
  const Tensor& self;
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return self.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const {
    return contains(types, type()) && out.scalar_type() == type();
  }
};

// Each output blends the two nearest inputs in each dimension (four in all), at resampled_position().
struct BilinearProblem : UpsampleProblem {
  const Resampling* dimensions;  // one for each axis of the volume
  bool align_corners;
};

// Each output is a copy of the input at nearest_position().
struct NearestProblem : UpsampleProblem {
  const GatheredAxis* axes;  // one for each axis of the volume
};

namespace host {

// upsample.cpp: float32. Never fails. Positions and weights of the columns are computed once for all rows.
Error upsample_bilinear2d(KernelContext& context, const BilinearProblem& problem);
Error upsample_nearest2d(KernelContext& context, const NearestProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
