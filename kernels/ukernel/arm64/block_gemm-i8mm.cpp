// SPDX-License-Identifier: BSD-3-Clause
// block_gemm with SMMLA, which multiplies two sequences of eight elements with two features: the high and low
// bytes of a row, or two rows of a narrow form. One row uses SDOT, which needs no zipped words.
#include "kernels/ukernel/arm64/block_gemm_dot.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Lower halves, or upper halves, of a and b.
RL_INLINE int32x4_t low_pairs(int32x4_t a, int32x4_t b) {
  return vreinterpretq_s32_s64(vzip1q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}
RL_INLINE int32x4_t high_pairs(int32x4_t a, int32x4_t b) {
  return vreinterpretq_s32_s64(vzip2q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}

// Rows by kVecs vectors of four features. A square holds the sums of two sequences, above, below, by two
// features.
template <class K, size_t kRowCount, size_t kVectors>
struct SquareTile {
  static constexpr size_t kCount = kRowCount;
  static constexpr size_t kVecs = kVectors;
  static constexpr size_t kLefts = K::kIsNarrow ? kCount / 2 : kCount;
  int32x4_t squares[kLefts][2 * kVecs];

  // The correction of a row belongs to its low bytes, which are not multiplied by 256.
  RL_INLINE void begin(const int32_t* first) {
    RL_UNROLL for (size_t i = 0; i < kLefts; ++i) {
      const int32x2_t above = vdup_n_s32(K::kIsNarrow ? first[2 * i] : 0);
      const int32x4_t both = vcombine_s32(above, vdup_n_s32(first[K::kIsNarrow ? 2 * i + 1 : i]));
      RL_UNROLL for (int32x4_t& square : squares[i]) square = both;
    }
  }

  RL_INLINE void add(const int8_t* const* left, const uint8_t* from) {
    int8x16_t lefts[kLefts];
    RL_UNROLL for (size_t i = 0; i < kLefts; ++i) {
      lefts[i] =
          K::kIsNarrow ? vcombine_s8(vld1_s8(left[2 * i]), vld1_s8(left[2 * i + 1])) : vld1q_s8(left[i]);
    }
    RL_UNROLL for (size_t v = 0; v < kVecs; ++v) {
      const Numbers<K> weights(from + v * sizeof(int8x16_t));
      const int32x4_t first = vreinterpretq_s32_s8(weights.first);
      const int32x4_t second = vreinterpretq_s32_s8(weights.second);
      // Words have 4 elements of each of 4 features: zipping gives 8 elements of two features, which SMMLA
      // takes.
      const int8x16_t low = vreinterpretq_s8_s32(vzip1q_s32(first, second));
      const int8x16_t high = vreinterpretq_s8_s32(vzip2q_s32(first, second));
      RL_UNROLL for (size_t i = 0; i < kLefts; ++i) {
        squares[i][2 * v] = vmmlaq_s32(squares[i][2 * v], lefts[i], low);
        squares[i][2 * v + 1] = vmmlaq_s32(squares[i][2 * v + 1], lefts[i], high);
      }
    }
  }

  [[nodiscard]] RL_INLINE int32x4_t sum(size_t r, size_t v) const {
    const auto& of = squares[K::kIsNarrow ? r / 2 : r];
    const int32x4_t above = low_pairs(of[2 * v], of[2 * v + 1]), below = high_pairs(of[2 * v], of[2 * v + 1]);
    // Two rows of a narrow form, or 256 times the sums of high bytes plus the sums of low bytes.
    if constexpr (K::kIsNarrow) return r % 2 == 0 ? above : below;
    return vaddq_s32(vshlq_n_s32(above, 8), below);
  }
};

}  // namespace

void multiply_blocks(const BlockGemm& p) {
  with_layout(p.form, [&](auto layout) {
    using K = decltype(layout);
    constexpr size_t kMostRows = K::kIsNarrow ? 8 : 4;
    size_t i = 0;
    for (; i + kMostRows <= p.rows; i += kMostRows) multiply_rows<K, SquareTile<K, kMostRows, 2>>(p, i);
    for (; i + 2 <= p.rows; i += 2) multiply_rows<K, SquareTile<K, 2, 2>>(p, i);
    for (; i < p.rows; ++i) multiply_rows<K, DotTile<K, 1, 4>>(p, i);
  });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
