// SPDX-License-Identifier: BSD-3-Clause
// A tile of SDOT products: a lane of the sums is a feature, and all lanes share a word of the row.
#include "kernels/ukernel/arm/block_gemm_neon.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

template <class K, size_t kRowCount, size_t kVectors>
struct DotTile {
  static constexpr size_t kCount = kRowCount;
  static constexpr size_t kVecs = kVectors;
  int32x4_t sums[kCount][kVecs][K::kParts];

  RL_INLINE void begin(const int32_t* first) {
    RL_UNROLL for (size_t r = 0; r < kCount; ++r) {
      RL_UNROLL for (auto& parts : sums[r]) {
        if constexpr (!K::kIsNarrow) parts[0] = vdupq_n_s32(0);
        parts[K::kParts - 1] = vdupq_n_s32(first[r]);
      }
    }
  }

  RL_INLINE void add(const int8_t* const* left, const uint8_t* from) {
    int8x16_t numbers[kCount];
    RL_UNROLL for (size_t r = 0; r < kCount; ++r) {
      numbers[r] = K::kIsNarrow ? vcombine_s8(vld1_s8(left[r]), vdup_n_s8(0)) : vld1q_s8(left[r]);
    }
    RL_UNROLL for (size_t v = 0; v < kVecs; ++v) {
      const Numbers<K> weights(from + v * sizeof(int8x16_t));
      RL_UNROLL for (size_t r = 0; r < kCount; ++r) {
        auto& parts = sums[r][v];
        parts[0] = vdotq_laneq_s32(parts[0], weights.first, numbers[r], 0);
        if constexpr (!K::kIsNarrow) parts[1] = vdotq_laneq_s32(parts[1], weights.first, numbers[r], 2);
        parts[0] = vdotq_laneq_s32(parts[0], weights.second, numbers[r], 1);
        if constexpr (!K::kIsNarrow) parts[1] = vdotq_laneq_s32(parts[1], weights.second, numbers[r], 3);
      }
    }
  }

  [[nodiscard]] RL_INLINE int32x4_t sum(size_t r, size_t v) const {
    const auto& parts = sums[r][v];
    return K::kIsNarrow ? parts[0] : vaddq_s32(vshlq_n_s32(parts[0], 8), parts[K::kParts - 1]);
  }
};

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
