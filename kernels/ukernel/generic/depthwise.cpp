// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution over vectors of the compiler. The frequent kernels (3 x 3, 5 x 5 where registers
// suffice, and their first rows) keep all weights of a vector of channels in registers and load an input once
// for several pixels. Groups within a vector read its channels once, and repeat each over its group by a
// shuffle; larger ones broadcast them from memory.
#include "kernels/ukernel/depthwise.h"

#include <utility>

#include "kernels/ukernel/generic/by_lane.h"
#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr bool kManyRegisters = kHeldTaps > 9;
constexpr auto kBlock = static_cast<ptrdiff_t>(kDepthwiseBlock);
static_assert(kDepthwiseBlock % kLanes == 0);

// A kind of strips of depthwise_pixels. `step` is the distance of pixels in taps; 0 if it is no whole number.
struct StripKind {
  size_t group;
  size_t rows;
  size_t taps;
  size_t step;
  bool is_partial;  // its channels do not fill the last vector
};

// A build for known calls names the kinds of its strips, five numbers each, and the taps of its planes.
// Strips and planes that it does not name take the loops over any number.
template <class Predicate>
constexpr bool has_strip([[maybe_unused]] Predicate predicate) {
#ifdef RL_PIXEL_STRIPS
  constexpr size_t kAsked[] = {RL_PIXEL_STRIPS};
  for (size_t i = 0; i + 5 <= sizeof(kAsked) / sizeof(kAsked[0]); i += 5) {
    if (predicate(StripKind{kAsked[i], kAsked[i + 1], kAsked[i + 2], kAsked[i + 3], kAsked[i + 4] != 0})) {
      return true;
    }
  }
  return false;
#else
  return true;
#endif
}
// True for groups, and for kernels that have loops beside those over any number: see are_frequent().
constexpr bool is_frequent(const StripKind& kind) {
  const bool is_square = kind.rows == kind.taps && (kind.taps == 3 || (kind.taps == 5 && kHeldTaps >= 25));
  const bool is_held = is_square && (kind.step == 1 || kind.step == 2);
  const bool is_by_rows = (kind.taps == 7 && kind.step == 1) ||
                          (kind.taps == 5 && kHeldTaps < 25 && (kind.step == 1 || kind.step == 2));
  return kind.group > 1 || is_held || is_by_rows;
}
template <bool kWhole, size_t kGroup>
constexpr bool has_group() {
  return has_strip([](const StripKind& kind) { return kind.group == kGroup && (kWhole || kind.is_partial); });
}
// Code for size has the loops over frequent kernels for whole vectors alone.
#if defined(__OPTIMIZE_SIZE__) && !defined(RL_PIXEL_STRIPS)
constexpr bool kHasPartial = false;
#else
constexpr bool kHasPartial = true;
#endif
// kRows = 0 is any number.
template <bool kWhole, size_t kRows, size_t kTaps, size_t kStep>
constexpr bool has_kernel() {
  return (kWhole || kHasPartial) && has_strip([](const StripKind& kind) {
           return kind.group == 1 && (kRows == 0 || kind.rows == kRows) && kind.taps == kTaps &&
                  kind.step == kStep && (kWhole || kind.is_partial);
         });
}
constexpr bool has_taps([[maybe_unused]] size_t taps) {
#ifdef RL_PLANE_TAPS
  constexpr size_t kAsked[] = {RL_PLANE_TAPS};
  for (const size_t asked : kAsked) {
    if (asked == taps) return true;
  }
  return false;
#else
  return true;
#endif
}

// The weights of row r for the vector of channels from c on; taps are kBlock apart.
RL_INLINE const float* weights_of(const DepthwisePixels& s, size_t r, size_t c) {
  return s.weights[r] + static_cast<ptrdiff_t>(c / kDepthwiseBlock) * s.weight_block + c % kDepthwiseBlock;
}

// Loads or stores a whole vector, or its first `count` floats.
template <bool kWhole>
RL_INLINE F32 load_some(const float* from, size_t count) {
  return kWhole ? load(from) : load_partial(from, count);
}
template <bool kWhole>
RL_INLINE void store_some(float* to, F32 value, size_t count) {
  if (kWhole) {
    store(to, value);
  } else {
    store_partial(to, value, count);
  }
}

// The clamp, with bounds as vectors; NaN passes.
struct Finish {
  F32 low;
  F32 high;

  RL_INLINE F32 operator()(F32 sum) const { return at_most(at_least(sum, low), high); }
};

