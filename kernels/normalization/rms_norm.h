// SPDX-License-Identifier: BSD-3-Clause
// Root mean square normalization: x / sqrt(mean(x^2) + eps) * weight over the last dimensions. Unlike layer
// normalization it subtracts no mean and stores no statistics. Reference: Zhang and Sennrich, "Root Mean
// Square Layer Normalization", 2019.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>

#include "kernels/checks/checks.h"
#include "kernels/matmul/accumulator.h"
#include "kernels/reduction/sum.h"
#include "kernels/walk/row_major.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The input as rows, in row-major order of its dimensions; each is normalized separately.
struct RmsNormPlan {
  size_t rows = 1;
  size_t count = 1;  // elements in a row
};

// Checks the tensors, which have one dtype, and resizes `out` to the input's shape. The weight has the shape
// normalized_shape, as have the input's last dimensions. `plan` must be new. InvalidArgument, InvalidType.
Error plan_rms_norm(const Tensor& input, Span<const int64_t> normalized_shape,
                    const std::optional<Tensor>& weight, const Tensor& out, RmsNormPlan* plan);

// The portable computation: any layout, element by element, with pairwise sums, in two passes over each row.
// 16-bit floats compute in float and are rounded once. Precondition: plan_rms_norm() succeeded for T. `out`
// may be the input's memory in the same layout. A row without elements writes nothing.
template <class T>
void normalize_by_rms(const Tensor& input, const std::optional<Tensor>& weight, double eps,
                      const RmsNormPlan& plan, const Tensor& out) {
  using A = Accumulator<T>;
  const auto load = [](const RowMajorCursor& at) { return widen(*reinterpret_cast<const T*>(at.get())); };
  RowMajorCursor from(input);
  RowMajorCursor to(out);
  for (size_t row = 0; row < plan.rows; ++row) {
    PairwiseSum<A> sum;
    // The sum reads the row ahead of the cursor, which then passes over it again.
    RowMajorCursor ahead = from;
    for (size_t i = 0; i < plan.count; ++i, ahead.advance()) sum.add(load(ahead) * load(ahead));
    const A mean = sum.total() / static_cast<A>(plan.count);
    const A scale = A(1) / std::sqrt(mean + static_cast<A>(eps));
    // Without a weight the cursor walks over the input and is not read.
    RowMajorCursor factor(weight ? *weight : input);
    // Multiplies by the scale before the weight, which is one rounding each.
    for (size_t i = 0; i < plan.count; ++i, from.advance(), to.advance(), factor.advance()) {
      const A value = load(from) * scale;
      *reinterpret_cast<T*>(to.get()) = narrow<T>(weight ? value * load(factor) : value);
    }
  }
}

}  // namespace rushlight::kernels
