// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with vectors of any length: as many adjacent columns at a time as two registers hold. Neighbours of
// a row come from slides by one lane instead of two more loads.
#include <riscv_vector.h>

#include "kernels/ukernel/generic/patch_halves.inl"
#include "kernels/ukernel/generic/plane_sums.inl"
#include "kernels/ukernel/patch.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

using Floats = vfloat32m2_t;

// Convolves `lanes` columns of the plane from `x` on. A row is loaded once and shifted for both neighbours.
void convolve_down(const PlaneConvolution& convolution, const float* kernel, size_t x, size_t lanes) {
  // Neighbours outside of the plane are 0 and are not loaded.
  const bool has_left = x > 0;
  const bool has_right = x + lanes < convolution.columns;
  const float* in = convolution.in + x;
  float* out = convolution.out + x;
  const Floats initial = __riscv_vfmv_v_f_f32m2(convolution.initial, lanes);
  Floats last = initial, middle = initial;
  for (size_t row = 0; row < convolution.rows; ++row, in += convolution.in_stride) {
    const Floats here = __riscv_vle32_v_f32m2(in, lanes);
    const Floats left = __riscv_vfslide1up_vf_f32m2(here, has_left ? in[-1] : 0, lanes);
    const Floats right = __riscv_vfslide1down_vf_f32m2(here, has_right ? in[lanes] : 0, lanes);
    // The input row belongs to three output rows: the last row of the kernel completes one, the first row
    // starts another.
    Floats first = initial;
    last = __riscv_vfmacc_vf_f32m2(last, kernel[6], left, lanes);
    middle = __riscv_vfmacc_vf_f32m2(middle, kernel[3], left, lanes);
    first = __riscv_vfmacc_vf_f32m2(first, kernel[0], left, lanes);
    last = __riscv_vfmacc_vf_f32m2(last, kernel[7], here, lanes);
    middle = __riscv_vfmacc_vf_f32m2(middle, kernel[4], here, lanes);
    first = __riscv_vfmacc_vf_f32m2(first, kernel[1], here, lanes);
    last = __riscv_vfmacc_vf_f32m2(last, kernel[8], right, lanes);
    middle = __riscv_vfmacc_vf_f32m2(middle, kernel[5], right, lanes);
    first = __riscv_vfmacc_vf_f32m2(first, kernel[2], right, lanes);
    if (row > 0) {
      __riscv_vse32_v_f32m2(out, last, lanes);
      out += convolution.out_stride;
    }
    last = middle;
    middle = first;
  }
  __riscv_vse32_v_f32m2(out, last, lanes);
}

}  // namespace

void convolve_plane_3x3(const PlaneConvolution& convolution) {
  float kernel[9];
  for (ptrdiff_t i = 0; i < 9; ++i) {
    kernel[i] =
        convolution.kernel[i / 3 * convolution.kernel_row_stride + i % 3 * convolution.kernel_column_stride];
  }
  for (size_t x = 0; x < convolution.columns;) {
    const size_t lanes = __riscv_vsetvl_e32m2(convolution.columns - x);
    convolve_down(convolution, kernel, x, lanes);
    x += lanes;
  }
}

namespace {

inline const float* after(const float* from, ptrdiff_t bytes) {
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(from) + bytes);
}

}  // namespace

void add_shifted(const ShiftedSums& sums) {
  const float* weight = sums.weight;
  float* out = sums.out;
  for (size_t i = 0; i < sums.rows; ++i, weight += sums.weight_stride, out += sums.out_stride) {
    for (size_t x = 0; x < sums.columns;) {
      const size_t lanes = __riscv_vsetvl_e32m4(sums.columns - x);
      vfloat32m4_t totals = sums.initial == nullptr ? __riscv_vle32_v_f32m4(out + x, lanes)
                                                    : __riscv_vfmv_v_f_f32m4(sums.initial[i], lanes);
      static_assert(kShiftTaps == 1);
      for (size_t t = 0; t < sums.count; ++t) {
        const vfloat32m4_t seen = __riscv_vle32_v_f32m4(after(sums.in, sums.taps[t].in) + x, lanes);
        totals = __riscv_vfmacc_vf_f32m4(totals, weight[t], seen, lanes);
      }
      __riscv_vse32_v_f32m4(out + x, totals, lanes);
      x += lanes;
    }
  }
}

void copy_block(float* to, BlockStrides to_strides, const float* from, BlockStrides from_strides, size_t rows,
                size_t columns) {
  for (; rows > 0; --rows, to += to_strides.row, from += from_strides.row) {
    for (size_t i = 0; i < columns;) {
      const size_t lanes = __riscv_vsetvl_e32m8(columns - i);
      const auto done = static_cast<ptrdiff_t>(i);
      const vfloat32m8_t numbers =
          __riscv_vlse32_v_f32m8(from + done * from_strides.column, from_strides.column * 4, lanes);
      __riscv_vsse32_v_f32m8(to + done * to_strides.column, to_strides.column * 4, numbers, lanes);
      i += lanes;
    }
  }
}

// Channels are the outer loop: the initial values of a vector of channels serve all outputs.
void add_channels(const ChannelSums& sums) {
  const float* group = sums.weight;
  for (size_t c = 0; c < sums.channels; c += kChannelGroup, group += sums.group_stride) {
    const size_t end = sums.channels - c < kChannelGroup ? sums.channels - c : kChannelGroup;
    // A group may need several vectors. Weights and outputs are the inner loops, so that the initial values
    // stay in a register.
    for (size_t i = 0; i < end;) {
      const size_t lanes = __riscv_vsetvl_e32m2(end - i);
      const Floats initial = __riscv_vle32_v_f32m2(sums.initial + c + i, lanes);
      const float* first = sums.in + c + i;
      float* out = sums.out + c + i;
      for (size_t o = sums.outputs; o > 0; --o, first += sums.in_step, out += sums.out_step) {
        Floats totals = initial;
        const float* row = first;
        const float* weights = group + i;
        for (size_t y = sums.rows; y > 0; --y, row += sums.row_stride, weights += sums.weight_row_stride) {
          const float* in = row;
          const float* weight = weights;
          for (size_t x = sums.columns; x > 0; --x, in += sums.column_stride, weight += kChannelGroup) {
            totals = __riscv_vfmacc_vv_f32m2(totals, __riscv_vle32_v_f32m2(in, lanes),
                                             __riscv_vle32_v_f32m2(weight, lanes), lanes);
          }
        }
        __riscv_vse32_v_f32m2(out, totals, lanes);
      }
      i += lanes;
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
