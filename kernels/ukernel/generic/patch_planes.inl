// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/generic/patch.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// True if registers hold 15 sums, nine weights and a row: then the last five columns are computed together
// instead of four and one.
constexpr bool kTakesFive = kPatchColumns == 5;

// Adds the contribution of one input row, with one neighbour on each side, to the three output rows that
// depend on it.
template <size_t kColumns>
[[gnu::always_inline]] inline void add_row(const float (&kernel)[3][3], const float (&seen)[kColumns + 2],
                                           float (&last)[kColumns], float (&middle)[kColumns],
                                           float (&first)[kColumns]) {
#pragma GCC unroll 3
  for (size_t j = 0; j < 3; ++j) {
#pragma GCC unroll 5
    for (size_t c = 0; c < kColumns; ++c) {
      last[c] += kernel[2][j] * seen[c + j];
      middle[c] += kernel[1][j] * seen[c + j];
      first[c] += kernel[0][j] * seen[c + j];
    }
  }
}

// Convolves kColumns columns from `x` on, top to bottom: each input is loaded once, and the kernel and the
// sums of three output rows stay in registers.
template <size_t kColumns>
[[gnu::noinline]] void convolve_down(const PlaneConvolution& convolution, size_t x) {
  float kernel[3][3];
#pragma GCC unroll 3
  for (size_t i = 0; i < 3; ++i) {
#pragma GCC unroll 3
    for (size_t j = 0; j < 3; ++j) {
      kernel[i][j] = convolution.kernel[static_cast<ptrdiff_t>(i) * convolution.kernel_row_stride +
                                        static_cast<ptrdiff_t>(j) * convolution.kernel_column_stride];
    }
  }
  const bool has_left = x > 0;
  const bool has_right = x + kColumns < convolution.columns;
  const float initial = convolution.initial;
  const ptrdiff_t in_stride = convolution.in_stride;
  const ptrdiff_t out_stride = convolution.out_stride;
  const float* in = convolution.in + x;
  float* out = convolution.out + x;
  float one[kColumns], two[kColumns], three[kColumns];
#pragma GCC unroll 5
  for (size_t c = 0; c < kColumns; ++c) one[c] = two[c] = initial;
  const size_t rows = convolution.rows;
  size_t row = 0;
  const auto store = [&](const float(&sums)[kColumns]) __attribute__((always_inline)) {
#pragma GCC unroll 5
    for (size_t c = 0; c < kColumns; ++c) out[c] = sums[c];
    out += out_stride;
  };
  const auto go_on = [&](float(&last)[kColumns], float(&middle)[kColumns], float(&first)[kColumns])
                         __attribute__((always_inline)) {
                           float seen[kColumns + 2];
                           seen[0] = seen[kColumns + 1] = 0;
                           if (has_left) seen[0] = in[-1];
                           if (has_right) seen[kColumns + 1] = in[kColumns];
#pragma GCC unroll 5
                           for (size_t c = 0; c < kColumns; ++c) {
                             seen[c + 1] = in[c];
                             first[c] = initial;
                           }
                           add_row<kColumns>(kernel, seen, last, middle, first);
                           in += in_stride;
                           if (row > 0) store(last);
                           if (++row < rows) return true;
                           store(middle);
                           return false;
                         };
  while (go_on(one, two, three) && go_on(two, three, one) && go_on(three, one, two)) continue;
}

}  // namespace

void convolve_plane_3x3(const PlaneConvolution& convolution) {
  size_t x = 0;
  for (; x + 4 <= convolution.columns; x += 4) {
    if constexpr (kTakesFive) {
      if (x + 5 == convolution.columns) return convolve_down<5>(convolution, x);
    }
    convolve_down<4>(convolution, x);
  }
  for (; x < convolution.columns; ++x) convolve_down<1>(convolution, x);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
