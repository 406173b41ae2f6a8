// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution of int8 on x86. Channels are taken in blocks, of as many as a vector has bytes: of
// the widest vectors, then of narrower ones, at last a part of 16. Bytes of four taps (VNNI), or int16 of
// two, are interleaved, so that neighbours are products of one channel. That leaves channels in an order of
// their own (channel_of), in which weights and requantizations are brought first. All pixels of a block are
// filtered before the next block.

#include "kernels/ukernel/int8_depthwise.h"
#include "kernels/ukernel/x86/int8_vector.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kPreparedBytes = size_t{48} << 10;         // on the stack
constexpr size_t kTogether = sizeof(Widest) == 64 ? 2 : 1;  // pixels whose sums fit in registers

constexpr size_t groups_of(size_t taps) { return (taps + kDotDepth - 1) / kDotDepth; }

// A prepared block; weights follow, [groups][4] vectors.
template <class Vec>
struct Block {
  Vec initial[4];
  Scale<Vec> scales[4];
  [[nodiscard]] RL_INLINE Vec* weights() { return reinterpret_cast<Vec*>(this + 1); }
  [[nodiscard]] RL_INLINE const Vec* weights() const { return reinterpret_cast<const Vec*>(this + 1); }
  static constexpr size_t bytes(size_t taps) { return sizeof(Block) + groups_of(taps) * 4 * sizeof(Vec); }
};

// The channel of a block whose sum is in this lane of its four vectors of sums.
template <class Vec>
RL_INLINE constexpr size_t channel_of(size_t vector, size_t lane) {
  if (RL_VNNI) return lane / 4 * 16 + 4 * vector + lane % 4;
  return vector / 2 * (sizeof(Vec) / 2) + lane / 4 * 8 + vector % 2 * 4 + lane % 4;
}

// Four neighbours.
RL_INLINE __m128i load_four(const int32_t* from) { return load<__m128i>(from); }
RL_INLINE __m128i load_four(const int8_t* from) { return _mm_cvtepi8_epi32(_mm_loadu_si32(from)); }

// The numbers of a block's channels, in its order; those that are missing are 0.
template <class Vec, class Number>
RL_INLINE void arrange(Vec (&to)[4], const Number* from, ptrdiff_t step, size_t count) {
  Number own[16] = {};
  if (step == 0) {
    for (Vec& each : to) each = all_32<Vec>(*from);
    return;
  }
  if (count < sizeof(Vec)) {  // a part of the narrowest
    std::memcpy(own, from, (count < 16 ? count : 16) * sizeof(Number));
    from = own;
  }
  auto* lanes = reinterpret_cast<char*>(to);
  for (size_t v = 0; v < 4; ++v) {
    for (size_t i = 0; i < kLanesOf<Vec>; i += 4, lanes += 16)
      store(lanes, load_four(from + channel_of<Vec>(v, i)));
  }
}

// Some bytes, up to a vector.
template <class Vec>
RL_INLINE Vec load_channels(const int8_t* from, size_t) {
  return load<Vec>(from);
}
template <>
RL_INLINE __m128i load_channels<__m128i>(const int8_t* from, size_t count) {
  if (count == 16) return load<__m128i>(from);
  return count == 8 ? _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)) : load_bytes(from, count);
}

#if !RL_VNNI
// One half of them, as int16.
template <class Vec>
RL_INLINE Vec load_half(const int8_t* from, size_t half, size_t) {
  return load_widened<Vec>(from + half * (sizeof(Vec) / 2));
}
template <>
RL_INLINE __m128i load_half<__m128i>(const int8_t* from, size_t half, size_t count) {
  const __m128i all = load_channels<__m128i>(from, count);
  return _mm_cvtepi8_epi16(half == 0 ? all : _mm_unpackhi_epi64(all, all));
}
#endif

// The taps of one group in four vectors, to be multiplied. Taps that the group does not have are 0.
template <class Vec, size_t kTaps>
RL_INLINE void interleave(Vec (&to)[4], const int8_t* const* taps, size_t channel, size_t count) {
#if RL_VNNI
  const Vec zero = all_32<Vec>(0);
  Vec numbers[4] = {zero, zero, zero, zero};
  RL_UNROLL
  for (size_t t = 0; t < kTaps; ++t) numbers[t] = load_channels<Vec>(taps[t] + channel, count);
  const Vec low = zip_low_8(numbers[0], numbers[1]), high = zip_high_8(numbers[0], numbers[1]);
  const Vec low2 = kTaps > 2 ? zip_low_8(numbers[2], numbers[3]) : zero;
  const Vec high2 = kTaps > 2 ? zip_high_8(numbers[2], numbers[3]) : zero;
  to[0] = zip_low_16(low, low2), to[1] = zip_high_16(low, low2);
  to[2] = zip_low_16(high, high2), to[3] = zip_high_16(high, high2);
#else
  RL_UNROLL
  for (size_t half = 0; half < 2; ++half) {
    Vec numbers[2] = {all_32<Vec>(0), all_32<Vec>(0)};
    RL_UNROLL
    for (size_t t = 0; t < kTaps; ++t) numbers[t] = load_half<Vec>(taps[t] + channel, half, count);
    to[2 * half] = zip_low_16(numbers[0], numbers[1]);
    to[2 * half + 1] = zip_high_16(numbers[0], numbers[1]);
  }
#endif
}