// One vector of channels over all pixels, whose first taps are kStep taps apart. The kRows x kTaps weights
// stay in registers, and inputs that several pixels share are loaded once.
template <bool kWhole, size_t kRows, size_t kTaps, size_t kStep>
struct Held {
  F32 weights[kRows][kTaps];
  const float* in[kRows];
  F32 bias;
  Finish finish;
  float* out;
  const float* residual;
  ptrdiff_t tap_stride;
  ptrdiff_t out_stride;
  ptrdiff_t residual_stride;
  size_t count;

  RL_INLINE Held(const DepthwisePixels& s, size_t c, size_t channels)
      : bias(s.bias == nullptr ? splat(0.0F) : load_some<kWhole>(s.bias + c, channels)),
        finish{splat(s.low), splat(s.high)},
        out(s.out + c),
        residual(s.residual == nullptr ? nullptr : s.residual + c),
        tap_stride(s.tap_stride),
        out_stride(s.out_stride),
        residual_stride(s.residual_stride),
        count(channels) {
    RL_UNROLL for (size_t r = 0; r < kRows; ++r) {
      in[r] = s.in[r] + c;
      RL_UNROLL for (size_t t = 0; t < kTaps; ++t) {
        weights[r][t] = load(weights_of(s, r, c) + static_cast<ptrdiff_t>(t) * kBlock);
      }
    }
  }

  // The next kPixels pixels. Input j of a row serves pixel i as tap j - kStep * i, so that the loop over
  // inputs loads each once: kStep * (kPixels - 1) + kTaps loads instead of kPixels * kTaps. Each sum still
  // adds its taps in order.
  template <size_t kPixels>
  RL_INLINE void compute() {
    F32 sums[kPixels];
    RL_UNROLL for (size_t i = 0; i < kPixels; ++i) sums[i] = bias;
    RL_UNROLL for (size_t r = 0; r < kRows; ++r) {
      const float* seen = in[r];
      RL_UNROLL for (size_t j = 0; j < kStep * (kPixels - 1) + kTaps; ++j, seen += tap_stride) {
        const F32 value = load_some<kWhole>(seen, count);
        RL_UNROLL for (size_t i = 0; i < kPixels; ++i) {
          if (j >= kStep * i && j < kStep * i + kTaps) {
            sums[i] = multiply_add(value, weights[r][j - kStep * i], sums[i]);
          }
        }
      }
      in[r] += static_cast<ptrdiff_t>(kStep * kPixels) * tap_stride;
    }
    if (residual != nullptr) {
      RL_UNROLL for (size_t i = 0; i < kPixels; ++i, residual += residual_stride) {
        sums[i] += load_some<kWhole>(residual, count);
      }
    }
    RL_UNROLL for (size_t i = 0; i < kPixels; ++i, out += out_stride) {
      store_some<kWhole>(out, finish(sums[i]), count);
    }
  }
};

// Four pixels at a time where registers suffice for their sums besides the weights, else two.
template <bool kWhole, size_t kRows, size_t kTaps, size_t kStep>
void pixels_held(const DepthwisePixels& s, size_t c, size_t count) {
  constexpr size_t kAtOnce = !kManyRegisters || (kRows * kTaps > 9 && kStep > 1) ? 2 : 4;
  Held<kWhole, kRows, kTaps, kStep> held(s, c, count);
  size_t left = s.pixels;
  for (; left >= kAtOnce; left -= kAtOnce) held.template compute<kAtOnce>();
  if (left >= 2) {
    held.template compute<2>();
    left -= 2;
  }
  for (; left > 0; --left) held.template compute<1>();
}

// True if the strip has this kernel and a stride of 1 or 2: then it is computed.
template <bool kWhole, size_t kRows, size_t kTaps>
bool are_held(const DepthwisePixels& s, size_t c, size_t count) {
  if (s.rows != kRows || s.taps != kTaps) return false;
  if (has_kernel<kWhole, kRows, kTaps, 1>() && s.in_stride == s.tap_stride) {
    pixels_held<kWhole, kRows, kTaps, 1>(s, c, count);
  } else if (has_kernel<kWhole, kRows, kTaps, 2>() && s.in_stride == 2 * s.tap_stride) {
    pixels_held<kWhole, kRows, kTaps, 2>(s, c, count);
  } else {
    return false;
  }
  return true;
}

