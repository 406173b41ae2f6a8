// SPDX-License-Identifier: BSD-3-Clause
// Elementwise functions of complex numbers, one loop for all of each kind: what an operator adds is the
// function. They are computed in complex128 and rounded to the dtype of the operation once.
#pragma once

#include "kernels/math/complex_math.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// `self` is complex. Errors: as run_elementwise().
Error complex_function(const Tensor& self, const Tensor& out, WideComplex (*f)(WideComplex));
Error complex_measure(const Tensor& self, const Tensor& out, double (*f)(WideComplex));

// `promoted` is complex, the inputs may be real.
Error complex_function(ScalarType promoted, const Tensor& a, const Tensor& b, const Tensor& out,
                       WideComplex (*f)(WideComplex, WideComplex));

}  // namespace rushlight::kernels