template <class Vec>
RL_INLINE void interleave_some(Vec (&to)[4], const int8_t* const* taps, size_t tap_count, size_t channel,
                               size_t count) {
  if (tap_count >= kDotDepth) return interleave<Vec, kDotDepth>(to, taps, channel, count);
#if RL_VNNI
  if (tap_count == 3) return interleave<Vec, 3>(to, taps, channel, count);
  if (tap_count == 2) return interleave<Vec, 2>(to, taps, channel, count);
#endif
  interleave<Vec, 1>(to, taps, channel, count);
}

// Prepares a block; returns whether its sums are shifted to the left.
template <class Vec>
[[gnu::noinline]] bool prepare_block(Block<Vec>& block, const Int8Depthwise& strip, size_t channel,
                                     size_t count) {
  if (strip.bias == nullptr) {
    for (Vec& each : block.initial) each = all_32<Vec>(0);
  } else {
    arrange(block.initial, strip.bias + channel, 1, count);
  }
  Vec* weights = block.weights();
  const int8_t* from = strip.weights;
  for (size_t t = 0; t < strip.taps; t += kDotDepth, weights += 4) {
    const int8_t* taps[kDotDepth];
    const size_t tap_count = strip.taps - t < kDotDepth ? strip.taps - t : kDotDepth;
    for (size_t i = 0; i < tap_count; ++i, from += strip.weight_stride) taps[i] = from;
    Vec group[4];
    interleave_some(group, taps, tap_count, channel, count);
    for (size_t v = 0; v < 4; ++v) {
      weights[v] = group[v];
      if (!RL_VNNI) continue;
      // Inputs are 128 more.
      const Vec sum = dot(all_32<Vec>(0), all_8<Vec>(1), group[v]);
      block.initial[v] = subtract_32(block.initial[v], shift_left_32(sum, all_32<Vec>(7)));
    }
  }
  const Requantization& to = strip.to;
  const size_t at = to.step == 0 ? 0 : channel;
  Vec multipliers[4];
  Vec shifts[4];
  if (to.rounding == Rounding::kFloat) {
    arrange(multipliers, reinterpret_cast<const int32_t*>(to.scales) + at, to.step, count);
    for (Vec& each : shifts) each = all_32<Vec>(0);
  } else {
    arrange(multipliers, to.multipliers + at, to.step, count);
    arrange(shifts, to.shifts + at, to.step, count);
  }
  bool raises = false;
  for (size_t v = 0; v < 4; ++v) raises |= prepare(block.scales[v], to.rounding, multipliers[v], shifts[v]);
  return raises;
}

// Narrowed sums in the order of channels.
RL_INLINE __m128i by_channels(__m128i narrowed) { return narrowed; }
RL_INLINE __m256i by_channels(__m256i narrowed) {
  return RL_VNNI ? narrowed : _mm256_permute4x64_epi64(narrowed, 0xd8);
}
#if defined(__AVX512F__)
RL_INLINE __m512i by_channels(__m512i narrowed) {
  if (RL_VNNI) return narrowed;
  return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), narrowed);
}
#endif

template <class Vec>
RL_INLINE void store_channels(int8_t* to, Vec value, size_t) {
  store(to, value);
}
template <>
RL_INLINE void store_channels<__m128i>(int8_t* to, __m128i value, size_t count) {
  store_bytes(to, value, count);
}

template <class Vec>
RL_INLINE void add_group(Vec (&sums)[4], Vec (&group)[4], const Vec* weights) {
  RL_UNROLL
  for (size_t v = 0; v < 4; ++v) {
    if (RL_VNNI) group[v] = group[v] ^ all_8<Vec>(-128);
    sums[v] = dot(sums[v], group[v], weights[v]);
  }
}

