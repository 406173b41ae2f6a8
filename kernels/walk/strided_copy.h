// SPDX-License-Identifier: BSD-3-Clause
// Moving elements between layouts. An operator that copies a view of its input is a line:
//
//   return copy_to_out(View::of(self).select(dim, index), out);
#pragma once

#include "kernels/checks/checks.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Copies n elements of `element` bytes, a power of two up to 16; strides in bytes.
void copy_elements(char* target, ptrdiff_t target_stride, const char* source, ptrdiff_t source_stride,
                   size_t n, size_t element);

// Copies all elements, converting them as PyTorch's `to` does where types differ. Both have the same
// sizes. InvalidType when this build cannot convert between the two types.
Error copy_view(const View& target, const View& source);

// Gives `out` the sizes of `source` and copies. InvalidType when the element types differ,
// InvalidArgument when out cannot take the sizes.
Error copy_to_out(const View& source, const Tensor& out);

// Gives `out` the sizes of `source` and copies, converting. Errors: as the two above.
Error convert_to_out(const View& source, const Tensor& out);

// Copies between different shapes of the same number and type of elements: the n-th element in row
// major order of the one becomes the n-th of the other, wherever each lies.
void copy_reshaped(const Tensor& target, const Tensor& source);

}  // namespace rushlight::kernels
