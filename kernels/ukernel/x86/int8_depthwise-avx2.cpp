// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution of int8 on x86. Channels are processed in blocks: as many as the widest vector has
// bytes, then 16, then a part of 16. In a block of 16, a vector holds several pixels, one in each 128 bits.
// Bytes of four taps (VNNI), or int16 of two, are interleaved, so that adjacent products belong to one
// channel. This permutes the channels (channel_of); weights and requantization constants are permuted
// likewise, once for each block. All pixels of a block are filtered before the next block. Contiguous pixels
// with few channels are treated as one pixel with 16 channels.
#include "kernels/ukernel/int8_depthwise.h"
#include "kernels/ukernel/x86/int8_vector.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kPreparedBytes = size_t{48} << 10;         // on the stack
constexpr size_t kTogether = sizeof(Widest) == 64 ? 2 : 1;  // pixels whose sums fit in registers
constexpr size_t kNarrow = sizeof(__m128i);                 // channels of a block of several pixels
constexpr size_t kFolded = sizeof(Widest) / kNarrow;        // pixels in such a vector

constexpr size_t kRepeatedTaps = 64;  // most taps of pixels that are treated as one

constexpr size_t groups_of(size_t taps) { return (taps + kDotDepth - 1) / kDotDepth; }

// A prepared block; its weights follow, [groups][4] vectors.
template <class Vec>
struct Block {
  Vec initial[4];
  Scale<Vec> scales[4];
  [[nodiscard]] RL_INLINE Vec* weights() { return reinterpret_cast<Vec*>(this + 1); }
  [[nodiscard]] RL_INLINE const Vec* weights() const { return reinterpret_cast<const Vec*>(this + 1); }
  static constexpr size_t bytes(size_t taps) { return sizeof(Block) + groups_of(taps) * 4 * sizeof(Vec); }
};

// The channel in a block whose sum is in `lane` of `vector`, one of four vectors of sums.
template <class Vec>
RL_INLINE constexpr size_t channel_of(size_t vector, size_t lane) {
  if (RL_VNNI) return lane / 4 * 16 + 4 * vector + lane % 4;
  return vector / 2 * (sizeof(Vec) / 2) + lane / 4 * 8 + vector % 2 * 4 + lane % 4;
}

// Loads four contiguous elements.
RL_INLINE __m128i load_four(const int32_t* from) { return load<__m128i>(from); }
RL_INLINE __m128i load_four(const int8_t* from) { return _mm_cvtepi8_epi32(_mm_loadu_si32(from)); }

// Permutes the elements of a block's channels to the order of the sums; missing elements are 0.
template <class Vec, class Number>
RL_INLINE void arrange(Vec (&to)[4], const Number* from, ptrdiff_t step, size_t count) {
  Number own[16] = {};
  if (step == 0) {
    for (Vec& each : to) each = all_32<Vec>(*from);
    return;
  }
  if (count < sizeof(Vec)) {  // a part of the narrowest block
    std::memcpy(own, from, (count < 16 ? count : 16) * sizeof(Number));
    from = own;
  }
  auto* lanes = reinterpret_cast<char*>(to);
  for (size_t v = 0; v < 4; ++v) {
    for (size_t i = 0; i < kLanesOf<Vec>; i += 4, lanes += 16)
      store(lanes, load_four(from + channel_of<Vec>(v, i)));
  }
}

// Loads 16 channels, or fewer if kCount is 0.
template <size_t kCount>
RL_INLINE __m128i load_narrow(const int8_t* from, size_t count) {
  return kCount == kNarrow ? load<__m128i>(from) : load_bytes(from, count);
}

// Joins vectors of 128 bits, one a pixel, and splits results into them again.
RL_INLINE __m256i join(const __m128i (&parts)[2]) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(parts[0]), parts[1], 1);
}
RL_INLINE void split(__m256i joined, __m128i (&parts)[2]) {
  parts[0] = _mm256_castsi256_si128(joined);
  parts[1] = _mm256_extracti128_si256(joined, 1);
}
#if defined(__AVX512F__)
RL_INLINE __m512i join(const __m128i (&parts)[4]) {
  const __m512i two = _mm512_inserti32x4(_mm512_castsi128_si512(parts[0]), parts[1], 1);
  return _mm512_inserti32x4(_mm512_inserti32x4(two, parts[2], 2), parts[3], 3);
}
RL_INLINE void split(__m512i joined, __m128i (&parts)[4]) {
  parts[0] = _mm512_castsi512_si128(joined);
  parts[1] = _mm512_extracti32x4_epi32(joined, 1);
  parts[2] = _mm512_extracti32x4_epi32(joined, 2);
  parts[3] = _mm512_extracti32x4_epi32(joined, 3);
}
#endif

