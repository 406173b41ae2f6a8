// SPDX-License-Identifier: BSD-3-Clause
// Products of int8 on x86: two vectors of columns by as many rows as registers hold sums of. An element of a
// spread row is int8 + 128 with VNNI, otherwise int16. A panel is
//
//   VNNI:       int32[columns], -128 times the sum of a column; int8[depth / 4][columns][4]
//   otherwise:  [depth / 2][columns][2]: int16, which AVX2 multiplies faster by a tenth, or int8, which is as
//               fast with AVX-512
//
// The sums of a tile are stored to memory and requantized two or four rows at a time, by short code whose
// constants stay in registers.
#include "kernels/ukernel/int8_gemm.h"
#include "kernels/ukernel/x86/int8_vector.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kVecLanes = kLanesOf<Widest>;
constexpr size_t kColumns = 2 * kVecLanes;
constexpr size_t kRows = sizeof(Widest) == 64 ? 8 : 6;
using Factor = std::conditional_t<RL_VNNI, int8_t, int16_t>;  // element of a spread row
constexpr size_t kHeaderBytes = RL_VNNI ? kColumns * sizeof(int32_t) : 0;
using PanelFactor = std::conditional_t<RL_VNNI || sizeof(Widest) == 64, int8_t, int16_t>;
constexpr size_t kGroupBytes = kColumns * kDotDepth * sizeof(PanelFactor);

// Groups of kDotDepth elements, which one instruction multiplies and adds: 4 with VNNI, else 2.
constexpr size_t groups_of(size_t depth) { return (depth + kDotDepth - 1) / kDotDepth; }

// Loads with masks: arrays of the columns end at p.columns, and nothing past them is read.
RL_INLINE Widest load_lanes(const int32_t* from, size_t count) {
  if (count >= kVecLanes) return load<Widest>(from);
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << count) - 1), from);
#else
  const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_maskload_epi32(from, _mm256_cmpgt_epi32(all_32<__m256i>(static_cast<int>(count)), index));
#endif
}

RL_INLINE Widest load_shifts(const int8_t* from, size_t count) {
#if defined(__AVX512F__)
  return _mm512_cvtepi8_epi32(load_bytes(from, count < 16 ? count : 16));
#else
  return _mm256_cvtepi8_epi32(load_bytes(from, count < 8 ? count : 8));
#endif
}

