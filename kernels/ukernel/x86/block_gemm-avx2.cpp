// SPDX-License-Identifier: BSD-3-Clause
// block_gemm on x86: a vector holds one word of each of its features, so that each lane sums one feature.
//
// 16-bit elements of a row are multiplied as two bytes, q = 256 * high + low, where byte products are
// fastest:
//
//   VNNI                vpdpbusd: unsigned weights times signed bytes of q
//   4 bits without it   vpmaddubsw: eight products of at most 15 * 128, in pairs, fit in 16 bits for a block
//   8 bits without it   vpmaddwd on 16 bits, since vpmaddubsw would saturate
//
// The first two store each four elements of a row as words: high bytes (not if the form is narrow), then low
// bytes. The third stores pairs of int16: of each four, elements 0 and 2, then 1 and 3.
#include "kernels/ukernel/generic/block_rows.inl"
#include "kernels/ukernel/x86/int8_vector.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kVecLanes = kLanesOf<Widest>;
constexpr size_t kPanelVectors = kBlockFeatures / kVecLanes;
constexpr size_t kWordBytes = kBlockFeatures * sizeof(uint32_t);
constexpr size_t kMostRows = sizeof(Widest) == 64 ? 8 : 4;

template <bool kByte, bool kNarrowRows>
struct Layout {
  static constexpr bool kIsByte = kByte;
  static constexpr bool kIsNarrow = kNarrowRows;
  static constexpr bool kHasPairs = kByte && !RL_VNNI;  // rows are pairs of int16
  static constexpr bool kIsSplit = !kHasPairs && !kNarrowRows;
  static constexpr size_t kParts = kIsSplit ? 2 : 1;                   // partial sums of a result
  static constexpr size_t kFourBytes = kHasPairs || kIsSplit ? 8 : 4;  // bytes of four elements of a row
  static constexpr size_t kRun = kByte ? 4 : 8;
};

// Broadcasts four bytes of a row.
RL_INLINE Widest spread(const char* from) {
  int32_t word;
  std::memcpy(&word, from, sizeof(word));
  return all_32<Widest>(word);
}

RL_INLINE F32 as_floats(Widest sums) {
  I32 lanes;
  std::memcpy(&lanes, &sums, sizeof(lanes));
  return to_float(lanes);
}

// The first four elements of 4-bit words, and the other four, as bytes.
RL_INLINE Widest low_halves(Widest bytes) { return bytes & all_8<Widest>(15); }
RL_INLINE Widest high_halves(Widest bytes) { return shift_right_unsigned_32<4>(bytes) & all_8<Widest>(15); }

#if defined(__AVX512F__)
RL_INLINE Widest multiply_bytes(Widest left, Widest right) { return _mm512_maddubs_epi16(left, right); }
RL_INLINE Widest add_16(Widest a, Widest b) { return _mm512_add_epi16(a, b); }
RL_INLINE Widest odd_bytes(Widest a) { return _mm512_srli_epi16(a, 8); }
RL_INLINE Widest times_256(Widest a) { return _mm512_slli_epi32(a, 8); }
#else
RL_INLINE Widest multiply_bytes(Widest left, Widest right) { return _mm256_maddubs_epi16(left, right); }
RL_INLINE Widest add_16(Widest a, Widest b) { return _mm256_add_epi16(a, b); }
RL_INLINE Widest odd_bytes(Widest a) { return _mm256_srli_epi16(a, 8); }
RL_INLINE Widest times_256(Widest a) { return _mm256_slli_epi32(a, 8); }
#endif

// Adds products of unsigned weights with four bytes of a row. Without VNNI the sums have 16 bits.
RL_INLINE Widest add_bytes(Widest sums, Widest weights, const char* left) {
#if RL_VNNI
  return dot(sums, weights, spread(left));
#else
  return add_16(sums, multiply_bytes(weights, spread(left)));
#endif
}

// The sum of a block in 32 bits.
template <class K>
RL_INLINE Widest whole_sum(const Widest (&parts)[K::kParts]) {
  if constexpr (K::kHasPairs || (RL_VNNI && !K::kIsSplit)) {
    return parts[0];
  } else if constexpr (RL_VNNI) {
    return add_32(times_256(parts[0]), parts[1]);
  } else if constexpr (K::kIsSplit) {
    return add_32(multiply_pairs_16(parts[0], all_16<Widest>(256)),
                  multiply_pairs_16(parts[1], all_16<Widest>(1)));
  } else {
    return multiply_pairs_16(parts[0], all_16<Widest>(1));
  }
}

