// SPDX-License-Identifier: BSD-3-Clause
// Problems of operators that resample images, and their backs. `out` has its shape; of its dimensions only
// the batch may be empty.
#pragma once

#include "kernels/geometry/spatial_gather.h"
#include "kernels/geometry/upsample.h"
#include "kernels/geometry/upsample_positions.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// `self` is [N, C, spatial...] in any dim order, and `out` differs in the spatial dimensions, which are given
// as a volume of three, the leading ones of size 1 if the tensor has fewer.
struct UpsampleProblem {
  const Tensor& self;
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return self.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const {
    return contains(types, type()) && out.scalar_type() == type();
  }
};

// Each output is a weighted sum of the two (linear) or four (cubic) nearest inputs in each dimension, at
// resampled_position(). Outside of the image the border repeats.
struct InterpolationProblem : UpsampleProblem {
  const Resampling* dimensions;  // one for each axis of the volume
  Filter filter;
  bool align_corners;
};

// Each output is a copy of the input at nearest_position(). Two spatial dimensions.
struct NearestProblem : UpsampleProblem {
  const GatheredAxis* axes;  // one for each axis of the volume
};

namespace host {

// upsample.cpp. interpolate() takes float32, 16-bit floats and uint8; upsample_nearest2d() float32. Never
// fail.
Error interpolate(KernelContext& context, const InterpolationProblem& problem);
Error upsample_nearest2d(KernelContext& context, const NearestProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
