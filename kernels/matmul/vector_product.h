// SPDX-License-Identifier: BSD-3-Clause
// Products with vectors, expressed as matrix products, for mv, addmv, dot and the like: a vector is a matrix
// with one row or one column, so vectors need no separate loops.
#pragma once

#include "kernels/matmul/matmul.h"

namespace rushlight::kernels {

// out = matrix vector. Checks the tensors, resizes `out`, and sets the product except its bias.
// InvalidArgument, InvalidType.
Error plan_matrix_vector(const Tensor& matrix, const Tensor& vector, const Tensor& out, TypeSet types,
                         Product* product);

// Sets the bias of addmv: one value for each row of `matrix`, or one for all. InvalidArgument, InvalidType.
Error plan_vector_bias(const Tensor& self, const Tensor& matrix, const Tensor& out, Product* product);

// out = sum of self[i] * other[i], of rank 0. Errors as plan_matrix_vector().
Error plan_dot(const Tensor& self, const Tensor& other, const Tensor& out, TypeSet types, Product* product);

}  // namespace rushlight::kernels
