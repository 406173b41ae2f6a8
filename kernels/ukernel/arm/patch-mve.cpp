// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: four adjacent columns of a row at a time, the last ones masked. A 3 x 3 kernel on a plane reads
// each row once with its neighbours and updates three rows of sums. Depthwise sums have four channels in a
// vector; kernels of 2 or 3 rows and columns keep the addresses of all taps in registers.
#include <arm_mve.h>

#include "kernels/ukernel/patch.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Convolves four columns of the plane from `x` on. In assembler, since compilers do not keep everything in
// registers: 32 instructions a row.
[[gnu::noinline]] void convolve_down(const PlaneConvolution& convolution, const float* kernel, size_t x) {
  const size_t columns = convolution.columns - x;
  const uint32_t here = vctp32q(columns);
  // The columns to the left; without the one before the plane.
  const uint32_t left = x > 0 ? vctp32q(columns + 1) : vctp32q(columns + 1) & 0xfff0u;
  const uint32_t left_and_right = left | static_cast<uint32_t>(vctp32q(columns - 1)) << 16;
  const float* in = convolution.in + x;
  float* out = convolution.out + x;
  // The first iteration stores no full sum; the second overwrites it.
  ptrdiff_t out_step = 0;
  // Register lists are in the order of the register numbers.
  register int32_t a asm("r3") = static_cast<int32_t>(convolution.rows);
  register int32_t b asm("r4") = __builtin_bit_cast(int32_t, convolution.initial);
  register int32_t c asm("r5");
  asm volatile(
      "vdup.32 q7, %[b]\n"
      "vmov q0, q7\n"
      "vmov q1, q7\n"
      "dls lr, %[a]\n"
      "1:\n"
      // The row's left neighbours, then right neighbours, then the columns, each with its mask: missing ones
      // are 0.
      "vmsr p0, %[masks]\n"
      "vpst\n"
      "vldrwt.u32 q4, [%[in], #-4]\n"
      "lsr %[c], %[masks], #16\n"
      "vmsr p0, %[c]\n"
      "vpst\n"
      "vldrwt.u32 q6, [%[in], #4]\n"
      // The last row of the kernel completes the sums q0, the middle one adds to q1, the first one starts q2.
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
      // The sums move on by one output row.
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
  // Kernel rows from last to first: the order of the output rows that depend on an input row.
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
  // Gathers and scatters serve any step and stride, four columns at a time.
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
  for (size_t i = 0; i < columns; i += 4, to += 4, from += 4 * column_stride) {
    const uint32_t here = vctp32q(columns - i);
    const float* at = from;
    float* target = to;
    asm volatile(
        "vmsr p0, %[here]\n"
        "wls lr, %[rows], 2f\n"
        "1:\n"
        "vpstt\n"
        "vldrwt.u32 q0, [%[at], %q[offsets], uxtw #2]\n"
        "vstrwt.32 q0, [%[target]]\n"
        "add %[at], %[step]\n"
        "add %[target], %[to_step]\n"
        "le lr, 1b\n"
        "2:\n"
        : [at] "+r"(at), [target] "+r"(target)
        : [here] "r"(here), [offsets] "w"(offsets), [rows] "r"(rows), [step] "r"(from_stride * 4),
          [to_step] "r"(to_stride * 4)
        : "q0", "lr", "cc", "memory");
  }
}

namespace {

// Taps of several outputs. Steps are in bytes, from the end of an output to the next.
struct Taps {
  const float* in[9];
  const float* weight;  // 3 x 3 x 4 for each group
  const float* initial;
  float* out;
  uint32_t least;  // lower bound of the sums, as integers: a NaN sum has no sign here
  size_t groups;
  size_t outputs;
  ptrdiff_t in_step;
  ptrdiff_t out_step;
};

// Two or three rows of two or three taps, whose addresses are in registers: three instructions a tap and four
// for a group of channels.
#define RL_TAP_AT(address, weight) \
  "vldrw.32 q1, [" address "], #16\n vldrw.32 q2, " weight "\n vfma.f32 q0, q1, q2\n"
#define RL_TAP(address, weight) RL_TAP_AT(address, "[r9, #" weight "]")
#define RL_GROUPS(taps, advance)                                               \
  "push {r0, r4-r11, lr}\n"                                                    \
  "ldr r11, [r0, #44]\n"                                                       \
  "ldr r12, [r0, #48]\n"                                                       \
  "vdup.32 q3, r12\n"                                                          \
  "mov r12, r0\n"                                                              \
  "ldmia r0, {r0-r8}\n"                                                        \
  "1:\n"                                                                       \
  "ldrd r9, r10, [r12, #36]\n"                                                 \
  "ldr lr, [r12, #52]\n"                                                       \
  "sub r9, #144\n"                                                             \
  "dls lr, lr\n"                                                               \
  "2:\n"                                                                       \
  "vldrw.32 q0, [r10], #16\n" taps                                             \
  "vmax.s32 q0, q0, q3\n"                                                      \
  "vstrw.32 q0, [r11], #16\n"                                                  \
  "le lr, 2b\n"                                                                \
  "ldrd r9, r10, [r12, #60]\n"                                                 \
  "add r11, r10\n add r0, r9\n add r1, r9\n add r3, r9\n add r4, r9\n" advance \
  "ldr r9, [r12, #56]\n"                                                       \
  "subs r9, #1\n"                                                              \
  "str r9, [r12, #56]\n"                                                       \
  "bne 1b\n"                                                                   \
  "pop {r0, r4-r11, pc}\n"

// The first load advances to the weights of its group.
#define RL_FIRST_OF_2 RL_TAP_AT("r0", "[r9, #144]!") RL_TAP("r1", "16")
#define RL_SECOND_OF_2 RL_TAP("r3", "48") RL_TAP("r4", "64")
#define RL_FIRST_OF_3 RL_FIRST_OF_2 RL_TAP("r2", "32")
#define RL_SECOND_OF_3 RL_SECOND_OF_2 RL_TAP("r5", "80")
#define RL_THIRD_TAPS_ADVANCE "add r2, r9\n add r5, r9\n"
#define RL_THIRD_ROW_ADVANCE "add r6, r9\n add r7, r9\n"

[[gnu::naked, gnu::noinline]] void add_three_by_three([[maybe_unused]] Taps* taps) {
  asm volatile(RL_GROUPS(RL_FIRST_OF_3 RL_SECOND_OF_3 RL_TAP("r6", "96") RL_TAP("r7", "112")
                             RL_TAP("r8", "128"),
                         RL_THIRD_TAPS_ADVANCE RL_THIRD_ROW_ADVANCE "add r8, r9\n"));
}
[[gnu::naked, gnu::noinline]] void add_three_by_two([[maybe_unused]] Taps* taps) {
  asm volatile(
      RL_GROUPS(RL_FIRST_OF_2 RL_SECOND_OF_2 RL_TAP("r6", "96") RL_TAP("r7", "112"), RL_THIRD_ROW_ADVANCE));
}
[[gnu::naked, gnu::noinline]] void add_two_by_three([[maybe_unused]] Taps* taps) {
  asm volatile(RL_GROUPS(RL_FIRST_OF_3 RL_SECOND_OF_3, RL_THIRD_TAPS_ADVANCE));
}
[[gnu::naked, gnu::noinline]] void add_two_by_two([[maybe_unused]] Taps* taps) {
  asm volatile(RL_GROUPS(RL_FIRST_OF_2 RL_SECOND_OF_2, ""));
}

// Any number of taps.
void add_output(const ChannelSums& sums, const float* in, float* out, uint32_t least) {
  // ReLU as a maximum of integers: with the least int32 it has no effect.
  const int32x4_t lowest = vdupq_n_s32(static_cast<int32_t>(least));
  const float* group = sums.weight;
  const ptrdiff_t step = sums.column_stride * static_cast<ptrdiff_t>(sizeof(float));
  for (size_t c = 0; c < sums.channels; c += 4, group += sums.group_stride) {
    const uint32_t here = vctp32q(sums.channels - c);
    float32x4_t total = vld1q_z_f32(sums.initial + c, static_cast<mve_pred16_t>(here));
    const float* row = in + c;
    const float* weights = group;
    for (size_t y = sums.rows; y > 0; --y, row += sums.row_stride, weights += sums.weight_row_stride) {
      const float* at = row;
      const float* weight = weights;
      asm volatile(
          "vmsr p0, %[here]\n"
          "wls lr, %[columns], 2f\n"
          "1:\n"
          "vpst\n"
          "vldrwt.u32 q6, [%[at]]\n"
          "vldrw.u32 q7, [%[weight]], #16\n"
          "add %[at], %[step]\n"
          "vfma.f32 %q[total], q6, q7\n"
          "le lr, 1b\n"
          "2:\n"
          : [at] "+r"(at), [weight] "+r"(weight), [total] "+w"(total)
          : [here] "r"(here), [columns] "r"(sums.columns), [step] "r"(step)
          : "q6", "q7", "lr", "cc", "memory");
    }
    vst1q_p_f32(out + c, vreinterpretq_f32_s32(vmaxq_s32(vreinterpretq_s32_f32(total), lowest)),
                static_cast<mve_pred16_t>(here));
  }
}

}  // namespace

void add_channels(const ChannelSums& sums) {
  const uint32_t least = sums.rectify ? 0 : 0x80000000u;
  const auto channels = static_cast<ptrdiff_t>(sums.channels);
  // Kernels of 2 or 3 rows and columns whose weights are stored as 3 x 3: those are the common 3 x 3 kernel
  // and its parts at the borders of an image.
  const bool is_known = sums.rows - 2 < 2 && sums.columns - 2 < 2 && sums.weight_row_stride == 3 * 4 &&
                        sums.group_stride == 9 * 4;
  if (is_known && channels % 4 == 0) {
    Taps taps;
    const float* row = sums.in;
    // Pointers to all nine taps; kernels of two rows or columns leave some unused.
    for (size_t i = 0; i < 9; i += 3, row += sums.row_stride) {
      taps.in[i] = row;
      taps.in[i + 1] = row + sums.column_stride;
      taps.in[i + 2] = row + 2 * sums.column_stride;
    }
    taps.weight = sums.weight;
    taps.initial = sums.initial;
    taps.out = sums.out;
    taps.least = least;
    taps.groups = sums.channels / 4;
    taps.outputs = sums.outputs;
    taps.in_step = (sums.in_step - channels) * static_cast<ptrdiff_t>(sizeof(float));
    taps.out_step = (sums.out_step - channels) * static_cast<ptrdiff_t>(sizeof(float));
    if (sums.rows == 2) return (sums.columns == 3 ? add_two_by_three : add_two_by_two)(&taps);
    return (sums.columns == 3 ? add_three_by_three : add_three_by_two)(&taps);
  }
  const float* in = sums.in;
  float* out = sums.out;
  for (size_t o = sums.outputs; o > 0; --o, in += sums.in_step, out += sums.out_step) {
    add_output(sums, in, out, least);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
