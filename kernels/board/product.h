// SPDX-License-Identifier: BSD-3-Clause
// Products of float32 matrices for cores without wide vectors and with little memory.
#pragma once

#include "kernels/shared/matmul.h"

namespace rushlight::kernels::board {

// As multiply() of kernels/shared, of float32 alone; the right factor is copied together a piece at a time,
// on the stack.
Error multiply_small(const Product& product);

}  // namespace rushlight::kernels::board
