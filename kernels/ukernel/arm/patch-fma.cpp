// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M4F, M7F and M33F: loads of several registers, which compilers do not emit. Eight channels take two
// loads and eight multiply-adds a tap, sixteen shifted columns 24 instructions. Planes take the scalar code
// of patch_planes.inl.
#define RL_OWN_CHANNELS
#define RL_OWN_SHIFTS
#define RL_OWN_HALVES
#include "kernels/ukernel/arm/halves.h"
#include "kernels/ukernel/generic/patch_planes.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Steps in bytes. Assembler reads the members by their offsets.
struct Steps {
  ptrdiff_t in;      // from tap to tap
  ptrdiff_t in_row;  // from the end of a row of taps to the next row
  ptrdiff_t weight_row;
  size_t columns;
};

constexpr ptrdiff_t bytes(ptrdiff_t elements) { return elements * static_cast<ptrdiff_t>(sizeof(float)); }

// Eight channels of one output: sums in s0 to s7, inputs in s8 to s15, weights in s16 to s23. Requires at
// least one row and one column of taps.
void add_group(const Steps& steps, const float* in, const float* weight, size_t rows, const float* initial,
               float* out) {
  size_t left;
  ptrdiff_t step, row_step;
  asm volatile(
      "vldmia %[initial], {s0-s7}\n"
      "ldrd %[step], %[row_step], [%[steps]]\n"
      "1:\n"
      "ldr %[left], [%[steps], #12]\n"
      "2:\n"
      "vldmia %[in], {s8-s15}\n"
      "vldmia %[weight]!, {s16-s23}\n"
      "vfma.f32 s0, s8, s16\n vfma.f32 s1, s9, s17\n vfma.f32 s2, s10, s18\n vfma.f32 s3, s11, s19\n"
      "vfma.f32 s4, s12, s20\n vfma.f32 s5, s13, s21\n vfma.f32 s6, s14, s22\n vfma.f32 s7, s15, s23\n"
      "add %[in], %[step]\n"
      "subs %[left], %[left], #1\n"
      "bne 2b\n"
      "ldr %[left], [%[steps], #8]\n"
      "add %[in], %[row_step]\n"
      "add %[weight], %[left]\n"
      "subs %[rows], %[rows], #1\n"
      "bne 1b\n"
      "vstmia %[out], {s0-s7}\n"
      : [in] "+r"(in), [weight] "+r"(weight), [rows] "+r"(rows), [left] "=&r"(left), [step] "=&r"(step),
        [row_step] "=&r"(row_step)
      : [initial] "r"(initial), [out] "r"(out), [steps] "r"(&steps)
      : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15",
        "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "cc", "memory");
}

// A single channel, of the last group: its weights are kChannelGroup apart.
void add_one(const ChannelSums& sums, const float* in, const float* weight, const float* initial,
             float* out) {
  float total = *initial;
  for (size_t y = sums.rows; y > 0; --y, in += sums.row_stride, weight += sums.weight_row_stride) {
    const float* at = in;
    for (size_t x = 0; x < sums.columns; ++x, at += sums.column_stride)
      total += weight[x * kChannelGroup] * *at;
  }
  *out = total;
}

#define RL_SUMS                                                                                         \
  "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", \
      "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "cc", "memory"
// A weight times the eight columns in s16 to s23, to eight sums.
#define RL_EIGHT(a, b, c, d, e, f, g, h, factor)                                                        \
  "vfma.f32 " a ", s16, " factor "\n vfma.f32 " b ", s17, " factor "\n vfma.f32 " c ", s18, " factor    \
  "\n vfma.f32 " d ", s19, " factor "\n vfma.f32 " e ", s20, " factor "\n vfma.f32 " f ", s21, " factor \
  "\n vfma.f32 " g ", s22, " factor "\n vfma.f32 " h ", s23, " factor "\n"
#define RL_FIRST_EIGHT(factor) RL_EIGHT("s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", factor)
#define RL_SECOND_EIGHT(factor) RL_EIGHT("s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", factor)
// All taps: the next one's columns at `at`, its weight in s24, then `sums`.
#define RL_TAPS(sums)                     \
  "cbz %[count], 2f\n"                    \
  "1:\n"                                  \
  "ldrd %[at], %[offset], [%[tap]], #8\n" \
  "add %[offset], %[weight]\n"            \
  "vldr s24, [%[offset]]\n"               \
  "add %[at], %[in]\n" sums               \
  "subs %[count], #1\n"                   \
  "bne 1b\n"                              \
  "2:\n"

// kRows rows of weights and 16 / kRows columns; adds to the sums at `out`.
template <size_t kRows>
inline void add_tile(const ShiftedSums& sums, const float* in, const float* weight, float* out) {
  const ShiftedTap* tap = sums.taps;
  size_t count = sums.count;
  uint32_t at, offset;
  if constexpr (kRows == 2) {
    float* second = out + sums.out_stride;
    asm volatile("vldmia %[out], {s0-s7}\n"
                 "vldmia %[second], {s8-s15}\n" RL_TAPS(
                     "vldmia %[at], {s16-s23}\n"
                     "add %[offset], %[next]\n"
                     "vldr s25, [%[offset]]\n" RL_FIRST_EIGHT("s24") RL_SECOND_EIGHT("s25"))
                 "vstmia %[out], {s0-s7}\n"
                 "vstmia %[second], {s8-s15}\n"
                 : [tap] "+r"(tap), [count] "+l"(count), [at] "=&r"(at), [offset] "=&r"(offset)
                 : [in] "r"(in), [weight] "r"(weight), [next] "r"(bytes(sums.weight_stride)), [out] "r"(out),
                   [second] "r"(second)
                 : RL_SUMS);
  } else {
    asm volatile("vldmia %[out], {s0-s15}\n" RL_TAPS("vldmia %[at]!, {s16-s23}\n" RL_FIRST_EIGHT(
        "s24") "vldmia %[at], {s16-s23}\n" RL_SECOND_EIGHT("s24")) "vstmia %[out], {s0-s15}\n"
                 : [tap] "+r"(tap), [count] "+l"(count), [at] "=&r"(at), [offset] "=&r"(offset)
                 : [in] "r"(in), [weight] "r"(weight), [out] "r"(out)
                 : RL_SUMS);
  }
}

// The last eight columns of a row.
void add_eight(const ShiftedSums& sums, const float* in, const float* weight, float* out) {
  const ShiftedTap* tap = sums.taps;
  size_t count = sums.count;
  uint32_t at, offset;
  asm volatile("vldmia %[out], {s0-s7}\n" RL_TAPS(
                   "vldmia %[at], {s16-s23}\n" RL_FIRST_EIGHT("s24")) "vstmia %[out], {s0-s7}\n"
               : [tap] "+r"(tap), [count] "+l"(count), [at] "=&r"(at), [offset] "=&r"(offset)
               : [in] "r"(in), [weight] "r"(weight), [out] "r"(out)
               : RL_SUMS);
}

void start(float* out, size_t columns, float value) {
  for (; columns > 0; columns -= 8, out += 8) {
#pragma GCC unroll 8
    for (size_t j = 0; j < 8; ++j) out[j] = value;
  }
}

}  // namespace

