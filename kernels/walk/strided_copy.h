// SPDX-License-Identifier: BSD-3-Clause
// Copies between layouts. An operator that copies a view of its input takes one line:
//
//   return copy_to_out(View::of(self).select(dim, index), out);
#pragma once

#include <cstring>

#include "kernels/checks/checks.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Copies n elements of `element` bytes, a power of two up to 16. Strides are in bytes. Elements are aligned
// to their size, at most 8. Spans may overlap only if both are contiguous (memmove).
void copy_elements(char* target, ptrdiff_t target_stride, const char* source, ptrdiff_t source_stride,
                   size_t n, size_t element);

// Copies one element, for loops that compute the address of each. Inline in builds for speed.
inline void copy_element(char* target, const char* source, size_t element) {
#ifndef __OPTIMIZE_SIZE__
  switch (element) {
    case 1:
      *target = *source;
      return;
    case 2:
      std::memcpy(target, source, 2);
      return;
    case 4:
      std::memcpy(target, source, 4);
      return;
    case 8:
      std::memcpy(target, source, 8);
      return;
    default:
      break;
  }
#endif
  copy_elements(target, 0, source, 0, 1, element);
}

// Copies all elements, with conversion as in PyTorch's `to` if the dtypes differ. Precondition: equal sizes.
// Merges loops, see PairedLoops; one call of copy_elements() for each span. InvalidType if this build cannot
// convert between the dtypes.
Error copy_view(const View& target, const View& source);

// Resizes `out` to the sizes of `source` and copies. InvalidType if the dtypes differ, InvalidArgument if
// `out` cannot have these sizes.
Error copy_to_out(const View& source, const Tensor& out);

// Resizes `out` to the sizes of `source` and copies with conversion. Errors as the two above.
Error convert_to_out(const View& source, const Tensor& out);

// Copies between shapes with equal element count and dtype: element n of `source` in row-major order becomes
// element n of `target`, in any layouts. Fast if one of the two is row-major; otherwise it goes element by
// element.
void copy_reshaped(const Tensor& target, const Tensor& source);

}  // namespace rushlight::kernels
