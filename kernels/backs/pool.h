// SPDX-License-Identifier: BSD-3-Clause
// Problems of two-dimensional pools, and their backs. `self` and `out` have one dtype and are [N, C, H, W] or
// [C, H, W] in any dim order; every result has its shape.
#pragma once

#include "kernels/geometry/region.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The mean of each region, with the divisor that the pool specifies; regions may be windows or parts of an
// adaptive pool.
struct AveragePoolProblem {
  const Pool& pool;

  [[nodiscard]] ScalarType type() const { return pool.volume.type; }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

// The largest element of each window, and, unless `indices` is null, its index in the plane (y * width + x)
// as int64. NaN wins over every other value.
struct MaxPoolProblem {
  const Tensor& self;
  const Window* windows;  // two: vertical, horizontal
  const Tensor& out;
  const Tensor* indices;

  [[nodiscard]] ScalarType type() const { return self.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// avg_pool.cpp: float32, float16 and bfloat16. Never fails.
Error avg_pool2d(KernelContext& context, const AveragePoolProblem& problem);
// max_pool2d.cpp: float32, float16, bfloat16, int8 and uint8. Never fails.
Error max_pool2d(KernelContext& context, const MaxPoolProblem& problem);

}  // namespace host

namespace board {

// pool.cpp: float32. Never fail.
Error avg_pool2d(KernelContext& context, const AveragePoolProblem& problem);
Error max_pool2d(KernelContext& context, const MaxPoolProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