void add_shifted(const ShiftedSums& sums) {
  if (sums.initial != nullptr) {
    for (size_t i = 0; i < sums.rows; ++i)
      start(sums.out + static_cast<ptrdiff_t>(i) * sums.out_stride, sums.columns, sums.initial[i]);
  }
  const float* weight = sums.weight;
  float* out = sums.out;
  size_t rows = sums.rows;
  for (; rows >= 2; rows -= 2, weight += 2 * sums.weight_stride, out += 2 * sums.out_stride) {
    for (size_t x = 0; x < sums.columns; x += 8) add_tile<2>(sums, sums.in + x, weight, out + x);
  }
  if (rows == 0) return;
  size_t x = 0;
  for (; x + 16 <= sums.columns; x += 16) add_tile<1>(sums, sums.in + x, weight, out + x);
  if (x < sums.columns) add_eight(sums, sums.in + x, weight, out + x);
}

void add_channels(const ChannelSums& sums) {
  const auto columns = static_cast<ptrdiff_t>(sums.columns);
  const Steps steps{bytes(sums.column_stride), bytes(sums.row_stride - columns * sums.column_stride),
                    bytes(sums.weight_row_stride) - columns * bytes(kChannelGroup), sums.columns};
  const bool any = sums.rows > 0 && columns > 0;
  const float* in = sums.in;
  float* out = sums.out;
  for (size_t o = sums.outputs; o > 0; --o, in += sums.in_step, out += sums.out_step) {
    const float* weight = sums.weight;
    size_t c = 0;
    for (; any && c + kChannelGroup <= sums.channels; c += kChannelGroup, weight += sums.group_stride) {
      add_group(steps, in + c, weight, sums.rows, sums.initial + c, out + c);
    }
    for (; c < sums.channels; ++c, ++weight) add_one(sums, in + c, weight, sums.initial + c, out + c);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
