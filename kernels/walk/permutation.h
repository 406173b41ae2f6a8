// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// `self` with its dimensions in the order of `dims`, which may count from the end. InvalidArgument unless
// each of them is there once.
Error read_permutation(const Tensor& self, Span<const int64_t> dims, View* permuted);

// `self` with two dimensions swapped; nothing of rank 0. InvalidArgument for one that is not there.
Error read_swap(const Tensor& self, int64_t dim0, int64_t dim1, View* swapped);

// `self` as its transpose. InvalidArgument for more than 2 dimensions.
Error read_transpose(const Tensor& self, View* transposed);

// `self` backwards along `dims`. InvalidArgument for one that is not there, or there twice.
Error read_flip(const Tensor& self, Span<const int64_t> dims, View* flipped);

// `self` as expand_copy repeats it: new dimensions in front, those of size 1 as large as `size` says, -1 as
// they are. InvalidArgument for what does not expand so.
Error read_expansion(const Tensor& self, Span<const int64_t> size, bool implicit, View* expanded);

}  // namespace rushlight::kernels
