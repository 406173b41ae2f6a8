// SPDX-License-Identifier: BSD-3-Clause
// Products of float32 matrices for cores without wide vectors and with little memory.
#pragma once

#include "kernels/matmul/matmul.h"

namespace rushlight::kernels::board {

// As multiply() of kernels/matmul, of float32 alone; the right factor is copied together a piece at a time,
// on the stack.
Error multiply_small(const Product& product);

}  // namespace rushlight::kernels::board