// Reorders 128-bit lanes (a, b, c, d): all of a, then all of b, ...
RL_INLINE Widest in_order(Widest narrowed) {
#if defined(__AVX512F__)
  const __m512i from = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(from, narrowed);
#else
  return _mm256_permutevar8x32_epi32(narrowed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
#endif
}

// Loads a vector of a panel's factors.
[[maybe_unused]] RL_INLINE Widest load_factors(const int16_t* from) { return load<Widest>(from); }
[[maybe_unused]] RL_INLINE Widest load_factors(const int8_t* from) {
  return RL_VNNI ? load<Widest>(from) : load_widened<Widest>(from);
}

template <size_t kVectors>
struct Tile {
  Widest initial[kVectors];
  Scale<Widest> scales[kVectors];
  // Rounded up to whole groups of four vectors.
  Widest sums[(kRows * kVectors + 3) / 4 * 4];
};

// Adds the products of kCount rows. With one or two rows the few sums would wait for each other: adjacent
// groups have separate sums.
template <size_t kVectors, size_t kCount>
RL_INLINE void add_products(Tile<kVectors>& tile, const Int8Gemm& p, size_t first) {
  constexpr size_t kParts = kCount <= 2 ? 4 / kCount : 1;
  const char* rows[kCount];
  RL_UNROLL
  for (size_t i = 0; i < kCount; ++i) {
    const ptrdiff_t apart = static_cast<ptrdiff_t>(first + i) * p.left_stride;
    rows[i] =
        static_cast<const char*>(p.left) + (p.row_offsets == nullptr ? apart : p.row_offsets[first + i]);
  }
  const auto* panel = reinterpret_cast<const PanelFactor*>(static_cast<const char*>(p.panel) + kHeaderBytes);
  Widest sums[kParts][kCount][kVectors];
  RL_UNROLL
  for (size_t i = 0; i < kCount; ++i) {
    const Widest row = all_32<Widest>(p.row_bias == nullptr ? 0 : p.row_bias[first + i]);
    RL_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      sums[0][i][v] = add_32(tile.initial[v], row);
      RL_UNROLL
      for (size_t part = 1; part < kParts; ++part) sums[part][i][v] = all_32<Widest>(0);
    }
  }
  // Adds one group of the depth: the panel's vectors times 4 bytes of each row, broadcast.
  const auto add_group = [&](Widest(&to)[kCount][kVectors], ptrdiff_t at) __attribute__((always_inline)) {
    Widest right[kVectors];
    RL_UNROLL
    for (size_t v = 0; v < kVectors; ++v) right[v] = load_factors(panel + v * kVecLanes * kDotDepth);
    panel += 2 * kVecLanes * kDotDepth;
    RL_UNROLL
    for (size_t i = 0; i < kCount; ++i) {
      int32_t factors;
      std::memcpy(&factors, rows[i] + at, sizeof(factors));
      const Widest spread = all_32<Widest>(factors);
      RL_UNROLL
      for (size_t v = 0; v < kVectors; ++v) to[i][v] = dot(to[i][v], spread, right[v]);
    }
  };
  constexpr ptrdiff_t kGroup = sizeof(int32_t);  // bytes of a row
  const size_t groups = groups_of(p.depth / p.parts);
  for (size_t part = 0; part < p.parts; ++part) {
    ptrdiff_t at = static_cast<ptrdiff_t>(part) * p.part_stride;
    const ptrdiff_t end = at + static_cast<ptrdiff_t>(groups) * kGroup;
    for (; at + static_cast<ptrdiff_t>(kParts) * kGroup <= end;) {
      RL_UNROLL
      for (size_t own = 0; own < kParts; ++own, at += kGroup) add_group(sums[own], at);
    }
    // The groups that remain, fewer than kParts.
    for (; kParts > 1 && at < end; at += kGroup) add_group(sums[0], at);
  }
  RL_UNROLL
  for (size_t i = 0; i < kCount; ++i) {
    RL_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      // Joins the separate sums and leaves them in memory for requantize_tile().
      Widest sum = sums[0][i][v];
      RL_UNROLL
      for (size_t part = 1; part < kParts; ++part) sum = add_32(sum, sums[part][i][v]);
      tile.sums[i * kVectors + v] = sum;
    }
  }
}

// Stores `columns` elements of a row of int8.
template <size_t kVectors>
RL_INLINE void store_row(int8_t* to, Widest quad, size_t row, size_t columns) {
#if defined(__AVX512F__)
  if constexpr (kVectors == 2) {
    const __m256i numbers = row == 0 ? _mm512_castsi512_si256(quad) : _mm512_extracti64x4_epi64(quad, 1);
    _mm256_mask_storeu_epi8(to, static_cast<__mmask32>((uint64_t{1} << columns) - 1), numbers);
  } else {
    const __m256i two = row < 2 ? _mm512_castsi512_si256(quad) : _mm512_extracti64x4_epi64(quad, 1);
    store_bytes(to, row % 2 == 0 ? _mm256_castsi256_si128(two) : _mm256_extracti128_si256(two, 1), columns);
  }
#else
  constexpr size_t kRowsOf128 = 2 / kVectors;
  __m128i numbers = row < kRowsOf128 ? _mm256_castsi256_si128(quad) : _mm256_extracti128_si256(quad, 1);
  if (kVectors == 1 && row % 2 == 1) numbers = _mm_unpackhi_epi64(numbers, numbers);
  store_bytes(to, numbers, columns);
#endif
}