// Starts and stores the sums of one vector of channels for kPixels pixels from p on.
template <bool kWhole, size_t kPixels>
RL_INLINE void begin_pixels(const DepthwisePixels& s, F32 (&sums)[kPixels], size_t p, size_t c,
                            size_t count) {
  const F32 bias = s.bias == nullptr ? splat(0.0F) : load_some<kWhole>(s.bias + c, count);
  RL_UNROLL for (size_t i = 0; i < kPixels; ++i) sums[i] = bias;
  if (!s.accumulate) return;
  const float* out = s.out + static_cast<ptrdiff_t>(p) * s.out_stride + c;
  RL_UNROLL for (size_t i = 0; i < kPixels; ++i) {
    sums[i] = load_some<kWhole>(out + static_cast<ptrdiff_t>(i) * s.out_stride, count);
  }
}
template <bool kWhole, size_t kPixels>
RL_INLINE void end_pixels(const DepthwisePixels& s, F32 (&sums)[kPixels], size_t p, size_t c, size_t count) {
  const Finish finish{splat(s.low), splat(s.high)};
  RL_UNROLL for (size_t i = 0; i < kPixels; ++i) {
    const auto at = static_cast<ptrdiff_t>(p + i);
    if (s.residual != nullptr) sums[i] += load_some<kWhole>(s.residual + at * s.residual_stride + c, count);
    store_some<kWhole>(s.out + at * s.out_stride + c, finish(sums[i]), count);
  }
}

// One vector of channels for kPixels pixels from p on; any kernel size.
template <bool kWhole, size_t kPixels>
void pixels_any(const DepthwisePixels& s, size_t p, size_t c, size_t count) {
  const auto first = static_cast<ptrdiff_t>(p);
  const ptrdiff_t in_stride = s.in_stride;
  F32 sums[kPixels];
  begin_pixels<kWhole>(s, sums, p, c, count);
  for (size_t r = 0; r < s.rows; ++r) {
    const float* in = s.in[r] + first * in_stride + c;
    const float* weights = weights_of(s, r, c);
    for (size_t t = 0; t < s.taps; ++t) {
      const F32 weight = load(weights);
      RL_UNROLL for (size_t i = 0; i < kPixels; ++i) {
        const F32 seen = load_some<kWhole>(in + static_cast<ptrdiff_t>(i) * in_stride, count);
        sums[i] = multiply_add(seen, weight, sums[i]);
      }
      in += s.tap_stride;
      weights += kBlock;
    }
  }
  end_pixels<kWhole>(s, sums, p, c, count);
}

#if RL_VECTOR_BYTES > 4
// Lane l of the result is lane l - l % kGroup + kIndex of the value.
template <size_t kGroup, size_t kIndex, size_t... kLane>
RL_INLINE F32 repeated(F32 value, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(value, value, (kLane - kLane % kGroup + kIndex)...);
}
// sums[p] += channel kIndex of the group of each lane * its weights, for all channels of a group.
template <size_t kGroup, size_t kPixels, size_t... kIndex>
RL_INLINE void add_group(F32 (&sums)[kPixels], const F32 (&seen)[kPixels], const float* weights,
                         std::index_sequence<kIndex...>) {
  const auto add = [&](auto index) __attribute__((always_inline)) {
    const F32 weight = load(weights + decltype(index)::value * kDepthwiseBlock);
    RL_UNROLL for (size_t i = 0; i < kPixels; ++i) {
      const F32 factor =
          repeated<kGroup, decltype(index)::value>(seen[i], std::make_index_sequence<kLanes>());
      sums[i] = multiply_add(factor, weight, sums[i]);
    }
  };
  (add(std::integral_constant<size_t, kIndex>()), ...);
}
// sums[p] += channel kIndex of seen[p] * its weights, for a vector of channels of one group.
template <size_t kPixels, size_t... kIndex>
RL_INLINE void add_lanes(F32 (&sums)[kPixels], const F32 (&seen)[kPixels], const float* weights,
                         std::index_sequence<kIndex...>) {
  const auto add = [&](auto index) __attribute__((always_inline)) {
    const F32 weight = load(weights + decltype(index)::value * kDepthwiseBlock);
    RL_UNROLL for (size_t i = 0; i < kPixels; ++i) {
      sums[i] = multiply_add_lane<decltype(index)::value>(seen[i], weight, sums[i]);
    }
  };
  (add(std::integral_constant<size_t, kIndex>()), ...);
}
#endif

