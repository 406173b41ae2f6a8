// SPDX-License-Identifier: BSD-3-Clause
// Products with vectors as products of matrices, for mv, addmv, dot and their like.
#pragma once

#include "kernels/matmul/matmul.h"

namespace rushlight::kernels {

// out = matrix vector. Checks the tensors, gives `out` its shape, and sets all but the bias of the product.
Error plan_matrix_vector(const Tensor& matrix, const Tensor& vector, const Tensor& out, TypeSet types,
                         Product* product);

// The bias of addmv: a number for each row of `matrix`, or one for all.
Error plan_vector_bias(const Tensor& self, const Tensor& matrix, const Tensor& out, Product* product);

// out = the sum of self[i] other[i], of rank 0.
Error plan_dot(const Tensor& self, const Tensor& other, const Tensor& out, TypeSet types, Product* product);

}  // namespace rushlight::kernels