// Some pixels together, which share what is loaded of the block: of kCount channels, or of `some`.
template <class Kind, size_t kCount, size_t kPixels, class Vec>
RL_INLINE void filter_together(const Block<Vec>& block, const Limits<Vec>& limits, size_t tap_count,
                               const int8_t* const* taps, size_t channel, size_t some, int8_t* out,
                               ptrdiff_t out_stride) {
  const size_t count = kCount > 0 ? kCount : some;
  Vec sums[kPixels][4];
  RL_UNROLL
  for (size_t p = 0; p < kPixels; ++p) {
    RL_UNROLL
    for (size_t v = 0; v < 4; ++v) sums[p][v] = block.initial[v];
  }
  const Vec* weights = block.weights();
  size_t left = tap_count;
  for (; left >= kDotDepth; left -= kDotDepth, taps += kDotDepth, weights += 4) {
    RL_UNROLL
    for (size_t p = 0; p < kPixels; ++p) {
      Vec group[4];
      interleave<Vec, kDotDepth>(group, taps + p * tap_count, channel, count);
      add_group(sums[p], group, weights);
    }
  }
  if (left > 0) {
    RL_UNROLL
    for (size_t p = 0; p < kPixels; ++p) {
      Vec group[4];
      interleave_some(group, taps + p * tap_count, left, channel, count);
      add_group(sums[p], group, weights);
    }
  }
  RL_UNROLL
  for (size_t v = 0; v < 4; ++v) {
    RL_UNROLL
    for (size_t p = 0; p < kPixels; ++p) {
      sums[p][v] = scaled<Kind::kHow, Kind::kShiftsLeft>(sums[p][v], block.scales[v]);
    }
  }
  RL_UNROLL
  for (size_t p = 0; p < kPixels; ++p, out += out_stride) {
    const Vec narrowed = limits.narrow(sums[p][0], sums[p][1], sums[p][2], sums[p][3]);
    store_channels(out, by_channels(narrowed), count);
  }
}

// A block of all pixels.
template <class Kind, size_t kCount, class Vec>
[[gnu::noinline]] void filter_pixels(const Block<Vec>& block, const Int8Depthwise& strip, size_t channel,
                                     size_t some) {
  const Limits<Vec> limits(strip.to);
  const int8_t* const* taps = strip.in;
  const size_t tap_count = strip.taps;
  int8_t* out = strip.out + channel;
  size_t left = strip.pixels;
  for (; left >= kTogether; left -= kTogether, taps += kTogether * tap_count) {
    filter_together<Kind, kCount, kTogether>(block, limits, tap_count, taps, channel, some, out,
                                             strip.out_stride);
    out += static_cast<ptrdiff_t>(kTogether) * strip.out_stride;
  }
  for (; left > 0; --left, taps += tap_count, out += strip.out_stride) {
    filter_together<Kind, kCount, 1>(block, limits, tap_count, taps, channel, some, out, strip.out_stride);
  }
}

// All pixels of the channels from `channel` on that are one block.
template <class Vec>
RL_INLINE void filter_block(char* prepared, const Int8Depthwise& strip, size_t channel, size_t count) {
  auto& block = *reinterpret_cast<Block<Vec>*>(prepared);
  const bool raises = prepare_block(block, strip, channel, count);
  for_rounding(strip.to.rounding, raises, [&](auto kind) {
    using Own = decltype(kind);
    if (count == sizeof(Vec)) {
      return filter_pixels<Own, sizeof(Vec)>(block, strip, channel, count);
    }
    if constexpr (sizeof(Vec) == 16) {
      // Shifts to the left may be 0.
      using General = Kind<Own::kHow, Own::kHow != Rounding::kFloat>;
      filter_pixels<General, 0>(block, strip, channel, count);
    }
  });
}

// More taps than fit.
void filter_one_by_one(const Int8Depthwise& strip) {
  const int8_t* const* in = strip.in;
  int8_t* out = strip.out;
  for (size_t p = 0; p < strip.pixels; ++p, in += strip.taps, out += strip.out_stride) {
    for (size_t c = 0; c < strip.channels; ++c) {
      int32_t sum = strip.bias == nullptr ? 0 : strip.bias[c];
      const int8_t* weight = strip.weights + c;
      for (size_t t = 0; t < strip.taps; ++t, weight += strip.weight_stride) sum += in[t][c] * *weight;
      out[c] = static_cast<int8_t>(requantize(strip.to, sum, c));
    }
  }
}

}  // namespace

void depthwise_int8(const Int8Depthwise& strip) {
  if (Block<Widest>::bytes(strip.taps) > kPreparedBytes) return filter_one_by_one(strip);
  alignas(Widest) char prepared[kPreparedBytes];
  for (size_t channel = 0; channel < strip.channels;) {
    const size_t left = strip.channels - channel;
    if (left >= sizeof(Widest)) {
      filter_block<Widest>(prepared, strip, channel, sizeof(Widest));
      channel += sizeof(Widest);
    } else if (left >= sizeof(__m256i)) {
      filter_block<__m256i>(prepared, strip, channel, sizeof(__m256i));
      channel += sizeof(__m256i);
    } else {
      const size_t count = left < 16 ? left : 16;
      filter_block<__m128i>(prepared, strip, channel, count);
      channel += count;
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
