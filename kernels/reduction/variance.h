// SPDX-License-Identifier: BSD-3-Clause
// Variance over reduced dimensions.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/reduction/reduce.h"
#include "runtime/base/error.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// What is taken from the number of elements before dividing by it: 1 where nothing else is said.
inline double correction_of(const std::optional<Scalar>& correction) {
  return correction ? correction->to<double>() : 1.0;
}

// Writes the variance to every element of `out`, of complex numbers the sum of that of their parts. Two
// passes: the differences from the mean are exact where it is large. `types` are those that the operator
// takes. InvalidType when self is neither floating nor complex or the result does not go into `out`.
Error variance_into(TypeSet types, const Reduction& reduction, const Tensor& self, double correction,
                    const Tensor& out);

}  // namespace rushlight::kernels
