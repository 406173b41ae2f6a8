// SPDX-License-Identifier: BSD-3-Clause
// Two rows by four columns, 16 elements of the depth at a time: weights are widened to int16; VPMADDWD, or
// VPDPWSSD with its addition, multiplies pairs. A remainder of the depth is read by vectors that end with it,
// whose elements that were added before are masked.
#include <immintrin.h>

#include "kernels/ukernel/int16_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kColumns = 4;
constexpr size_t kLanes = 16;
// Whole vectors: only the last part of a depth has a remainder.
constexpr size_t kPart = kInt16Products / kLanes * kLanes;

// Adds two adjacent products to each of eight sums. kPart products fit in 32 bits, so that no sum wraps.
inline __m256i add_pairs(__m256i sum, __m256i a, __m256i b) {
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
  return _mm256_dpwssd_epi32(sum, a, b);
#elif defined(__AVXVNNI__)
  return _mm256_dpwssd_avx_epi32(sum, a, b);
#else
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
#endif
}

inline __m256i load_left(const int16_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
inline __m256i load_right(const int8_t* from) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

// A mask of the last `count` lanes.
inline __m256i last_lanes(size_t count) {
  static constexpr int16_t kMasks[2 * kLanes] = {0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
                                                 0,  0,  0,  0,  0,  -1, -1, -1, -1, -1, -1,
                                                 -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  return load_left(kMasks + count);
}

// Halves, then pairs of lanes: three additions.
inline int32_t sum_of(__m256i lanes) {
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1)));
}

// Four sums by pairwise additions, or one.
template <size_t kWidth>
inline void store_sums(const __m256i* lanes, int32_t* sums) {
  if constexpr (kWidth == kColumns) {
    const __m256i all =
        _mm256_hadd_epi32(_mm256_hadd_epi32(lanes[0], lanes[1]), _mm256_hadd_epi32(lanes[2], lanes[3]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sums),
                     _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
  } else {
    sums[0] = sum_of(lanes[0]);
  }
}

template <size_t kRows, size_t kWidth>
void sum_tile(const int16_t* left, ptrdiff_t left_stride, const int8_t* right, ptrdiff_t right_stride,
              size_t depth, int32_t* sums) {
  __m256i lanes[kRows][kWidth];
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kWidth; ++j) lanes[i][j] = _mm256_setzero_si256();
  }
  const auto add = [&](const int16_t* from, ptrdiff_t stride, const int8_t* weights, ptrdiff_t weight_stride,
                       __m256i mask) {
    __m256i row[kRows];
    for (size_t i = 0; i < kRows; ++i) {
      row[i] = _mm256_and_si256(load_left(from + static_cast<ptrdiff_t>(i) * stride), mask);
    }
    for (size_t j = 0; j < kWidth; ++j) {
      const __m256i column = load_right(weights + static_cast<ptrdiff_t>(j) * weight_stride);
      for (size_t i = 0; i < kRows; ++i) lanes[i][j] = add_pairs(lanes[i][j], row[i], column);
    }
  };
  size_t k = 0;
  for (; k + kLanes <= depth; k += kLanes) {
    add(left + k, left_stride, right + k, right_stride, _mm256_set1_epi16(-1));
  }
  // The remainder: the last 16 elements, with those masked that the loop has added. Shorter depths are copied
  // with zeros, so that nothing outside of the arrays is read.
  if (k < depth && k > 0) {
    const size_t last = depth - kLanes;
    add(left + last, left_stride, right + last, right_stride, last_lanes(depth - k));
  } else if (k < depth) {
    int16_t rows[kRows][kLanes] = {};
    int8_t columns[kWidth][kLanes] = {};
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t at = 0; at < depth; ++at)
        rows[i][at] = left[static_cast<ptrdiff_t>(i) * left_stride + static_cast<ptrdiff_t>(at)];
    }
    for (size_t j = 0; j < kWidth; ++j) {
      for (size_t at = 0; at < depth; ++at)
        columns[j][at] = right[static_cast<ptrdiff_t>(j) * right_stride + static_cast<ptrdiff_t>(at)];
    }
    add(rows[0], kLanes, columns[0], kLanes, _mm256_set1_epi16(-1));
  }
  for (size_t i = 0; i < kRows; ++i) store_sums<kWidth>(lanes[i], sums + i * kWidth);
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/int16_tiles.inl"
