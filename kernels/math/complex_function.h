// SPDX-License-Identifier: BSD-3-Clause
// Elementwise functions of complex tensors: one loop for each arity, with the function as a pointer. Computes
// in complex128 and rounds once to the dtype of the operation.
#pragma once

#include "kernels/math/complex_math.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = f(self), with complex (complex_function) or real (complex_measure) results. Any dim order.
// Precondition: `self` is complex. Errors as run_elementwise().
Error complex_function(const Tensor& self, const Tensor& out, WideComplex (*f)(WideComplex));
Error complex_measure(const Tensor& self, const Tensor& out, double (*f)(WideComplex));

// out = f(a, b), which broadcast. `promoted` is complex; the inputs may be real. A 0-dim input is not rounded
// to the promoted dtype first.
Error complex_function(ScalarType promoted, const Tensor& a, const Tensor& b, const Tensor& out,
                       WideComplex (*f)(WideComplex, WideComplex));

}  // namespace rushlight::kernels