// Adds the products of a word of kVecs vectors of features with the elements of the rows `left`.
template <class K, size_t kCount, size_t kVecs>
RL_INLINE void add_word(Widest (&sums)[kCount][kVecs][K::kParts], const char* const* left, size_t at,
                        const char* from) {
  RL_UNROLL
  for (size_t v = 0; v < kVecs; ++v) {
    const Widest bytes = load<Widest>(from + v * sizeof(Widest));
    const Widest first = K::kHasPairs ? bytes & all_16<Widest>(255) : K::kIsByte ? bytes : low_halves(bytes);
    const Widest second = K::kHasPairs ? odd_bytes(bytes) : high_halves(bytes);
    RL_UNROLL
    for (size_t r = 0; r < kCount; ++r) {
      const char* numbers = left[r] + at;
      if constexpr (K::kHasPairs) {
        sums[r][v][0] = dot(dot(sums[r][v][0], first, spread(numbers)), second, spread(numbers + 4));
      } else {
        RL_UNROLL
        for (size_t part = 0; part < K::kParts; ++part) {
          sums[r][v][part] = add_bytes(sums[r][v][part], first, numbers + 4 * part);
          if constexpr (!K::kIsByte) {
            sums[r][v][part] = add_bytes(sums[r][v][part], second, numbers + K::kFourBytes + 4 * part);
          }
        }
      }
    }
  }
}

// Loads scales or minimums of kVecs vectors of features from feature `first` on.
template <size_t kVecs>
RL_INLINE void load_scales(const BlockForm& form, const char* from, size_t first, F32 (&to)[kVecs]) {
  RL_UNROLL
  for (size_t v = 0; v < kVecs; ++v) {
    const size_t j = first + v * kVecLanes;
    to[v] = form.is_single ? RL_UKERNEL_VARIANT::load(reinterpret_cast<const float*>(from) + j)
                           : load_halves(from + j * sizeof(uint16_t));
  }
}

// Multiplies kCount rows with kVecs vectors of features, from `feature` of the panel on.
template <class K, size_t kCount, size_t kVecs>
RL_INLINE void multiply_tile(const BlockGemm& p, size_t first, size_t feature, float (*out)[kBlockFeatures]) {
  const BlockForm& form = p.form;
  const char* rows[kCount];
  const char* left[kCount];
  RL_UNROLL
  for (size_t r = 0; r < kCount; ++r) {
    rows[r] = static_cast<const char*>(p.left) + (first + r) * p.left_stride;
    left[r] = rows[r] + header_bytes(form);
  }
  const auto* from = static_cast<const char*>(p.panel);
  const size_t steps = form.block_depth() / K::kRun, blocks = form.group / form.block_depth();
  F32 totals[kCount][kVecs] = {};
  for (size_t g = 0, block = 0; g < form.groups(); ++g) {
    F32 scales[kVecs], minimums[kVecs] = {};
    load_scales<kVecs>(form, from, feature, scales);
    if (form.has_minimum) load_scales<kVecs>(form, from + form.scale_bytes(), feature, minimums);
    from += form.header_bytes();
    for (const size_t end = block + blocks; block < end; ++block) {
      Widest sums[kCount][kVecs][K::kParts];
      RL_UNROLL
      for (auto& row : sums) {
        RL_UNROLL
        for (auto& vector : row) {
          RL_UNROLL
          for (auto& part : vector) part = all_32<Widest>(0);
        }
      }
      for (size_t i = 0; i < steps; ++i, from += kWordBytes) {
        add_word<K, kCount, kVecs>(sums, left, i * K::kRun / 4 * K::kFourBytes,
                                   from + feature * sizeof(uint32_t));
      }
      RL_UNROLL
      for (size_t r = 0; r < kCount; ++r) {
        left[r] += steps * K::kRun / 4 * K::kFourBytes;
        const BlockHeader head = header(rows[r], block);
        // zero * (sum of q) corrects for weights stored plus their zero.
        const Widest correction = all_32<Widest>(form.has_minimum ? 0 : head.correction);
        RL_UNROLL
        for (size_t v = 0; v < kVecs; ++v) {
          const F32 sum = as_floats(subtract_32(whole_sum<K>(sums[r][v]), correction));
          totals[r][v] = totals[r][v] + rounded(sum * rounded(scales[v] * splat(head.scale)));
          if (form.has_minimum) totals[r][v] = totals[r][v] + rounded(minimums[v] * splat(head.sum));
        }
      }
    }
  }
  RL_UNROLL
  for (size_t r = 0; r < kCount; ++r) {
    RL_UNROLL
    for (size_t v = 0; v < kVecs; ++v)
      RL_UKERNEL_VARIANT::store(out[r] + feature + v * kVecLanes, totals[r][v]);
  }
}

