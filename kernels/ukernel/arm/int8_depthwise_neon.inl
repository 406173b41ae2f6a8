// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution of int8 with Neon: 16 channels of all pixels at a time, then 8 or the rest, so that
// the constants of the requantization are prepared once. The products of two taps are added in 16 bits, where
// they fit unless all four factors are -128; channels with such a weight add each product separately.
#include <cstring>

#include "kernels/ukernel/arm/requantize_neon.h"
#include "kernels/ukernel/int8_depthwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Loads 1 to 7 elements; the others are 0.
template <class T>
RL_INLINE uint64_t load_bits(const int8_t* from) {
  T bits;
  std::memcpy(&bits, from, sizeof(bits));
  return bits;
}
RL_INLINE int8x8_t load_some(const int8_t* from, size_t count) {
  uint64_t bits;
  if (count >= 4) {  // two loads that overlap
    bits = load_bits<uint32_t>(from) | load_bits<uint32_t>(from + count - 4) << (8 * count - 32);
  } else {
    bits = load_bits<uint8_t>(from) | load_bits<uint8_t>(from + count / 2) << (count / 2 * 8) |
           load_bits<uint8_t>(from + count - 1) << (8 * count - 8);
  }
  return vreinterpret_s8_u64(vdup_n_u64(bits));
}

// 16 channels.
struct Whole {
  using Numbers = int8x16_t;
  static constexpr size_t kHalves = 2;
  RL_INLINE int8x16_t load(const int8_t* from) const { return vld1q_s8(from); }
  RL_INLINE static int8x8_t half(int8x16_t numbers, size_t i) {
    return i == 0 ? vget_low_s8(numbers) : vget_high_s8(numbers);
  }
  RL_INLINE void store(int8_t* out, const BlockQuantizer& q, int32x4_t* sums) const {
    vst1q_s8(out, quantize(q, sums));
  }
};

// 8 channels.
struct Half {
  using Numbers = int8x8_t;
  static constexpr size_t kHalves = 1;
  RL_INLINE int8x8_t load(const int8_t* from) const { return vld1_s8(from); }
  RL_INLINE static int8x8_t half(int8x8_t numbers, size_t) { return numbers; }
  RL_INLINE void store(int8_t* out, const BlockQuantizer& q, int32x4_t* sums) const {
    vst1_s8(out, quantize_half(q, sums));
  }
};

// 1 to 7 channels.
struct Part : Half {
  explicit Part(size_t channels) : count(channels) {}
  RL_INLINE int8x8_t load(const int8_t* from) const { return load_some(from, count); }
  RL_INLINE void store(int8_t* out, const BlockQuantizer& q, int32x4_t* sums) const {
    store_some(out, quantize_half(q, sums), count);
  }
  size_t count;
};

template <class Channels>
RL_INLINE void add_wide(int32x4_t* sums, const int16x8_t* products) {
  RL_UNROLL for (size_t i = 0; i < Channels::kHalves; ++i) {
    sums[2 * i] = vaddw_s16(sums[2 * i], vget_low_s16(products[i]));
    sums[2 * i + 1] = vaddw_s16(sums[2 * i + 1], vget_high_s16(products[i]));
  }
}

template <class Channels>
RL_INLINE void add_tap(int32x4_t* sums, typename Channels::Numbers in, typename Channels::Numbers weights) {
  int16x8_t products[Channels::kHalves];
  RL_UNROLL for (size_t i = 0; i < Channels::kHalves; ++i) {
    products[i] = vmull_s8(Channels::half(in, i), Channels::half(weights, i));
  }
  add_wide<Channels>(sums, products);
}

template <bool kPairs, class Channels>
void filter_pixels(const Int8Depthwise& strip, const BlockQuantizer& q, size_t c, Channels channels) {
  const size_t pixels = strip.pixels, taps = strip.taps;
  const ptrdiff_t weight_stride = strip.weight_stride, out_stride = strip.out_stride;
  const int8_t* const* in = strip.in;
  const int8_t* const first_weights = strip.weights + c;
  int8_t* out = strip.out + c;
  for (size_t p = 0; p < pixels; ++p, out += out_stride) {
    int32x4_t sums[2 * Channels::kHalves];
    RL_UNROLL for (size_t v = 0; v < 2 * Channels::kHalves; ++v) sums[v] = vld1q_s32(q.bias + 4 * v);
    const int8_t* weights = first_weights;
    size_t left = taps;
    for (; kPairs && left >= 2; left -= 2, in += 2, weights += 2 * weight_stride) {
      const auto a = channels.load(in[0] + c), b = channels.load(in[1] + c);
      const auto u = channels.load(weights), v = channels.load(weights + weight_stride);
      int16x8_t products[Channels::kHalves];
      RL_UNROLL for (size_t i = 0; i < Channels::kHalves; ++i) {
        products[i] = vmull_s8(Channels::half(a, i), Channels::half(u, i));
        products[i] = vmlal_s8(products[i], Channels::half(b, i), Channels::half(v, i));
      }
      add_wide<Channels>(sums, products);
    }
    for (; left > 0; --left, ++in, weights += weight_stride) {
      add_tap<Channels>(sums, channels.load(*in + c), channels.load(weights));
    }
    channels.store(out, q, sums);
  }
}

template <class Channels>
void filter(const Int8Depthwise& strip, const BlockQuantizer& q, size_t c, Channels channels) {
  const int8_t* weights = strip.weights + c;
  int8x8_t least = vdup_n_s8(0);
  for (size_t t = 0; t < strip.taps; ++t, weights += strip.weight_stride) {
    const auto each = channels.load(weights);
    RL_UNROLL for (size_t i = 0; i < Channels::kHalves; ++i) least = vmin_s8(least, Channels::half(each, i));
  }
  const uint8x8_t found = vceq_s8(least, vdup_n_s8(-128));
  if (vget_lane_u64(vreinterpret_u64_u8(found), 0) != 0) {
    filter_pixels<false>(strip, q, c, channels);
  } else {
    filter_pixels<true>(strip, q, c, channels);
  }
}

// `whole` filters 16 channels.
template <class FilterWhole>
RL_INLINE void filter_all(const Int8Depthwise& strip, FilterWhole whole) {
  for (size_t c = 0; c < strip.channels;) {
    const size_t rest = strip.channels - c;
    const size_t count = rest >= kBlock ? kBlock : rest >= 8 ? 8 : rest;
    BlockQuantizer q;
    prepare(q, strip.to, strip.bias, c, count);
    if (count == kBlock) {
      whole(strip, q, c);
    } else if (count == 8) {
      filter(strip, q, c, Half{});
    } else {
      filter(strip, q, c, Part(count));
    }
    c += count;
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
