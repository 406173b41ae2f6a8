// SPDX-License-Identifier: BSD-3-Clause
// Complex elements seen as the reals they are made of.
#pragma once

#include "kernels/walk/view.h"

namespace rushlight::kernels {

// The real parts (0) or the imaginary parts (1), in the shape of `view`.
View parts_of(View view, size_t which);

// Both parts, in a new last dimension of size 2. The rank is below kTensorDimensionLimit.
View as_real(View view);

// Turns the sign of every imaginary part.
void conjugate(const Tensor& tensor);

}  // namespace rushlight::kernels
