// SPDX-License-Identifier: BSD-3-Clause
// Variance over reduced dimensions: sum of |x - mean|^2 / max(count - correction, 0). Pairwise sums in float
// or double.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/reduction/reduce.h"
#include "runtime/base/error.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The number subtracted from the count before dividing by it: 1 by default.
inline double correction_of(const std::optional<Scalar>& correction) {
  return correction ? correction->to<double>() : 1.0;
}

// Writes the variance to every element of `out`; of complex elements it is the sum of the variances of the
// parts. Two passes, because the one-pass formula cancels if the mean is large. `types` is the set of dtypes
// of the operator. InvalidType if `self` is neither floating nor complex, or `out` cannot store the result.
Error variance_into(TypeSet types, const Reduction& reduction, const Tensor& self, double correction,
                    const Tensor& out);

}  // namespace rushlight::kernels
