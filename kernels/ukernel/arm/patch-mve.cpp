// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: four neighbours of a row at a time, of which the last ones may be fewer.
#include <arm_mve.h>

#include "kernels/ukernel/patch.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Four columns of the plane from `x` on. In assembler, as compilers keep only some of the numbers at hand: 32
// instructions a row.
[[gnu::noinline]] void convolve_down(const PlaneConvolution& convolution, const float* kernel, size_t x) {
  const size_t columns = convolution.columns - x;
  const uint32_t here = vctp32q(columns);
  // The columns to the left: all but one before the plane.
  const uint32_t left = x > 0 ? vctp32q(columns + 1) : vctp32q(columns + 1) & 0xfff0u;
  const uint32_t left_and_right = left | static_cast<uint32_t>(vctp32q(columns - 1)) << 16;
  const float* in = convolution.in + x;
  float* out = convolution.out + x;
  // What is stored in the first turn is no sum yet, and written over in the second.
  ptrdiff_t out_step = 0;
  // Lists of registers are in the order of their numbers.
  register int32_t a asm("r3") = static_cast<int32_t>(convolution.rows);
  register int32_t b asm("r4") = __builtin_bit_cast(int32_t, convolution.initial);
  register int32_t c asm("r5");
  asm volatile(
      "vdup.32 q7, %[b]\n"
      "vmov q0, q7\n"
      "vmov q1, q7\n"
      "dls lr, %[a]\n"
      "1:\n"
      "vmsr p0, %[masks]\n"
      "vpst\n"
      "vldrwt.u32 q4, [%[in], #-4]\n"
      "lsr %[c], %[masks], #16\n"
      "vmsr p0, %[c]\n"
      "vpst\n"
      "vldrwt.u32 q6, [%[in], #4]\n"
      "ldm %[kernel]!, {%[a], %[b], %[c]}\n"
      "vfma.f32 q0, q4, %[a]\n"
      "vmsr p0, %[here]\n"
      "vpst\n"
      "vldrwt.u32 q5, [%[in]]\n"
      "vfma.f32 q0, q6, %[c]\n"
      "vmov q2, q7\n"
      "vfma.f32 q0, q5, %[b]\n"
      "ldm %[kernel]!, {%[a], %[b], %[c]}\n"
      "vfma.f32 q1, q4, %[a]\n"
      "add %[in], %[in_stride]\n"
      "vfma.f32 q1, q5, %[b]\n"
      "vpst\n"
      "vstrwt.32 q0, [%[out]]\n"
      "vfma.f32 q1, q6, %[c]\n"
      "ldm %[kernel], {%[a], %[b], %[c]}\n"
      "vfma.f32 q2, q4, %[a]\n"
      "sub %[kernel], #24\n"
      "vfma.f32 q2, q5, %[b]\n"
      "vmov q0, q1\n"
      "vfma.f32 q2, q6, %[c]\n"
      "add %[out], %[out_step]\n"
      "mov %[out_step], %[out_stride]\n"
      "vmov q1, q2\n"
      "le lr, 1b\n"
      "vpst\n"
      "vstrwt.32 q0, [%[out]]\n"
      : [in] "+r"(in), [out] "+r"(out), [out_step] "+r"(out_step), [kernel] "+r"(kernel), [a] "+r"(a),
        [b] "+r"(b), [c] "=&r"(c)
      : [masks] "r"(left_and_right), [here] "r"(here), [in_stride] "r"(convolution.in_stride * 4),
        [out_stride] "r"(convolution.out_stride * 4)
      : "q0", "q1", "q2", "q4", "q5", "q6", "q7", "lr", "cc", "memory");
}

}  // namespace

void convolve_plane_3x3(const PlaneConvolution& convolution) {
  // From the last row to the first, in the order of the rows of the output that see a row of the plane.
  float kernel[9];
  float* to = kernel;
  for (ptrdiff_t i = 2; i >= 0; --i) {
    const float* from = convolution.kernel + i * convolution.kernel_row_stride;
    for (size_t j = 0; j < 3; ++j, from += convolution.kernel_column_stride) *to++ = *from;
  }
  for (size_t x = 0; x < convolution.columns; x += 4) convolve_down(convolution, kernel, x);
}

void convolve_patch(const PatchConvolution& convolution) {
  const float* patch = convolution.patch;
  float* out = convolution.out;
  const uint32x4_t lanes = vidupq_n_u32(0, 1);
  const uint32x4_t from_offsets = vmulq_n_u32(lanes, static_cast<uint32_t>(convolution.column_step));
  const uint32x4_t to_offsets = vmulq_n_u32(lanes, static_cast<uint32_t>(convolution.column_stride));
  for (size_t y = 0; y < convolution.rows; ++y) {
    for (size_t x = 0; x < convolution.columns; x += 4) {
      const mve_pred16_t here = vctp32q(convolution.columns - x);
      float32x4_t sums = vdupq_n_f32(convolution.initial);
      const float* row = patch + static_cast<ptrdiff_t>(x) * convolution.column_step;
      const float* kernel = convolution.kernel;
      for (size_t i = 0; i < convolution.kernel_rows; ++i) {
        const float* at = row;
        const float* factor = kernel;
        for (size_t j = 0; j < convolution.kernel_columns; ++j) {
          sums = vfmaq_n_f32(sums, vldrwq_gather_shifted_offset_z_f32(at, from_offsets, here), *factor);
          at += convolution.column_dilation;
          factor += convolution.kernel_column_stride;
        }
        row += convolution.patch_stride * convolution.row_dilation;
        kernel += convolution.kernel_row_stride;
      }
      vstrwq_scatter_shifted_offset_p_f32(out + static_cast<ptrdiff_t>(x) * convolution.column_stride,
                                          to_offsets, sums, here);
    }
    patch += convolution.row_step * convolution.patch_stride;
    out += convolution.out_stride;
  }
}

void copy_block(float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride,
                ptrdiff_t column_stride, size_t rows, size_t columns) {
  const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<uint32_t>(column_stride));
  for (; rows > 0; --rows, to += to_stride, from += from_stride) {
    for (size_t i = 0; i < columns; i += 4) {
      const mve_pred16_t here = vctp32q(columns - i);
      const float* at = from + static_cast<ptrdiff_t>(i) * column_stride;
      vst1q_p_f32(to + i, vldrwq_gather_shifted_offset_z_f32(at, offsets, here), here);
    }
  }
}

void add_channels(const ChannelSums& sums) {
  size_t c = 0;
  for (; c + 8 <= sums.channels; c += 8) {
    float32x4_t low = vld1q_f32(sums.out + c), high = vld1q_f32(sums.out + c + 4);
    for (size_t t = 0; t < sums.taps; ++t) {
      const float* in = sums.in[t] + c;
      const float* weight = sums.weight[t] + c;
      low = vfmaq_f32(low, vld1q_f32(in), vld1q_f32(weight));
      high = vfmaq_f32(high, vld1q_f32(in + 4), vld1q_f32(weight + 4));
    }
    vst1q_f32(sums.out + c, low);
    vst1q_f32(sums.out + c + 4, high);
  }
  for (; c < sums.channels; c += 4) {
    const mve_pred16_t here = vctp32q(sums.channels - c);
    float32x4_t totals = vld1q_z_f32(sums.out + c, here);
    for (size_t t = 0; t < sums.taps; ++t) {
      totals = vfmaq_f32(totals, vld1q_z_f32(sums.in[t] + c, here), vld1q_z_f32(sums.weight[t] + c, here));
    }
    vst1q_p_f32(sums.out + c, totals, here);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