// The same for groups of kGroup channels. Vectors hold whole groups or are parts of one.
template <bool kWhole, size_t kGroup, size_t kPixels>
void pixels_grouped(const DepthwisePixels& s, size_t p, size_t c, size_t count) {
  F32 sums[kPixels];
  begin_pixels<kWhole>(s, sums, p, c, count);
  for (size_t r = 0; r < s.rows; ++r) {
    const float* in = s.in[r] + static_cast<ptrdiff_t>(p) * s.in_stride + c / kGroup * kGroup;
    const float* weights = weights_of(s, r, c);
    for (size_t t = 0; t < s.taps; ++t, in += s.tap_stride, weights += kGroup * kDepthwiseBlock) {
#if RL_VECTOR_BYTES > 4
      if constexpr (kGroup < kLanes) {
        F32 seen[kPixels];
        RL_UNROLL for (size_t i = 0; i < kPixels; ++i) {
          seen[i] = load_some<kWhole>(in + static_cast<ptrdiff_t>(i) * s.in_stride, count);
        }
        add_group<kGroup>(sums, seen, weights, std::make_index_sequence<kGroup>());
        continue;
      } else if constexpr (kGemmByLane) {
        RL_UNROLL for (size_t k = 0; k < kGroup; k += kLanes) {
          F32 seen[kPixels];
          RL_UNROLL for (size_t i = 0; i < kPixels; ++i) {
            seen[i] = load(in + static_cast<ptrdiff_t>(i) * s.in_stride + k);
          }
          add_lanes(sums, seen, weights + k * kDepthwiseBlock, std::make_index_sequence<kLanes>());
        }
        continue;
      }
#endif
      for (size_t k = 0; k < kGroup; ++k) {
        const F32 weight = load(weights + k * kDepthwiseBlock);
        RL_UNROLL for (size_t i = 0; i < kPixels; ++i) {
          sums[i] =
              multiply_add(splat(in[static_cast<ptrdiff_t>(i) * s.in_stride + static_cast<ptrdiff_t>(k)]),
                           weight, sums[i]);
        }
      }
    }
  }
  end_pixels<kWhole>(s, sums, p, c, count);
}

// Pixels in tiles of nearly equal size, from kMost / 2 to kMost: the chain of sums of one pixel takes nearly
// as long as several. A partial vector, of which a call has one, has fewer sizes.
template <bool kWhole, size_t kGroup>
void pixels_in_groups(const DepthwisePixels& s, size_t c, size_t count) {
  constexpr size_t kMost = !kWhole ? 4 : kManyRegisters ? 8 : 6;  // with inputs and weights, fit in registers
  size_t p = 0;
  for (size_t tiles = (s.pixels + kMost - 1) / kMost; tiles > 0; --tiles) {
    const size_t pixels = (s.pixels - p + tiles - 1) / tiles;
    if (kWhole && pixels > kMost / 2) {
      if (pixels == kMost) pixels_grouped<kWhole, kGroup, kMost>(s, p, c, count);
      if (pixels == kMost - 1) pixels_grouped<kWhole, kGroup, kMost - 1>(s, p, c, count);
      if (pixels == kMost - 2) pixels_grouped<kWhole, kGroup, kMost - 2>(s, p, c, count);
      if (kMost == 8 && pixels == 5) pixels_grouped<kWhole, kGroup, 5>(s, p, c, count);
      p += pixels;
      continue;
    }
    const size_t end = p + pixels;
    for (; p + kMost / 2 <= end; p += kMost / 2) pixels_grouped<kWhole, kGroup, kMost / 2>(s, p, c, count);
    for (; p < end; ++p) pixels_grouped<kWhole, kGroup, 1>(s, p, c, count);
  }
}

// kPixels pixels from p on that are kStep taps apart, any number of rows of kTaps taps: the weights of a row
// are in registers, and inputs that several pixels share are loaded once, as in Held.
template <bool kWhole, size_t kTaps, size_t kStep, size_t kPixels>
void pixels_by_rows(const DepthwisePixels& s, size_t p, size_t c, size_t count) {
  F32 sums[kPixels];
  begin_pixels<kWhole>(s, sums, p, c, count);
  for (size_t r = 0; r < s.rows; ++r) {
    F32 weights[kTaps];
    RL_UNROLL for (size_t t = 0; t < kTaps; ++t) {
      weights[t] = load(weights_of(s, r, c) + static_cast<ptrdiff_t>(t) * kBlock);
    }
    const float* seen = s.in[r] + static_cast<ptrdiff_t>(p) * s.in_stride + c;
    RL_UNROLL for (size_t j = 0; j < kStep * (kPixels - 1) + kTaps; ++j, seen += s.tap_stride) {
      const F32 value = load_some<kWhole>(seen, count);
      RL_UNROLL for (size_t i = 0; i < kPixels; ++i) {
        if (j >= kStep * i && j < kStep * i + kTaps) {
          sums[i] = multiply_add(value, weights[j - kStep * i], sums[i]);
        }
      }
    }
  }
  end_pixels<kWhole>(s, sums, p, c, count);
}

