// SPDX-License-Identifier: BSD-3-Clause
// Views of complex elements as their real components. A complex element is its real part followed by its
// imaginary part, each of half the size; no elements move.
#pragma once

#include "kernels/walk/view.h"

namespace rushlight::kernels {

// The real parts (which = 0) or imaginary parts (1), with the shape of `view`. Precondition: `view` is
// complex.
View parts_of(View view, size_t which);

// Both parts, in a new last dimension of size 2. Precondition: the rank is below kTensorDimensionLimit.
View as_real(View view);

// Negates the imaginary part of every element, in place.
void conjugate(const Tensor& tensor);

}  // namespace rushlight::kernels
