// SPDX-License-Identifier: BSD-3-Clause
// block_gemm with plain Neon: byte products have 16 bits, eight at a time, of two features. With 4 bits a
// block adds eight of them (at most 15 * 128 each) before it widens; with 8 bits 16 bits hold two products of
// high bytes, but only one of low bytes.
#include <type_traits>

#include "kernels/ukernel/arm/block_gemm_neon.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Products of the upper eight bytes, and of the lower eight.
#if defined(__aarch64__)
RL_INLINE int16x8_t multiply_high(int8x16_t a, int8x16_t b) { return vmull_high_s8(a, b); }
RL_INLINE int16x8_t add_high(int16x8_t sums, int8x16_t a, int8x16_t b) { return vmlal_high_s8(sums, a, b); }
#else
RL_INLINE int16x8_t multiply_high(int8x16_t a, int8x16_t b) {
  return vmull_s8(vget_high_s8(a), vget_high_s8(b));
}
RL_INLINE int16x8_t add_high(int16x8_t sums, int8x16_t a, int8x16_t b) {
  return vmlal_s8(sums, vget_high_s8(a), vget_high_s8(b));
}
#endif
RL_INLINE int16x8_t multiply_low(int8x16_t a, int8x16_t b) {
  return vmull_s8(vget_low_s8(a), vget_low_s8(b));
}
RL_INLINE int16x8_t add_low(int16x8_t sums, int8x16_t a, int8x16_t b) {
  return vmlal_s8(sums, vget_low_s8(a), vget_low_s8(b));
}

// Pairwise sums of a, then of b.
#if defined(__aarch64__)
RL_INLINE int16x8_t add_neighbours(int16x8_t a, int16x8_t b) { return vpaddq_s16(a, b); }
RL_INLINE int32x4_t add_neighbours(int32x4_t a, int32x4_t b) { return vpaddq_s32(a, b); }
#else
RL_INLINE int16x8_t add_neighbours(int16x8_t a, int16x8_t b) {
  return vcombine_s16(vpadd_s16(vget_low_s16(a), vget_high_s16(a)),
                      vpadd_s16(vget_low_s16(b), vget_high_s16(b)));
}
RL_INLINE int32x4_t add_neighbours(int32x4_t a, int32x4_t b) {
  return vcombine_s32(vpadd_s32(vget_low_s32(a), vget_high_s32(a)),
                      vpadd_s32(vget_low_s32(b), vget_high_s32(b)));
}
#endif

// Repeats four elements of a row four times.
RL_INLINE int8x16_t spread(const int8_t* from) {
  int32_t word;
  std::memcpy(&word, from, sizeof(word));
  return vreinterpretq_s8_s32(vdupq_n_s32(word));
}

// Sums of features 0 and 1, and of 2 and 3, in 16 or 32 bits.
template <class K>
struct FourSums {
  using Sums = std::conditional_t<K::kIsByte, int32x4_t, int16x8_t>;
  Sums low, high;

  RL_INLINE void clear() {
    if constexpr (K::kIsByte) {
      low = high = vdupq_n_s32(0);
    } else {
      low = high = vdupq_n_s16(0);
    }
  }

  // kTwoFit: two products of 8 bits fit in 16 bits.
  template <bool kTwoFit>
  RL_INLINE void add(const Numbers<K>& weights, int8x16_t first, int8x16_t second) {
    if constexpr (!K::kIsByte) {
      low = add_low(add_low(low, weights.first, first), weights.second, second);
      high = add_high(add_high(high, weights.first, first), weights.second, second);
    } else if constexpr (kTwoFit) {
      low = vpadalq_s16(low, add_low(multiply_low(weights.first, first), weights.second, second));
      high = vpadalq_s16(high, add_high(multiply_high(weights.first, first), weights.second, second));
    } else {
      low = vpadalq_s16(low, multiply_low(weights.first, first));
      low = vpadalq_s16(low, multiply_low(weights.second, second));
      high = vpadalq_s16(high, multiply_high(weights.first, first));
      high = vpadalq_s16(high, multiply_high(weights.second, second));
    }
  }

  [[nodiscard]] RL_INLINE int32x4_t whole() const {
    if constexpr (K::kIsByte)
      return add_neighbours(low, high);
    else
      return vpaddlq_s16(add_neighbours(low, high));
  }
};

template <class K, size_t kRowCount, size_t kVectors>
struct PairTile {
  static constexpr size_t kCount = kRowCount;
  static constexpr size_t kVecs = kVectors;
  FourSums<K> sums[kCount][kVecs][K::kParts];
  int32_t first[kCount];

  RL_INLINE void begin(const int32_t* from) {
    RL_UNROLL for (size_t r = 0; r < kCount; ++r) {
      first[r] = from[r];
      RL_UNROLL for (auto& parts : sums[r]) { RL_UNROLL for (auto& part : parts) part.clear(); }
    }
  }

  RL_INLINE void add(const int8_t* const* left, const uint8_t* from) {
    RL_UNROLL for (size_t v = 0; v < kVecs; ++v) {
      const Numbers<K> weights(from + v * sizeof(int8x16_t));
      RL_UNROLL for (size_t r = 0; r < kCount; ++r) {
        auto& parts = sums[r][v];
        parts[0].template add<true>(weights, spread(left[r]), spread(left[r] + 4));
        if constexpr (!K::kIsNarrow) {
          parts[1].template add<false>(weights, spread(left[r] + 8), spread(left[r] + 12));
        }
      }
    }
  }

  [[nodiscard]] RL_INLINE int32x4_t sum(size_t r, size_t v) const {
    const auto& parts = sums[r][v];
    const int32x4_t low = vaddq_s32(parts[K::kParts - 1].whole(), vdupq_n_s32(first[r]));
    return K::kIsNarrow ? low : vaddq_s32(vshlq_n_s32(parts[0].whole(), 8), low);
  }
};

#if defined(__aarch64__)
constexpr size_t kMostRows = 2, kManyVecs = 2, kRowVecs = 4;
#else
constexpr size_t kMostRows = 1, kManyVecs = 2, kRowVecs = 2;
#endif

}  // namespace

void multiply_blocks(const BlockGemm& p) {
  with_layout(p.form, [&](auto layout) {
    using K = decltype(layout);
    size_t i = 0;
    for (; i + kMostRows <= p.rows; i += kMostRows) {
      multiply_rows<K, PairTile<K, kMostRows, kManyVecs>>(p, i);
    }
    for (; i < p.rows; ++i) multiply_rows<K, PairTile<K, 1, kRowVecs>>(p, i);
  });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
