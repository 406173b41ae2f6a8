// SPDX-License-Identifier: BSD-3-Clause
// kernels/ukernel/depthwise.h over vectors of the compiler.
#include "kernels/ukernel/depthwise.h"
#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Taps whose weights stay in registers, beside sums and what is loaded.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr size_t kHeldTaps = 25;
#else
constexpr size_t kHeldTaps = 9;
#endif

RL_INLINE F32 load_some(const float* from, size_t count) {
  return count == kLanes ? load(from) : load_partial(from, count);
}
RL_INLINE void store_some(float* to, F32 value, size_t count) {
  if (count == kLanes) {
    store(to, value);
  } else {
    store_partial(to, value, count);
  }
}

struct Finish {
  F32 low;
  F32 high;

  RL_INLINE F32 operator()(F32 sum) const {
    sum = select(sum < low, low, sum);
    return select(sum > high, high, sum);
  }
};

// One vector of channels, all pixels. The weights of kRows x kTaps stay in registers.
template <size_t kRows, size_t kTaps>
void pixels_held(const DepthwisePixels& s, size_t c, size_t count) {
  F32 weights[kRows][kTaps];
  const float* in[kRows];
  for (size_t r = 0; r < kRows; ++r) {
    in[r] = s.in[r] + c;
    for (size_t t = 0; t < kTaps; ++t) {
      weights[r][t] = load_some(s.weights[r] + static_cast<ptrdiff_t>(t) * s.weight_stride + c, count);
    }
  }
  const F32 bias = s.bias == nullptr ? splat(0.0F) : load_some(s.bias + c, count);
  const Finish finish{splat(s.low), splat(s.high)};
  float* out = s.out + c;
  const float* residual = s.residual == nullptr ? nullptr : s.residual + c;
  for (size_t p = 0; p < s.pixels; ++p) {
    F32 sum = s.accumulate ? load_some(out, count) : bias;
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t t = 0; t < kTaps; ++t) {
        sum += load_some(in[r] + static_cast<ptrdiff_t>(t) * s.tap_stride, count) * weights[r][t];
      }
      in[r] += s.in_stride;
    }
    if (residual != nullptr) {
      sum += load_some(residual, count);
      residual += s.residual_stride;
    }
    store_some(out, finish(sum), count);
    out += s.out_stride;
  }
}

// One vector of channels, kPixels pixels from p on.
template <size_t kPixels>
void pixels_any(const DepthwisePixels& s, size_t p, size_t c, size_t count) {
  const auto first = static_cast<ptrdiff_t>(p);
  float* out = s.out + first * s.out_stride + c;
  F32 sums[kPixels];
  for (size_t i = 0; i < kPixels; ++i) {
    const F32 zero = splat(0.0F);
    sums[i] = s.accumulate        ? load_some(out + static_cast<ptrdiff_t>(i) * s.out_stride, count)
              : s.bias == nullptr ? zero
                                  : load_some(s.bias + c, count);
  }
  for (size_t r = 0; r < s.rows; ++r) {
    const float* in = s.in[r] + first * s.in_stride + c;
    const float* weights = s.weights[r] + c;
    for (size_t t = 0; t < s.taps; ++t) {
      const F32 weight = load_some(weights, count);
      for (size_t i = 0; i < kPixels; ++i) {
        sums[i] += load_some(in + static_cast<ptrdiff_t>(i) * s.in_stride, count) * weight;
      }
      in += s.tap_stride;
      weights += s.weight_stride;
    }
  }
  const Finish finish{splat(s.low), splat(s.high)};
  for (size_t i = 0; i < kPixels; ++i) {
    const auto at = static_cast<ptrdiff_t>(i);
    if (s.residual != nullptr) {
      sums[i] += load_some(s.residual + (first + at) * s.residual_stride + c, count);
    }
    store_some(out + at * s.out_stride, finish(sums[i]), count);
  }
}

void pixels_of(const DepthwisePixels& s, size_t c, size_t count) {
  if (s.rows == 3 && s.taps == 3 && s.pixels > 1) return pixels_held<3, 3>(s, c, count);
  if (kHeldTaps >= 25 && s.rows == 5 && s.taps == 5 && s.pixels > 1) return pixels_held<5, 5>(s, c, count);
  constexpr size_t kAtOnce = 4;
  size_t p = 0;
  for (; p + kAtOnce <= s.pixels; p += kAtOnce) pixels_any<kAtOnce>(s, p, c, count);
  for (; p < s.pixels; ++p) pixels_any<1>(s, p, c, count);
}

// kTaps 0: as many as there are.
template <size_t kTaps>
RL_INLINE F32 plane_sum(const DepthwisePlane& plane, F32 sum, const float* const* in, ptrdiff_t at,
                        const F32* weights) {
  if constexpr (kTaps != 0) {
    for (size_t t = 0; t < kTaps; ++t) sum += load(in[t] + at) * weights[t];
  } else {
    for (size_t t = 0; t < plane.taps; ++t) sum += load(plane.in[t] + at) * splat(plane.weights[t]);
  }
  return sum;
}

template <size_t kTaps>
void plane_of(const DepthwisePlane& plane) {
  F32 weights[kTaps == 0 ? 1 : kTaps];
  const float* in[kTaps == 0 ? 1 : kTaps];
  for (size_t t = 0; t < kTaps; ++t) {
    weights[t] = splat(plane.weights[t]);
    in[t] = plane.in[t];
  }
  const F32 bias = splat(plane.bias);
  const Finish finish{splat(plane.low), splat(plane.high)};
  for (size_t y = 0; y < plane.rows; ++y) {
    const ptrdiff_t row = static_cast<ptrdiff_t>(y) * plane.in_stride;
    float* out = plane.out + static_cast<ptrdiff_t>(y) * plane.out_stride;
    const float* residual = plane.residual == nullptr
                                ? nullptr
                                : plane.residual + static_cast<ptrdiff_t>(y) * plane.residual_stride;
    for (size_t x = 0; x < plane.width; x += kLanes) {
      const size_t count = plane.width - x < kLanes ? plane.width - x : kLanes;
      F32 sum = plane.accumulate ? load_some(out + x, count) : bias;
      sum = plane_sum<kTaps>(plane, sum, in, row + static_cast<ptrdiff_t>(x), weights);
      if (residual != nullptr) sum += load_some(residual + x, count);
      store_some(out + x, finish(sum), count);
    }
  }
}

}  // namespace

void depthwise_pixels(const DepthwisePixels& strip) {
  size_t c = 0;
  for (; c + kLanes <= strip.channels; c += kLanes) pixels_of(strip, c, kLanes);
  if (c < strip.channels) pixels_of(strip, c, strip.channels - c);
}

void depthwise_plane(const DepthwisePlane& plane) {
  if (plane.taps == 9) return plane_of<9>(plane);
  if (kHeldTaps >= 25 && plane.taps == 25) return plane_of<25>(plane);
  plane_of<0>(plane);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