// A sequence of pixels, at a channel.
struct Pixels {
  const int8_t* const* taps;
  size_t step;       // pointers from pixel to pixel
  ptrdiff_t stride;  // bytes from pixel to pixel
  ptrdiff_t offset;

  Pixels(const Int8Depthwise& strip, size_t channel)
      : taps(strip.in),
        step(strip.pixel_stride == 0 ? strip.taps : 0),
        stride(strip.pixel_stride),
        offset(static_cast<ptrdiff_t>(channel)) {}
  // Channel 0 of the block at a tap. Either `step` or `stride` is 0.
  RL_INLINE const int8_t* at(size_t pixel, size_t tap) const {
    return taps[pixel * step + tap] + static_cast<ptrdiff_t>(pixel) * stride + offset;
  }
  RL_INLINE void skip(size_t count) {
    taps += count * step;
    offset += static_cast<ptrdiff_t>(count) * stride;
  }
};

// Loads of a tap: as many channels of one pixel as a vector has bytes, or 16, or fewer (kCount is 0); or 16
// or fewer channels of each of as many pixels as a vector holds, which may be contiguous (kAdjoin).
template <class V, size_t kCount, bool kAdjoin = false>
struct Seen {
  using Vec = V;
  static constexpr bool kIsFolded = sizeof(Vec) > kNarrow&& kCount <= kNarrow;

  const Pixels& pixels;
  size_t pixel;
  size_t count;  // channels

  RL_INLINE Vec load_tap(size_t tap) const {
    if constexpr (sizeof(Vec) == kNarrow) {
      return load_narrow<kCount>(pixels.at(pixel, tap), count);
    } else if constexpr (!kIsFolded || kAdjoin) {
      return load<Vec>(pixels.at(pixel, tap));
    } else {
      __m128i parts[kFolded];
      RL_UNROLL
      for (size_t p = 0; p < kFolded; ++p) parts[p] = load_narrow<kCount>(pixels.at(pixel + p, tap), count);
      return join(parts);
    }
  }
#if !RL_VNNI
  // One half of the vector, or of each 128 bits, as int16.
  RL_INLINE Vec load_half(size_t tap, size_t half) const {
    if constexpr (sizeof(Vec) > kNarrow && !kIsFolded) {
      return load_widened<Vec>(pixels.at(pixel, tap) + half * (sizeof(Vec) / 2));
    } else {
      const Vec numbers = load_tap(tap);
      const Vec upper = half == 0 ? zip_low_8(numbers, numbers) : zip_high_8(numbers, numbers);
      return shift_right_16<8>(upper);
    }
  }
#endif
};

// Interleaves the taps of one group, from `tap` on, to four vectors. Missing taps are 0.
template <size_t kTaps, class Seen>
RL_INLINE void interleave(typename Seen::Vec (&to)[4], const Seen& seen, size_t tap) {
  using Vec = typename Seen::Vec;
#if RL_VNNI
  const Vec zero = all_32<Vec>(0);
  Vec numbers[4] = {zero, zero, zero, zero};
  RL_UNROLL
  for (size_t t = 0; t < kTaps; ++t) numbers[t] = seen.load_tap(tap + t);
  // Bytes of taps 0 and 1, and of 2 and 3, then pairs of both: four adjacent bytes of one channel.
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
    for (size_t t = 0; t < kTaps; ++t) numbers[t] = seen.load_half(tap + t, half);
    to[2 * half] = zip_low_16(numbers[0], numbers[1]);
    to[2 * half + 1] = zip_high_16(numbers[0], numbers[1]);
  }
#endif
}

// The last group has fewer taps than an instruction multiplies; the number is a constant in each branch.
template <class Seen>
RL_INLINE void interleave_some(typename Seen::Vec (&to)[4], const Seen& seen, size_t tap, size_t tap_count) {
  if (tap_count >= kDotDepth) return interleave<kDotDepth>(to, seen, tap);
#if RL_VNNI
  if (tap_count == 3) return interleave<3>(to, seen, tap);
  if (tap_count == 2) return interleave<2>(to, seen, tap);
#endif
  interleave<1>(to, seen, tap);
}