// True if the strip has rows of kTaps taps and this step: then it is computed.
template <bool kWhole, size_t kTaps, size_t kStep>
bool are_by_rows(const DepthwisePixels& s, size_t c, size_t count) {
  if constexpr (!has_kernel<kWhole, 0, kTaps, kStep>()) return false;
  if (s.taps != kTaps || s.in_stride != static_cast<ptrdiff_t>(kStep) * s.tap_stride) return false;
  constexpr size_t kAtOnce = kManyRegisters ? 8 : 6;
  size_t p = 0;
  for (; p + kAtOnce <= s.pixels; p += kAtOnce) {
    pixels_by_rows<kWhole, kTaps, kStep, kAtOnce>(s, p, c, count);
  }
  if (kWhole && p + 4 <= s.pixels) {
    pixels_by_rows<kWhole, kTaps, kStep, 4>(s, p, c, count);
    p += 4;
  }
  for (; p + 2 <= s.pixels; p += 2) pixels_by_rows<kWhole, kTaps, kStep, 2>(s, p, c, count);
  if (p < s.pixels) pixels_by_rows<kWhole, kTaps, kStep, 1>(s, p, c, count);
  return true;
}

#ifdef RL_PIXEL_STRIPS
// Any strip, sum by sum: for kinds that the build does not name.
[[gnu::cold]] void pixels_plainly(const DepthwisePixels& s, size_t first, size_t count) {
  for (size_t p = 0; p < s.pixels; ++p) {
    const auto pixel = static_cast<ptrdiff_t>(p);
    for (size_t c = first; c < first + count; ++c) {
      float* const out = s.out + pixel * s.out_stride + c;
      float sum = s.accumulate ? *out : s.bias == nullptr ? 0.0F : s.bias[c];
      for (size_t r = 0; r < s.rows; ++r) {
        const float* weight = weights_of(s, r, c);
        const float* const in = s.in[r] + pixel * s.in_stride + c / s.group * s.group;
        for (size_t t = 0; t < s.taps * s.group; ++t, weight += kBlock) {
          sum += in[static_cast<ptrdiff_t>(t / s.group) * s.tap_stride + t % s.group] * *weight;
        }
      }
      if (s.residual != nullptr) sum += s.residual[pixel * s.residual_stride + c];
      sum = sum < s.low ? s.low : sum;
      *out = sum > s.high ? s.high : sum;
    }
  }
}
#endif

// True if the strip has groups of kGroup channels: then it is computed.
template <bool kWhole, size_t kGroup>
bool are_grouped(const DepthwisePixels& s, size_t c, size_t count) {
  if constexpr (!has_group<kWhole, kGroup>()) return false;
  if (s.group != kGroup) return false;
  pixels_in_groups<kWhole, kGroup>(s, c, count);
  return true;
}

// True if the strip has a frequent kernel and several pixels: then it is computed.
template <bool kWhole>
bool are_frequent(const DepthwisePixels& s, size_t c, size_t count) {
  if (s.pixels <= 1) return false;
  if (!s.accumulate) {
    if (are_held<kWhole, 3, 3>(s, c, count)) return true;
    if (kHeldTaps >= 25 && are_held<kWhole, 5, 5>(s, c, count)) return true;
    if (are_held<kWhole, 2, 3>(s, c, count)) return true;  // first and last rows of an image
  }
  return are_by_rows<kWhole, 7, 1>(s, c, count) ||
         (kHeldTaps < 25 && are_by_rows<kWhole, 5, 1>(s, c, count)) ||
         (kHeldTaps < 25 && are_by_rows<kWhole, 5, 2>(s, c, count));
}