// Requantizes the sums of `count` rows, four vectors at a time, which narrow to one vector of int8. `Kind`
// fixes rounding and left shifts at compile time, so that the loop has no branches.
template <size_t kVectors, class Kind>
[[gnu::noinline]] void requantize_tile(const Tile<kVectors>& tile, const Int8Gemm& p, size_t first,
                                       size_t count) {
  constexpr size_t kQuadRows = 4 / kVectors;
  const Limits<Widest> limits(p.to);
  // A tile of one vector has the same scales in both entries.
  const Scale<Widest> scales[2] = {tile.scales[0], tile.scales[kVectors - 1]};
  const Widest* sums = tile.sums;
  int8_t* out = p.out + static_cast<ptrdiff_t>(first) * p.out_stride;
  for (size_t row = 0; row < count; row += kQuadRows, sums += 4) {
    const auto number = [&](size_t v) __attribute__((always_inline)) {
      return scaled<Kind::kHow, Kind::kShiftsLeft>(sums[v], scales[v % 2]);
    };
    const Widest quad = in_order(limits.narrow(number(0), number(1), number(2), number(3)));
    RL_UNROLL
    for (size_t i = 0; i < kQuadRows; ++i, out += p.out_stride) {
      if (row + i < count) store_row<kVectors>(out, quad, i, p.columns);
    }
  }
}

// Prepares biases and scales of one or two vectors of columns, once for all rows; then tiles of kRows, 4, 2
// and 1 rows.
template <size_t kVectors>
void multiply(const Int8Gemm& p) {
  Tile<kVectors> tile;
  bool raises = false;
  RL_UNROLL
  for (size_t v = 0; v < kVectors; ++v) {
    const size_t column = v * kVecLanes;
    const size_t count = p.columns - column;
    tile.initial[v] = p.bias == nullptr ? all_32<Widest>(0) : load_lanes(p.bias + column, count);
    if (RL_VNNI) {
      // VNNI multiplies unsigned rows, which are 128 too large: the header corrects for it.
      const auto* header = static_cast<const int32_t*>(p.panel);
      tile.initial[v] = add_32(tile.initial[v], load<Widest>(header + column));
    }
    const auto* multipliers = reinterpret_cast<const int32_t*>(p.to.scales);
    if (p.to.rounding != Rounding::kFloat) multipliers = p.to.multipliers;
    Widest shifts = all_32<Widest>(0);
    Widest factors;
    if (p.to.step == 0) {
      std::memcpy(&factors, multipliers, sizeof(int32_t));
      factors = all_32<Widest>(_mm_cvtsi128_si32(_mm_loadu_si32(multipliers)));
      if (p.to.rounding != Rounding::kFloat) shifts = all_32<Widest>(*p.to.shifts);
    } else {
      factors = load_lanes(multipliers + column, count);
      if (p.to.rounding != Rounding::kFloat) shifts = load_shifts(p.to.shifts + column, count);
    }
    raises |= prepare(tile.scales[v], p.to.rounding, factors, shifts);
  }
  // Rows that a last tile lacks are requantized too, but not stored.
  for (Widest& each : tile.sums) each = all_32<Widest>(0);
  const auto requantize = for_rounding(p.to.rounding, raises,
                                       [](auto kind) { return &requantize_tile<kVectors, decltype(kind)>; });
  for (size_t i = 0; i < p.rows;) {
    const size_t left = p.rows - i;
    size_t count = 1;
    if (left >= kRows) {
      count = kRows;
      add_products<kVectors, kRows>(tile, p, i);
    } else if (left >= 4) {
      count = 4;
      add_products<kVectors, 4>(tile, p, i);
    } else if (left >= 2) {
      count = 2;
      add_products<kVectors, 2>(tile, p, i);
    } else {
      add_products<kVectors, 1>(tile, p, i);
    }
    requantize(tile, p, i, count);
    i += count;
  }
}

}  // namespace

