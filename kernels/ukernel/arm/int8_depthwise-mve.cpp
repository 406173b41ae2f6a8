// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: 16 channels, two taps at a time, whose int16 products are added before they are widened: 24
// instructions for 32 products, in assembler, as registers just suffice. Two products fit in int16 unless a
// weight is -128; then, and for many taps, four channels at a time.
#include "kernels/ukernel/arm/requantize_mve.h"
#include "kernels/ukernel/int8_depthwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kGroup = kSumColumns;
constexpr size_t kMostTaps = 32;      // taps whose weights are copied: 512 bytes of stack
constexpr size_t kPixels = kSumRows;  // pixels whose sums are kept: 1 kB

// Assembler reads the members by their offsets.
struct Taps {
  const int8_t* const* in;
  const int8_t* weights;
  ptrdiff_t offset;  // from where `in` points
  size_t pairs;
  size_t rest;  // 1: one tap before the pairs
  int32_t* sums;
  const int32_t* sums_end;
  size_t channels;  // lanes that are loaded
  ptrdiff_t back;   // bytes that pointers move back after a pixel
  ptrdiff_t pixel_stride;
};

// Sums of channels 0, 4, 8 and 12 are in q4, the next ones in q5 to q7. An odd tap is first and starts the
// sums.
[[gnu::naked, gnu::noinline]] void add_taps([[maybe_unused]] Taps& work) {
  asm volatile(
      "push {r4-r11, lr}\n"
      "vpush {d8-d15}\n"
      "ldmia r0, {r1, r2, r3, r4, r5, r6, r7, r8, r11, r12}\n"
      "vctp.8 r8\n"
      "1:\n"
      // The next pixel. Without an odd tap its first products are zeros.
      "mov r8, r2\n"
      "vmov.i32 q2, #0\n"
      "vmov.i32 q0, #0\n"
      "cbz r5, 2f\n"
      "ldr r9, [r1], #4\n"
      "add r9, r9, r3\n"
      "vpst\n"
      "vldrbt.u8 q0, [r9]\n"
      "vldrb.u8 q1, [r8], #16\n"
      "vmullb.s8 q2, q0, q1\n"
      "vmullt.s8 q0, q0, q1\n"
      "2:\n"
      // Widens the products of the odd tap to the sums of 32 bits.
      "vmovlb.s16 q4, q2\n"
      "vmovlb.s16 q5, q0\n"
      "vmovlt.s16 q6, q2\n"
      "vmovlt.s16 q7, q0\n"
      "wls lr, r4, 4f\n"
      "3:\n"
      // Two taps: pointers, inputs of the active lanes, and weights.
      "ldrd r9, r10, [r1], #8\n"
      "add r9, r9, r3\n"
      "add r10, r10, r3\n"
      "vpstt\n"
      "vldrbt.u8 q0, [r9]\n"
      "vldrbt.u8 q1, [r10]\n"
      "vldrb.u8 q3, [r8], #16\n"
      "vmullb.s8 q2, q0, q3\n"
      "vmullt.s8 q0, q0, q3\n"
      "vldrb.u8 q3, [r8]\n"
      "vmullb.s8 q3, q1, q3\n"
      "vadd.i16 q2, q2, q3\n"
      "vldrb.u8 q3, [r8], #16\n"
      "vmullt.s8 q3, q1, q3\n"
      "vadd.i16 q0, q0, q3\n"
      "vmovlb.s16 q1, q2\n"
      "vmovlb.s16 q3, q0\n"
      "vadd.i32 q4, q4, q1\n"
      "vmovlt.s16 q2, q2\n"
      "vadd.i32 q5, q5, q3\n"
      "vmovlt.s16 q0, q0\n"
      "vadd.i32 q6, q6, q2\n"
      "vadd.i32 q7, q7, q0\n"
      "le lr, 3b\n"
      "4:\n"
      // Interleaves the four vectors of sums to the order of the channels.
      "vst40.32 {q4, q5, q6, q7}, [r6]\n"
      "vst41.32 {q4, q5, q6, q7}, [r6]\n"
      "vst42.32 {q4, q5, q6, q7}, [r6]\n"
      "vst43.32 {q4, q5, q6, q7}, [r6]!\n"
      // Goes back to the first tap if pixels share pointers; r11 is 0 otherwise.
      "sub r1, r1, r11\n"
      "add r3, r3, r12\n"
      "cmp r6, r7\n"
      "bne 1b\n"
      "str r1, [r0]\n"
      "str r3, [r0, #8]\n"
      "vpop {d8-d15}\n"
      "pop {r4-r11, pc}\n");
}

