// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: three rows by eight columns in q0 to q5, loops without overhead. In assembler, as neither gcc
// 12 nor clang-19 keeps the six numbers of the left factor in registers. 20 instructions for 48 products, of
// which 16 take two cycles each and overlap in pairs: 0.5 to 0.8 cycles a product.
#include <arm_mve.h>

#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = 3;
constexpr bool kTakesColumns = false;

#define RL_VECTORS "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7"
#define RL_NEXT_COLUMNS "vldrw.32 q6, [%[panel]], #16\n vldrw.32 q7, [%[panel]], #16\n"
#define RL_PAIR(low, high, factor) \
  "vfma.f32 " low ", q6, %[" factor "]\n vfma.f32 " high ", q7, %[" factor "]\n"

template <size_t kTileRows>
inline void add_tile(const float* left, ptrdiff_t left_stride, const float* panel, size_t depth, float* out,
                     ptrdiff_t out_stride) {
  int32_t a, b;
  size_t pairs = depth / 2;
  if constexpr (kTileRows == 1) {
    asm volatile(
        "vldrw.32 q0, [%[at]]\n"
        "vldrw.32 q1, [%[at], #16]\n"
        "wls lr, %[pairs], 2f\n"
        "1:\n"
        "ldrd %[a], %[b], [%[first]], #8\n"  //
        RL_NEXT_COLUMNS RL_PAIR("q0", "q1", "a") RL_NEXT_COLUMNS RL_PAIR("q0", "q1", "b")
        "le lr, 1b\n"
        "2:\n"
        "lsls %[a], %[depth], #31\n"
        "beq 3f\n"
        "ldr %[a], [%[first]]\n"  //
        RL_NEXT_COLUMNS RL_PAIR("q0", "q1", "a")
        "3:\n"
        "vstrw.32 q0, [%[at]]\n"
        "vstrw.32 q1, [%[at], #16]\n"
        : [first] "+r"(left), [panel] "+r"(panel), [a] "=&r"(a), [b] "=&r"(b)
        : [at] "r"(out), [pairs] "r"(pairs), [depth] "r"(depth)
        : RL_VECTORS, "lr", "cc", "memory");
  } else {
    const float* second = left + left_stride;
    const float* third = second + left_stride;
    const ptrdiff_t stride = out_stride * static_cast<ptrdiff_t>(sizeof(float));
    int32_t c, d;
    float* at = out;
    // The number of pairs is not needed once the loop has begun; `d` has its register.
    d = static_cast<int32_t>(pairs);
    asm volatile(
        "vldrw.32 q0, [%[at]]\n"
        "vldrw.32 q1, [%[at], #16]\n"
        "add %[at], %[stride]\n"
        "vldrw.32 q2, [%[at]]\n"
        "vldrw.32 q3, [%[at], #16]\n"
        "add %[at], %[stride]\n"
        "vldrw.32 q4, [%[at]]\n"
        "vldrw.32 q5, [%[at], #16]\n"
        "wls lr, %[d], 2f\n"
        "1:\n"
        "ldrd %[a], %[b], [%[first]], #8\n"  //
        RL_NEXT_COLUMNS RL_PAIR("q0", "q1", "a")
        "ldrd %[a], %[c], [%[second]], #8\n"  //
        RL_PAIR("q2", "q3", "a")
        "ldrd %[a], %[d], [%[third]], #8\n"  //
        RL_PAIR("q4", "q5", "a") RL_NEXT_COLUMNS RL_PAIR("q0", "q1", "b") RL_PAIR("q2", "q3", "c")
        RL_PAIR("q4", "q5", "d")
        "le lr, 1b\n"
        "2:\n"
        "lsls %[a], %[depth], #31\n"
        "beq 3f\n"
        "ldr %[a], [%[first]]\n"
        "ldr %[b], [%[second]]\n"
        "ldr %[c], [%[third]]\n"  //
        RL_NEXT_COLUMNS RL_PAIR("q0", "q1", "a") RL_PAIR("q2", "q3", "b") RL_PAIR("q4", "q5", "c")
        "3:\n"
        "vstrw.32 q4, [%[at]]\n"
        "vstrw.32 q5, [%[at], #16]\n"
        "subs %[at], %[stride]\n"
        "vstrw.32 q2, [%[at]]\n"
        "vstrw.32 q3, [%[at], #16]\n"
        "subs %[at], %[stride]\n"
        "vstrw.32 q0, [%[at]]\n"
        "vstrw.32 q1, [%[at], #16]\n"
        : [first] "+r"(left), [second] "+r"(second), [third] "+r"(third), [panel] "+r"(panel), [at] "+r"(at),
          [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "+r"(d)
        : [stride] "r"(stride), [depth] "r"(depth)
        : RL_VECTORS, "lr", "cc", "memory");
  }
}

inline float sum_of(float32x4_t lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

}  // namespace

// Two rows at a time, four numbers of each.
void multiply_rows(const RowProduct& product) {
  const float* left = product.left;
  float* out = product.out;
  const size_t vectors = product.depth / 4;
  const mve_pred16_t last = vctp32q(product.depth % 4);
  size_t rows = product.rows;
  for (; rows >= 4; rows -= 4) {
    const float* row[4] = {left, left + product.left_stride, left + 2 * product.left_stride,
                           left + 3 * product.left_stride};
    left += 4 * product.left_stride;
    const float* right = product.right;
    float32x4_t sums[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
    for (size_t k = vectors; k > 0; --k, right += 4) {
      const float32x4_t numbers = vld1q_f32(right);
#pragma GCC unroll 4
      for (size_t i = 0; i < 4; ++i) {
        sums[i] = vfmaq_f32(sums[i], vld1q_f32(row[i]), numbers);
        row[i] += 4;
      }
    }
    const float32x4_t numbers = vld1q_z_f32(right, last);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i, out += product.out_stride) {
      *out += sum_of(vfmaq_f32(sums[i], vld1q_z_f32(row[i], last), numbers));
    }
  }
  for (; rows > 0; --rows, left += product.left_stride, out += product.out_stride) {
    float32x4_t sum = vdupq_n_f32(0);
    size_t k = 0;
    for (; k + 4 <= product.depth; k += 4)
      sum = vfmaq_f32(sum, vld1q_f32(left + k), vld1q_f32(product.right + k));
    sum = vfmaq_f32(sum, vld1q_z_f32(left + k, last), vld1q_z_f32(product.right + k, last));
    *out += sum_of(sum);
  }
}

void copy_panel(float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride, size_t rows) {
  for (; rows > 0; --rows, to += to_stride, from += from_stride) {
    const float32x4_t low = vld1q_f32(from), high = vld1q_f32(from + 4);
    vst1q_f32(to, low);
    vst1q_f32(to + 4, high);
  }
}

void gather_panel(float* to, ptrdiff_t to_stride, const PanelWindows& windows, const PanelPlace& place) {
  const uint32x4_t height = vdupq_n_u32(place.height);
  const uint32x4_t width = vdupq_n_u32(place.width);
  for (size_t j = 0; j < kPanelColumns; j += 4, to += 4) {
    const uint32x4_t row = vreinterpretq_u32_s32(vaddq_n_s32(vld1q_s32(windows.row + j), place.row));
    const uint32x4_t column = vreinterpretq_u32_s32(vaddq_n_s32(vld1q_s32(windows.column + j), place.column));
    const mve_pred16_t inside = vcmphiq_m_u32(width, column, vcmphiq_u32(height, row));
    const uint32x4_t offset = vreinterpretq_u32_s32(vld1q_s32(windows.offset + j));
    const float* from = place.from;
    float* at = to;
    for (size_t i = place.channels; i > 0; --i, at += to_stride, from += place.channel_stride) {
      vst1q_f32(at, vldrwq_gather_shifted_offset_z_f32(from, offset, inside));
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/panel.inl"
