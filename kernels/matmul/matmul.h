// SPDX-License-Identifier: BSD-3-Clause
// The matrix product behind mm, bmm, addmm, linear and their like, compiled once for all of them.
#pragma once

#include "kernels/matmul/product.h"
#include "runtime/base/error.h"

namespace rushlight::kernels {

// InvalidType when no operator of the build multiplies matrices of that type.
Error multiply(const Product& product);

}  // namespace rushlight::kernels
