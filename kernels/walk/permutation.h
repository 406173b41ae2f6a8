// SPDX-License-Identifier: BSD-3-Clause
// Arguments of operators that permute, flip or expand dimensions, as views of the input. No elements move:
// the operator then copies the view to its output, usually with copy_to_out(). Views refer to the memory of
// `self`.
#pragma once

#include <cstdint>

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The view of `self` with its dimensions in the order of `dims` (negative: from the end). InvalidArgument
// unless `dims` is a permutation.
Error read_permutation(const Tensor& self, Span<const int64_t> dims, View* permuted);

// The view of `self` with two dimensions swapped; of a 0-dim tensor the tensor itself. InvalidArgument if one
// is out of range.
Error read_swap(const Tensor& self, int64_t dim0, int64_t dim1, View* swapped);

// The transposed view of `self`. InvalidArgument for more than 2 dimensions.
Error read_transpose(const Tensor& self, View* transposed);

// The view of `self` reversed along `dims`. InvalidArgument if one is out of range or repeated.
Error read_flip(const Tensor& self, Span<const int64_t> dims, View* flipped);

// The view of `self` for expand_copy: new leading dimensions, dimensions of size 1 expanded to `size`, and -1
// for unchanged ones. InvalidArgument if the shape does not expand to `size`.
Error read_expansion(const Tensor& self, Span<const int64_t> size, bool implicit, View* expanded);

}  // namespace rushlight::kernels