// Copies the weights of a group. Lanes without a channel get zeros; if `number` < 16, the weights of that
// many channels repeat. Returns false if add_taps() cannot multiply them.
inline bool copy_weights(const Int8Depthwise& strip, size_t channel, size_t lanes_used, size_t number,
                         int8_t* to) {
  if (strip.taps > kMostTaps) return false;
  const mve_pred16_t lanes = vctp8q(lanes_used);
  const uint8x16_t at = vandq_u8(vidupq_n_u8(0, 1), vdupq_n_u8(static_cast<uint8_t>(number - 1)));
  const int8_t* from = strip.weights + channel;
  const ptrdiff_t stride = strip.weight_stride;
  int8x16_t least = vdupq_n_s8(0);
  for (size_t t = strip.taps; t > 0; --t, from += stride, to += kGroup) {
    const int8x16_t weights = vldrbq_gather_offset_z_s8(from, at, lanes);
    least = vminq_s8(least, weights);
    vstrbq_s8(to, weights);
  }
  return vminvq_s8(0, least) > -128;
}

// Any weights, for at most four channels.
inline void add_few(const Int8Depthwise& strip, size_t channel, size_t pixel, size_t pixels, int32_t* sums) {
  const mve_pred16_t lanes = vctp32q(strip.channels - channel);
  for (; pixels > 0; --pixels, ++pixel, sums += kGroup) {
    const int8_t* const* in = strip.in + (strip.pixel_stride == 0 ? pixel * strip.taps : 0);
    const ptrdiff_t offset =
        static_cast<ptrdiff_t>(pixel) * strip.pixel_stride + static_cast<ptrdiff_t>(channel);
    const int8_t* weights = strip.weights + channel;
    int32x4_t sum = vdupq_n_s32(0);
    for (size_t t = strip.taps; t > 0; --t, weights += strip.weight_stride) {
      const int32x4_t numbers = vldrbq_z_s32(*in++ + offset, lanes);
      sum = vaddq_s32(sum, vmulq_s32(numbers, vldrbq_z_s32(weights, lanes)));
    }
    vstrwq_s32(sums, sum);
  }
}

// Pixels that share a group of lanes, if they are contiguous and have few channels.
size_t pixels_of_group(const Int8Depthwise& strip) {
  const auto channels = static_cast<ptrdiff_t>(strip.channels);
  const bool adjoin = strip.pixel_stride == channels && strip.out_stride == channels;
  const bool fits = channels == 8 || channels == 4 || channels == 2 || channels == 1;
  return adjoin && fits ? kGroup / strip.channels : 1;
}

// Computes the pixels from `first` on, whose results begin at strip.out. `together` adjacent pixels are
// treated as one pixel with more channels; if add_taps() cannot multiply their weights, returns false and
// writes nothing.
[[gnu::noinline]] bool convolve(const Int8Depthwise& strip, size_t together, size_t first) {
  int8_t weights[kMostTaps * kGroup];
  int32_t sums[kPixels * kGroup];
  const size_t number = together == 1 ? kGroup : strip.channels;
  const size_t all = strip.channels * together;
  Quantizer quantizer(strip.to, strip.bias);
  for (size_t c = 0; c < all;) {
    const size_t lanes = all - c < kGroup ? all - c : kGroup;
    // With a weight of -128 or too many taps, four channels at a time without pairs.
    const bool whole = copy_weights(strip, c, lanes, number, weights);
    if (!whole && together > 1) return false;
    const size_t channels = whole || lanes < 4 ? lanes : 4;
    const auto pointers = static_cast<ptrdiff_t>(strip.taps * sizeof(strip.in[0]));
    Taps work{strip.in,
              weights,
              static_cast<ptrdiff_t>(c) + static_cast<ptrdiff_t>(first) * strip.pixel_stride,
              strip.taps / 2,
              strip.taps % 2,
              nullptr,
              nullptr,
              channels,
              strip.pixel_stride == 0 ? 0 : pointers,
              strip.pixel_stride};
    quantizer.set_columns(c, channels, number);
    int8_t* out = strip.out + c;
    for (size_t p = 0; p < strip.pixels; p += kPixels) {
      const size_t pixels = strip.pixels - p < kPixels ? strip.pixels - p : kPixels;
      if (whole) {
        work.sums = sums;
        work.sums_end = sums + pixels * kGroup;
        add_taps(work);
      } else {
        add_few(strip, c, first + p, pixels, sums);
      }
      quantizer.quantize({sums, 1, kRowsOf16, pixels, out, strip.out_stride});
      out += static_cast<ptrdiff_t>(pixels) * strip.out_stride;
    }
    c += channels;
  }
  return true;
}

}  // namespace

void depthwise_int8(const Int8Depthwise& strip) {
  Int8Depthwise rest = strip;
  const size_t together = pixels_of_group(strip);
  if (together > 1 && strip.pixels >= together) {
    Int8Depthwise groups = strip;
    groups.pixels /= together;
    groups.pixel_stride *= static_cast<ptrdiff_t>(together);
    groups.out_stride = groups.pixel_stride;
    // If the weights cannot be paired, all pixels are left.
    if (convolve(groups, together, 0)) rest.pixels %= together;
  }
  const auto done = static_cast<ptrdiff_t>(strip.pixels - rest.pixels);
  rest.out += done * strip.out_stride;
  if (rest.pixels > 0) convolve(rest, 1, static_cast<size_t>(done));
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