// One vector of channels for all pixels. False if the build does not name such strips.
template <bool kWhole>
bool pixels_of(const DepthwisePixels& s, size_t c, size_t count) {
  if constexpr (!kWhole && !has_strip([](const StripKind& kind) { return kind.is_partial; })) return false;
  if (are_grouped<kWhole, 2>(s, c, count) || are_grouped<kWhole, 4>(s, c, count) ||
      are_grouped<kWhole, 8>(s, c, count) || are_grouped<kWhole, 16>(s, c, count)) {
    return true;
  }
  if (s.group != 1) return false;
  if (are_frequent<kWhole>(s, c, count)) return true;
  // Eight pixels share the loads of a weight, then two, then one; two suffice for the edges of images.
  size_t p = 0;
  if constexpr (has_strip([](const StripKind& kind) { return !is_frequent(kind); })) {
    for (; p + 8 <= s.pixels; p += 8) pixels_any<kWhole, 8>(s, p, c, count);
  }
  for (; p + 2 <= s.pixels; p += 2) pixels_any<kWhole, 2>(s, p, c, count);
  if (p < s.pixels) pixels_any<kWhole, 1>(s, p, c, count);
  return true;
}

// Weights and input pointers, shared by all vectors of a plane.
template <size_t kTaps>
struct PlaneSum {
  F32 weights[kTaps];
  const float* in[kTaps];

  // Broadcasts the weights, which stay in registers for all rows.
  RL_INLINE explicit PlaneSum(const DepthwisePlane& plane) {
    RL_UNROLL for (size_t t = 0; t < kTaps; ++t) {
      weights[t] = splat(plane.weights[t]);
      in[t] = plane.in[t];
    }
  }
  RL_INLINE F32 operator()(F32 sum, ptrdiff_t at) const {
    RL_UNROLL for (size_t t = 0; t < kTaps; ++t) sum = multiply_add(load(in[t] + at), weights[t], sum);
    return sum;
  }
};
template <>
struct PlaneSum<0> {  // any number of taps
  const DepthwisePlane& plane;

  RL_INLINE explicit PlaneSum(const DepthwisePlane& of) : plane(of) {}
  RL_INLINE F32 operator()(F32 sum, ptrdiff_t at) const {
    for (size_t t = 0; t < plane.taps; ++t) {
      sum = multiply_add(load(plane.in[t] + at), splat(plane.weights[t]), sum);
    }
    return sum;
  }
};

// Rows of pixels: a vector has adjacent pixels, and taps are shifted loads of the same rows. kTaps = 0 is any
// number.
template <size_t kTaps>
void plane_of(const DepthwisePlane& plane) {
  const PlaneSum<kTaps> sum_of(plane);
  const F32 bias = splat(plane.bias);
  const Finish finish{splat(plane.low), splat(plane.high)};
  const bool accumulates = plane.accumulate;
  const size_t width = plane.width;
  for (size_t y = 0; y < plane.rows; ++y) {
    const ptrdiff_t row = static_cast<ptrdiff_t>(y) * plane.in_stride;
    float* out = plane.out + static_cast<ptrdiff_t>(y) * plane.out_stride;
    const float* residual = plane.residual == nullptr
                                ? nullptr
                                : plane.residual + static_cast<ptrdiff_t>(y) * plane.residual_stride;
    size_t x = 0;
    for (; x + kLanes <= width; x += kLanes) {
      F32 sum = sum_of(accumulates ? load(out + x) : bias, row + static_cast<ptrdiff_t>(x));
      if (residual != nullptr) sum += load(residual + x);
      store(out + x, finish(sum));
    }
    if (x == width) continue;
    const size_t count = width - x;
    F32 sum = sum_of(accumulates ? load_partial(out + x, count) : bias, row + static_cast<ptrdiff_t>(x));
    if (residual != nullptr) sum += load_partial(residual + x, count);
    store_partial(out + x, finish(sum), count);
  }
}

}  // namespace

void depthwise_pixels(const DepthwisePixels& strip) {
  size_t c = 0;
  while (c + kLanes <= strip.channels && pixels_of<true>(strip, c, kLanes)) c += kLanes;
  const size_t left = strip.channels - c;
  if (left == 0 || (left < kLanes && pixels_of<false>(strip, c, left))) return;
#ifdef RL_PIXEL_STRIPS
  pixels_plainly(strip, c, left);
#endif
}

void depthwise_plane(const DepthwisePlane& plane) {
  if (has_taps(9) && plane.taps == 9) return plane_of<9>(plane);
  if (kHeldTaps >= 25 && has_taps(25) && plane.taps == 25) return plane_of<25>(plane);
  plane_of<0>(plane);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