// Prepares a block. Returns true if its sums are shifted left.
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
    // Weights are interleaved by the code that interleaves inputs, as one pixel whose taps are the lines of
    // the filter.
    Int8Depthwise tap_strip;
    tap_strip.in = taps;
    const Pixels lines(tap_strip, channel);
    constexpr size_t kCount = sizeof(Vec) > kNarrow ? sizeof(Vec) : 0;
    Vec group[4];
    interleave_some(group, Seen<Vec, kCount>{lines, 0, count}, 0, tap_count);
    for (size_t v = 0; v < 4; ++v) {
      weights[v] = group[v];
      if (!RL_VNNI) continue;
      // Corrects for the 128 that is added to inputs.
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

// Restores the channel order of narrowed sums.
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

// With VNNI inputs are made unsigned by a flip of the sign bit, which adds 128; block.initial corrects for
// it.
template <class Vec>
RL_INLINE void add_group(Vec (&sums)[4], Vec (&group)[4], const Vec* weights) {
  RL_UNROLL
  for (size_t v = 0; v < 4; ++v) {
    if (RL_VNNI) group[v] = group[v] ^ all_8<Vec>(-128);
    sums[v] = dot(sums[v], group[v], weights[v]);
  }
}

// Filters kVectors vectors of pixels, which share the loads of the block. taps(v) loads the taps of vector v,
// store_numbers(v, values) stores its results.
template <class Kind, size_t kVectors, class Vec, class Taps, class Store>
RL_INLINE void filter_together(const Block<Vec>& block, const Limits<Vec>& limits, size_t tap_count,
                               const Taps& taps, const Store& store_numbers) {
  Vec sums[kVectors][4];
  RL_UNROLL
  for (size_t p = 0; p < kVectors; ++p) {
    RL_UNROLL
    for (size_t v = 0; v < 4; ++v) sums[p][v] = block.initial[v];
  }
  const Vec* weights = block.weights();
  size_t tap = 0;
  for (; tap + kDotDepth <= tap_count; tap += kDotDepth, weights += 4) {
    RL_UNROLL
    for (size_t p = 0; p < kVectors; ++p) {
      Vec group[4];
      interleave<kDotDepth>(group, taps(p), tap);
      add_group(sums[p], group, weights);
    }
  }
  if (tap < tap_count) {
    RL_UNROLL
    for (size_t p = 0; p < kVectors; ++p) {
      Vec group[4];
      interleave_some(group, taps(p), tap, tap_count - tap);
      add_group(sums[p], group, weights);
    }
  }
  RL_UNROLL
  for (size_t v = 0; v < 4; ++v) {
    RL_UNROLL
    for (size_t p = 0; p < kVectors; ++p) {
      sums[p][v] = scaled<Kind::kHow, Kind::kShiftsLeft>(sums[p][v], block.scales[v]);
    }
  }
  RL_UNROLL
  for (size_t p = 0; p < kVectors; ++p) {
    store_numbers(p, limits.narrow(sums[p][0], sums[p][1], sums[p][2], sums[p][3]));
  }
}

// All pixels of a block as wide as a vector.
template <class Kind>
[[gnu::noinline]] void filter_wide(const Block<Widest>& block, const Int8Depthwise& strip, size_t channel) {
  using One = Seen<Widest, sizeof(Widest)>;
  const Limits<Widest> limits(strip.to);
  Pixels pixels(strip, channel);
  int8_t* out = strip.out + channel;
  const auto taps = [&](size_t p) __attribute__((always_inline)) { return One{pixels, p, sizeof(Widest)}; };
  const auto store_pixel = [&](size_t p, Widest numbers) __attribute__((always_inline)) {
    store(out + static_cast<ptrdiff_t>(p) * strip.out_stride, by_channels(numbers));
  };
  size_t left = strip.pixels;
  // kTogether pixels share the loads of weights and constants.
  for (; left >= kTogether; left -= kTogether, pixels.skip(kTogether)) {
    filter_together<Kind, kTogether>(block, limits, strip.taps, taps, store_pixel);
    out += static_cast<ptrdiff_t>(kTogether) * strip.out_stride;
  }
  for (; left > 0; --left, pixels.skip(1), out += strip.out_stride) {
    filter_together<Kind, 1>(block, limits, strip.taps, taps, store_pixel);
  }
}

// All pixels of a block of 16 channels or fewer: as many at a time as a vector holds, then one at a time.
template <class Kind, size_t kCount, bool kAdjoin>
[[gnu::noinline]] void filter_narrow(const Block<__m128i>& block, const Block<Widest>& folded,
                                     const Int8Depthwise& strip, size_t channel, size_t count) {
  Pixels pixels(strip, channel);
  int8_t* out = strip.out + channel;
  const ptrdiff_t stride = strip.out_stride;
  size_t left = strip.pixels;
  const auto store_one = [&](int8_t* to, __m128i numbers) __attribute__((always_inline)) {
    kCount == kNarrow ? store(to, numbers) : store_bytes(to, numbers, count);
  };
  const Limits<Widest> limits(strip.to);
  // A vector holds kFolded pixels.
  for (; left >= kFolded; left -= kFolded, pixels.skip(kFolded)) {
    filter_together<Kind, 1>(
        folded, limits, strip.taps,
        [&](size_t)
            __attribute__((always_inline)) { return Seen<Widest, kCount, kAdjoin>{pixels, 0, count}; },
        [&](size_t, Widest numbers) __attribute__((always_inline)) {
          if constexpr (kAdjoin) return store(out, numbers);
          __m128i parts[kFolded];
          split(numbers, parts);
          RL_UNROLL
          for (size_t p = 0; p < kFolded; ++p) store_one(out + static_cast<ptrdiff_t>(p) * stride, parts[p]);
        });
    out += static_cast<ptrdiff_t>(kFolded) * stride;
  }
  const Limits<__m128i> narrow_limits(strip.to);
  for (; left > 0; --left, pixels.skip(1), out += stride) {
    filter_together<Kind, 1>(
        block, narrow_limits, strip.taps,
        [&](size_t) __attribute__((always_inline)) { return Seen<__m128i, kCount>{pixels, 0, count}; },
        [&](size_t, __m128i numbers) __attribute__((always_inline)) { store_one(out, numbers); });
  }
}

// Repeats the constants in each 128 bits.
void fold(const Block<__m128i>& block, size_t taps, Block<Widest>& to) {
  const auto* from = reinterpret_cast<const __m128i*>(&block);
  auto* vectors = reinterpret_cast<Widest*>(&to);
  for (size_t i = 0; i < Block<__m128i>::bytes(taps) / sizeof(__m128i); ++i) {
    __m128i parts[kFolded];
    for (__m128i& part : parts) part = from[i];
    vectors[i] = join(parts);
  }
}

void filter_wide_block(char* prepared, const Int8Depthwise& strip, size_t channel) {
  auto& block = *reinterpret_cast<Block<Widest>*>(prepared);
  const bool raises = prepare_block(block, strip, channel, sizeof(Widest));
  for_rounding(strip.to.rounding, raises,
               [&](auto kind) { filter_wide<decltype(kind)>(block, strip, channel); });
}

void filter_narrow_block(char* prepared, const Int8Depthwise& strip, size_t channel, size_t count) {
  auto& folded = *reinterpret_cast<Block<Widest>*>(prepared);
  auto& block = *reinterpret_cast<Block<__m128i>*>(prepared + Block<Widest>::bytes(strip.taps));
  const bool raises = prepare_block(block, strip, channel, count);
  // With fewer pixels, vectors of several pixels are not used.
  if (strip.pixels >= kFolded) fold(block, strip.taps, folded);
  constexpr auto kAlone = static_cast<ptrdiff_t>(kNarrow);
  for_rounding(strip.to.rounding, raises, [&](auto kind) {
    using Own = decltype(kind);
    if (count < kNarrow) {
      // Partial blocks share one loop for both cases of left shifts, which saves code.
      using General = Kind<Own::kHow, Own::kHow != Rounding::kFloat>;  // left shifts may be 0
      return filter_narrow<General, 0, false>(block, folded, strip, channel, count);
    }
    if (strip.pixel_stride == kAlone && strip.out_stride == kAlone) {
      return filter_narrow<Own, kNarrow, true>(block, folded, strip, channel, count);
    }
    filter_narrow<Own, kNarrow, false>(block, folded, strip, channel, count);
  });
}

// For more taps than fit in a prepared block.
void filter_one_by_one(const Int8Depthwise& strip) {
  int8_t* out = strip.out;
  Pixels pixels(strip, 0);
  for (size_t p = 0; p < strip.pixels; ++p, pixels.skip(1), out += strip.out_stride) {
    for (size_t c = 0; c < strip.channels; ++c) {
      int32_t sum = strip.bias == nullptr ? 0 : strip.bias[c];
      const int8_t* weight = strip.weights + c;
      for (size_t t = 0; t < strip.taps; ++t, weight += strip.weight_stride) {
        sum += pixels.at(0, t)[c] * *weight;
      }
      out[c] = static_cast<int8_t>(requantize(strip.to, sum, c));
    }
  }
}

void filter(const Int8Depthwise& strip) {
  // A prepared block must fit in 48 kB of stack: some hundred taps.
  if (Block<Widest>::bytes(strip.taps) + Block<__m128i>::bytes(strip.taps) > kPreparedBytes) {
    return filter_one_by_one(strip);
  }
  alignas(Widest) char prepared[kPreparedBytes];
  size_t channel = 0;
  for (; channel + sizeof(Widest) <= strip.channels; channel += sizeof(Widest)) {
    filter_wide_block(prepared, strip, channel);
  }
  for (; channel < strip.channels; channel += kNarrow) {
    const size_t left = strip.channels - channel;
    filter_narrow_block(prepared, strip, channel, left < kNarrow ? left : kNarrow);
  }
}

// Contiguous pixels that form one pixel of 16 channels; 1 if they do not.
size_t adjoining(const Int8Depthwise& strip) {
  const auto channels = static_cast<ptrdiff_t>(strip.channels);
  if (channels == 0 || strip.pixel_stride != channels || strip.out_stride != channels) return 1;
  return kNarrow % strip.channels == 0 && strip.taps <= kRepeatedTaps ? kNarrow / strip.channels : 1;
}

// Repeats the constants of `channels` channels to fill 16; null stays null.
template <class Number>
const Number* repeat(const Number* from, size_t channels, Number* to) {
  if (from == nullptr) return nullptr;
  for (size_t i = 0; i < kNarrow; i += channels) std::memcpy(to + i, from, channels * sizeof(Number));
  return to;
}

// Filters contiguous pixels as pixels of 16 channels; returns the number of pixels done.
[[gnu::noinline]] size_t filter_adjoining(const Int8Depthwise& strip, size_t together) {
  int8_t weights[kRepeatedTaps * kNarrow], shifts[kNarrow];
  int32_t bias[kNarrow], multipliers[kNarrow];
  float scales[kNarrow];
  Int8Depthwise wide = strip;
  wide.pixels /= together;
  wide.channels = kNarrow;
  wide.pixel_stride = wide.out_stride = static_cast<ptrdiff_t>(kNarrow);
  for (size_t t = 0; t < strip.taps; ++t) {
    repeat(strip.weights + static_cast<ptrdiff_t>(t) * strip.weight_stride, strip.channels,
           weights + t * kNarrow);
  }
  wide.weights = weights;
  wide.weight_stride = static_cast<ptrdiff_t>(kNarrow);
  wide.bias = repeat(strip.bias, strip.channels, bias);
  if (strip.to.step != 0) {
    wide.to.multipliers = repeat(strip.to.multipliers, strip.channels, multipliers);
    wide.to.shifts = repeat(strip.to.shifts, strip.channels, shifts);
    wide.to.scales = repeat(strip.to.scales, strip.channels, scales);
  }
  filter(wide);
  return wide.pixels * together;
}

}  // namespace

void depthwise_int8(const Int8Depthwise& strip) {
  const size_t together = adjoining(strip);
  if (together == 1 || strip.pixels < kFolded * together) return filter(strip);
  const size_t done = filter_adjoining(strip, together);
  if (done == strip.pixels) return;
  // The pixels that are left, fewer than `together`: their pointers skip the finished pixels.
  const int8_t* taps[kRepeatedTaps];
  const ptrdiff_t skipped = static_cast<ptrdiff_t>(done) * strip.pixel_stride;
  for (size_t t = 0; t < strip.taps; ++t) taps[t] = strip.in[t] + skipped;
  Int8Depthwise rest = strip;
  rest.in = taps;
  rest.pixels -= done;
  rest.out += static_cast<ptrdiff_t>(done) * strip.out_stride;
  filter(rest);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
