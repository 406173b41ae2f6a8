// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution of int8 with SDOT: four taps of 16 channels are interleaved and multiplied with
// weights that are interleaved once for all pixels. Other taps and channels are computed without SDOT.
#include "kernels/ukernel/arm/int8_depthwise_neon.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kMostTaps = 64;  // taps whose weights are interleaved: 1 kB; more taps do without

// Interleaves four taps of each channel, 4 channels in a vector.
RL_INLINE int8x16x4_t interleave(int8x16_t a, int8x16_t b, int8x16_t c, int8x16_t d) {
  const int16x8_t ab_low = vreinterpretq_s16_s8(vzip1q_s8(a, b)),
                  ab_high = vreinterpretq_s16_s8(vzip2q_s8(a, b));
  const int16x8_t cd_low = vreinterpretq_s16_s8(vzip1q_s8(c, d)),
                  cd_high = vreinterpretq_s16_s8(vzip2q_s8(c, d));
  return {{vreinterpretq_s8_s16(vzip1q_s16(ab_low, cd_low)), vreinterpretq_s8_s16(vzip2q_s16(ab_low, cd_low)),
           vreinterpretq_s8_s16(vzip1q_s16(ab_high, cd_high)),
           vreinterpretq_s8_s16(vzip2q_s16(ab_high, cd_high))}};
}

// 16 channels of all pixels from channel c on. The remaining taps, fewer than four, take the code without
// SDOT.
void filter_fours(const Int8Depthwise& strip, const BlockQuantizer& q, size_t c) {
  if (strip.taps > kMostTaps) {
    filter(strip, q, c, Whole{});
    return;
  }
  const size_t pixels = strip.pixels, taps = strip.taps, fours = taps / 4 * 4;
  const ptrdiff_t weight_stride = strip.weight_stride, out_stride = strip.out_stride;
  // Weights of fours of taps, interleaved once.
  int8_t packed[kMostTaps * kBlock];
  const int8_t* weights = strip.weights + c;
  for (size_t t = 0; t < fours; t += 4, weights += 4 * weight_stride) {
    const int8x16x4_t each =
        interleave(vld1q_s8(weights), vld1q_s8(weights + weight_stride),
                   vld1q_s8(weights + 2 * weight_stride), vld1q_s8(weights + 3 * weight_stride));
    RL_UNROLL for (size_t v = 0; v < 4; ++v) vst1q_s8(packed + t * kBlock + 16 * v, each.val[v]);
  }
  const int8_t* const* in = strip.in;
  int8_t* out = strip.out + c;
  for (size_t p = 0; p < pixels; ++p, out += out_stride) {
    int32x4_t sums[4];
    RL_UNROLL for (size_t v = 0; v < 4; ++v) sums[v] = vld1q_s32(q.bias + 4 * v);
    const int8_t* four = packed;
    for (; four < packed + fours * kBlock; four += 4 * kBlock, in += 4) {
      const int8x16x4_t each =
          interleave(vld1q_s8(in[0] + c), vld1q_s8(in[1] + c), vld1q_s8(in[2] + c), vld1q_s8(in[3] + c));
      RL_UNROLL for (size_t v = 0; v < 4; ++v) sums[v] =
          vdotq_s32(sums[v], each.val[v], vld1q_s8(four + 16 * v));
    }
    const int8_t* rest = weights;
    for (size_t t = fours; t < taps; ++t, ++in, rest += weight_stride) {
      add_tap<Whole>(sums, vld1q_s8(*in + c), vld1q_s8(rest));
    }
    vst1q_s8(out, quantize(q, sums));
  }
}

}  // namespace

void depthwise_int8(const Int8Depthwise& strip) { filter_all(strip, filter_fours); }

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