size_t int8_gemm_depth(size_t depth) { return groups_of(depth) * kDotDepth; }
size_t int8_gemm_columns() { return kColumns; }
size_t int8_gemm_rows() { return kRows; }
size_t int8_spread_bytes() { return sizeof(Factor); }
size_t int8_panel_bytes(size_t depth) {
  return kHeaderBytes + (groups_of(depth) * kGroupBytes + 63) / 64 * 64;
}

// Whole vectors, then a masked or partial one: nothing past `count` elements is read or written.
void spread_int8(void* to, const int8_t* from, size_t count) {
  auto* bytes = static_cast<int8_t*>(to);
  constexpr size_t kStep = sizeof(Widest) / sizeof(Factor);
  for (; count >= kStep; count -= kStep, from += kStep, bytes += sizeof(Widest)) {
    store(bytes, RL_VNNI ? load<Widest>(from) ^ all_8<Widest>(-128) : load_widened<Widest>(from));
  }
  if (count == 0) return;
#if defined(__AVX512F__) && RL_VNNI
  const auto mask = static_cast<__mmask64>((uint64_t{1} << count) - 1);
  _mm512_mask_storeu_epi8(bytes, mask, _mm512_maskz_loadu_epi8(mask, from) ^ all_8<Widest>(-128));
#elif defined(__AVX512F__)
  const auto mask = static_cast<__mmask32>((uint64_t{1} << count) - 1);
  _mm512_mask_storeu_epi16(bytes, mask, _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8(mask, from)));
#else
  constexpr size_t kRest = 16 / sizeof(Factor);
  while (count > 0) {
    const size_t part = count < kRest ? count : kRest;
    const __m128i numbers = part == 16 ? load<__m128i>(from) : load_bytes(from, part);
    store_bytes(bytes, RL_VNNI ? numbers ^ all_8<__m128i>(-128) : _mm_cvtepi8_epi16(numbers),
                part * sizeof(Factor));
    count -= part;
    from += part;
    bytes += 16;
  }
#endif
}

void pack_int8(void* panel, const int8_t* from, ptrdiff_t depth_stride, ptrdiff_t column_stride, size_t depth,
               size_t columns) {
  auto* const groups = static_cast<char*>(panel) + kHeaderBytes;
  const size_t group_count = groups_of(depth);
  const size_t whole = depth / kDotDepth;
  // Missing columns are zeros.
  if (columns < kColumns) std::memset(groups, 0, group_count * kGroupBytes);
  for (size_t j = 0; j < columns; ++j, from += column_stride) {
    PanelFactor numbers[kDotDepth];
    const int8_t* number = from;
    char* to = groups + j * sizeof(numbers);
    for (size_t group = 0; group < whole; ++group, to += kGroupBytes) {
      for (size_t k = 0; k < kDotDepth; ++k, number += depth_stride) numbers[k] = *number;
      std::memcpy(to, numbers, sizeof(numbers));
    }
    if (whole == group_count) continue;
    for (size_t k = 0; k < kDotDepth; ++k) {
      numbers[k] = whole * kDotDepth + k < depth ? PanelFactor{*number} : PanelFactor{0};
      number += depth_stride;
    }
    std::memcpy(to, numbers, sizeof(numbers));
  }
  if (!RL_VNNI) return;
  for (size_t v = 0; v < 2; ++v) {
    Widest sums = all_32<Widest>(0);
    for (size_t group = 0; group < group_count; ++group) {
      sums = dot(sums, all_8<Widest>(1), load<Widest>(groups + group * kGroupBytes + v * sizeof(Widest)));
    }
    // -128 times the sum of each column, by a product with ones.
    sums = subtract_32(all_32<Widest>(0), shift_left_32(sums, all_32<Widest>(7)));
    store(static_cast<char*>(panel) + v * sizeof(Widest), sums);
  }
}

void multiply_int8_gemm(const Int8Gemm& p) {
  if (p.columns > kVecLanes) {
    multiply<2>(p);
  } else {
    multiply<1>(p);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
