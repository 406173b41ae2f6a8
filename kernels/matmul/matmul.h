// SPDX-License-Identifier: BSD-3-Clause
// The portable matrix product behind mm, bmm, addmm, linear and the like, compiled once for all of them.
#pragma once

#include "kernels/matmul/product.h"
#include "runtime/base/error.h"

namespace rushlight::kernels {

// Computes the product. InvalidType if no operator of the build multiplies matrices of this dtype.
Error multiply(const Product& product);

}  // namespace rushlight::kernels
