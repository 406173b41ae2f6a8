// SPDX-License-Identifier: BSD-3-Clause
// Linear layers of integers: what fronts check, and the products where no back computes them.
#pragma once

#include "kernels/backs/quantized_linear.h"
#include "kernels/checks/checks.h"
#include "runtime/base/error.h"

namespace rushlight::kernels {

// Checks ranks, sizes and dtypes, the input's to be one of `types`, and writes the shape of the result.
// InvalidArgument, InvalidType.
Error plan_linear(const QuantizedLinearProblem& problem, TypeSet types, Shape* shape);

// InvalidType for a dtype that no selected operator has.
Error multiply_integers(const QuantizedLinearProblem& problem);

}  // namespace rushlight::kernels