// One row streams whole words. Several rows take one vector of features at a time, so that all sums stay in
// registers; the panel is in the cache from the first vector on.
template <class K, size_t kCount>
void multiply_rows(const BlockGemm& p, size_t first) {
  constexpr size_t kVecs = kCount == 1 ? kPanelVectors : 1;
  float out[kCount][kBlockFeatures];
  for (size_t feature = 0; feature < kBlockFeatures; feature += kVecs * kVecLanes) {
    multiply_tile<K, kCount, kVecs>(p, first, feature, out);
  }
  for (size_t r = 0; r < kCount; ++r) finish_row(p, first + r, out[r]);
}

// Tiles of kMostRows, 2 and 1 rows.
template <class K>
void multiply(const BlockGemm& p) {
  size_t i = 0;
  for (; i + kMostRows <= p.rows; i += kMostRows) multiply_rows<K, kMostRows>(p, i);
  for (; i + 2 <= p.rows; i += 2) multiply_rows<K, 2>(p, i);
  for (; i < p.rows; ++i) multiply_rows<K, 1>(p, i);
}

// Calls a function with the layout of a form.
template <class Function>
RL_INLINE auto with_layout(const BlockForm& form, const Function& function) {
  if (form.is_byte) return form.is_narrow ? function(Layout<true, true>()) : function(Layout<true, false>());
  return form.is_narrow ? function(Layout<false, true>()) : function(Layout<false, false>());
}

// Stores four elements of a row.
template <class K>
RL_INLINE void store_four(const int32_t* q, char* to) {
  if constexpr (K::kHasPairs) {
    const int16_t pairs[] = {static_cast<int16_t>(q[0]), static_cast<int16_t>(q[2]),
                             static_cast<int16_t>(q[1]), static_cast<int16_t>(q[3])};
    std::memcpy(to, pairs, sizeof(pairs));
  } else {
    int8_t high[4], low[4];
    for (size_t i = 0; i < 4; ++i) {
      // q = 256 * high + low with a signed low byte: |q| <= 32512 keeps `high` within int8.
      high[i] = static_cast<int8_t>((q[i] + 128) >> 8);
      low[i] = static_cast<int8_t>(q[i]);
    }
    if constexpr (K::kIsSplit) std::memcpy(to, high, sizeof(high));
    std::memcpy(to + 4 * (K::kParts - 1), low, sizeof(low));
  }
}

}  // namespace

size_t block_row_bytes(const BlockForm& form) {
  return with_layout(form, [&](auto layout) {
    return header_bytes(form) + whole(form.blocks() * form.block_depth() / 4 * layout.kFourBytes);
  });
}

void quantize_block_row(const BlockForm& form, const float* from, void* to) {
  with_layout(form, [&](auto layout) {
    using K = decltype(layout);
    const size_t depth = form.block_depth();
    char* const numbers = static_cast<char*>(to) + header_bytes(form);
    quantize_blocks(form, from, to, [&](size_t block, const int32_t* q) {
      char* at = numbers + block * depth / 4 * K::kFourBytes;
      for (size_t k = 0; k < depth; k += 4, at += K::kFourBytes) store_four<K>(q + k, at);
    });
  });
}

void multiply_blocks(const BlockGemm& p) {
  with_layout(p.form, [&](auto layout) { multiply<decltype(layout)>(p); });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
