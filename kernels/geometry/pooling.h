// SPDX-License-Identifier: BSD-3-Clause
// Window geometry of the pooling operators, with the size and padding rules of PyTorch.
#pragma once

#include <cstdint>

#include "kernels/checks/checks.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"

namespace rushlight::kernels {

// One spatial dimension of a pooling. Window i starts at i * step - pad.
struct Window {
  // All in positions of the input: its size, then the window's taps, step, padding on each side and distance
  // of taps.
  int64_t in;
  int64_t kernel;
  int64_t step;
  int64_t pad;
  int64_t dilation;
  int64_t out;  // number of windows
};

// ceil(distance / dilation) for a distance of at least 0. Most windows have no dilation, and a 64-bit
// division takes some hundred instructions on 32-bit processors.
constexpr int64_t steps_up(int64_t distance, int64_t dilation) {
  return dilation == 1 ? distance : (distance + dilation - 1) / dilation;
}

// The positions [begin, end) that a window sees in one dimension; with dilation it sees every dilation-th.
// Positions in the padding are left out; a window that sees nothing has begin >= end.
struct Covered {
  ptrdiff_t begin;
  ptrdiff_t end;
};
// The part of window `index` that is inside the input. Precondition: index < window.out.
Covered covered(const Window& window, ptrdiff_t index);

// The arguments of a pool. Lists have one value for each spatial dimension, or one for all.
struct PoolArguments {
  Span<const int64_t> kernel_size;
  Span<const int64_t> stride;  // empty: the kernel's size
  Span<const int64_t> padding;
  Span<const int64_t> dilation;
  bool ceil_mode;  // a last window may start inside and end outside
};

// Computes `spatial` windows over the last dimensions of `self`, whose rank is spatial + 1, or spatial + 2
// with a batch. Lists have one value or `spatial`. With ceil_mode no window starts beyond the input and its
// left padding. InvalidArgument where PyTorch refuses: padding above half of a window, an empty dimension, no
// window.
Error plan_windows(const Tensor& self, const PoolArguments& arguments, size_t spatial, Window* windows);

// The shape of `self` with its last dimensions replaced by the numbers of windows.
Shape pooled_shape(const Tensor& self, Span<const Window> windows);

// InvalidArgument unless `tensor`, the argument `name`, has this shape.
Error check_shape(const Tensor& tensor, Span<const SizesType> sizes, const char* name);

}  // namespace rushlight::kernels
