// SPDX-License-Identifier: BSD-3-Clause
// dynamic_gemm on x86: tiles of two vectors of columns. Groups of a quantized row are padded with zeros to
// whole blocks. A row holds a header, the sum of each group (4 bits only), and its elements:
//
//   4 bits, or VNNI   uint8: element + 128. A block has 4 elements with 8-bit weights, 8 with 4-bit weights
//   otherwise         int16: element - zero point. A block has 2 elements
//
// A panel holds scales, float32 [groups][columns]; sums of the groups, int32 [groups][columns], unless rows
// are int16; and blocks, [groups][blocks][columns][4 bytes, or 2 for int16 rows]. In a block of 4 bits the
// lower halves of the bytes are the first four elements, stored plus 8. Without VNNI, vpmaddubsw adds their
// products with uint8: eight of at most 255 * 15 do not saturate.
#include "kernels/ukernel/generic/dynamic_rows.inl"
#include "kernels/ukernel/x86/int8_vector.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kVecLanes = kLanesOf<Widest>;
constexpr size_t kColumns = 2 * kVecLanes;
constexpr size_t kMostRows = sizeof(Widest) == 64 ? 8 : 4;
constexpr int32_t kByteZero = 128;  // stands for 0
constexpr int32_t kHalfZero = 8;

constexpr bool has_bytes(bool is_packed) { return is_packed || RL_VNNI; }
constexpr size_t block_depth(bool is_packed) { return is_packed ? 8 : kDotDepth; }
constexpr size_t block_bytes(bool is_packed) { return has_bytes(is_packed) ? 4 : 2; }  // bytes in a column
constexpr size_t blocks_of(const GroupedForm& form) {
  return (form.group + block_depth(form.is_packed) - 1) / block_depth(form.is_packed);
}
// Bytes of a row before its elements, in whole 16 bytes, and of a panel before its blocks.
constexpr size_t row_header(const GroupedForm& form) {
  return (sizeof(RowHeader) + (form.is_packed ? form.groups * sizeof(int32_t) : 0) + 15) / 16 * 16;
}
constexpr size_t panel_header(const GroupedForm& form) {
  return form.groups * kColumns * (sizeof(float) + (has_bytes(form.is_packed) ? sizeof(int32_t) : 0));
}

RL_INLINE F32 as_floats(Widest sums) {
  I32 lanes;
  std::memcpy(&lanes, &sums, sizeof(lanes));
  return to_float(lanes);
}

// The first four elements of a block of 4-bit weights, and the other four, as bytes.
RL_INLINE Widest low_halves(Widest bytes) { return bytes & all_8<Widest>(15); }
RL_INLINE Widest high_halves(Widest bytes) { return shift_right_unsigned_32<4>(bytes) & all_8<Widest>(15); }

#if !RL_VNNI
#if defined(__AVX512F__)
RL_INLINE Widest multiply_bytes(Widest left, Widest right) { return _mm512_maddubs_epi16(left, right); }
RL_INLINE Widest add_16(Widest a, Widest b) { return _mm512_add_epi16(a, b); }
#else
RL_INLINE Widest multiply_bytes(Widest left, Widest right) { return _mm256_maddubs_epi16(left, right); }
RL_INLINE Widest add_16(Widest a, Widest b) { return _mm256_add_epi16(a, b); }
#endif
#endif

RL_INLINE Widest spread(const char* from) {
  int32_t numbers;
  std::memcpy(&numbers, from, sizeof(numbers));
  return all_32<Widest>(numbers);
}

// Adds products of 4-bit weights with the bytes of a row, for both halves of a block.
RL_INLINE Widest add_halves(Widest sums, const char* left, Widest low, Widest high) {
#if RL_VNNI
  return dot(dot(sums, spread(left), low), spread(left + 4), high);
#else
  const Widest pairs = add_16(multiply_bytes(spread(left), low), multiply_bytes(spread(left + 4), high));
  return add_32(sums, multiply_pairs_16(pairs, all_16<Widest>(1)));
#endif
}

// Adds the products of one block of a group; `left` points to the group.
template <bool kIsPacked, size_t kCount>
RL_INLINE void add_block(Widest (&sums)[kCount][2], const char* const* left, size_t block, const int8_t* at) {
  constexpr size_t kBytes = kVecLanes * block_bytes(kIsPacked);
  if constexpr (kIsPacked) {
    Widest low[2], high[2];
    RL_UNROLL
    for (size_t v = 0; v < 2; ++v) {
      const Widest bytes = load<Widest>(at + v * kBytes);
      low[v] = low_halves(bytes);
      high[v] = high_halves(bytes);
    }
    RL_UNROLL
    for (size_t i = 0; i < kCount; ++i) {
      RL_UNROLL
      for (size_t v = 0; v < 2; ++v)
        sums[i][v] = add_halves(sums[i][v], left[i] + 8 * block, low[v], high[v]);
    }
  } else {
    Widest right[2];
    RL_UNROLL
    for (size_t v = 0; v < 2; ++v) {
      right[v] = RL_VNNI ? load<Widest>(at + v * kBytes) : load_widened<Widest>(at + v * kBytes);
    }
    RL_UNROLL
    for (size_t i = 0; i < kCount; ++i) {
      const Widest factors = spread(left[i] + 4 * block);
      RL_UNROLL
      for (size_t v = 0; v < 2; ++v) sums[i][v] = dot(sums[i][v], factors, right[v]);
    }
  }
}

// Pointers into kCount quantized rows, and their headers.
template <size_t kCount>
struct Rows {
  const char* numbers[kCount];
  const char* sums[kCount];  // sums of the groups
  RowHeader headers[kCount];

  RL_INLINE Rows(const DynamicGemm& p, size_t first) {
    const auto* base = static_cast<const char*>(p.left) + static_cast<ptrdiff_t>(first) * p.left_stride;
    RL_UNROLL
    for (size_t i = 0; i < kCount; ++i, base += p.left_stride) {
      std::memcpy(&headers[i], base, sizeof(headers[i]));
      sums[i] = base + sizeof(RowHeader);
      numbers[i] = base + row_header(p.form);
    }
  }
};

// With elements u of zero point z, and weights n that are stored as m = n + 8, the sum of (u - z) n is
//
//   sum of u m - 8 (sum of u) - z (sum of n)
//
// The row holds the second term, the panel the last sum.
template <bool kIsPacked, size_t kCount>
RL_INLINE void finish_group(const Widest (&sums)[kCount][2], Rows<kCount>& rows, const float* scales,
                            const int32_t* weight_sums, F32 (*totals)[2]) {
  RL_UNROLL
  for (size_t v = 0; v < 2; ++v) {
    const F32 scale = RL_UKERNEL_VARIANT::load(scales + v * kVecLanes);
    RL_UNROLL
    for (size_t i = 0; i < kCount; ++i) {
      Widest sum = sums[i][v];
      if (has_bytes(kIsPacked)) {
        const Widest zero = all_32<Widest>(rows.headers[i].zero_point);
        // z (sum of n), for the zero point of the row.
        sum = subtract_32(sum, multiply_low_32(zero, load<Widest>(weight_sums + v * kVecLanes)));
      }
      if (kIsPacked) sum = subtract_32(sum, spread(rows.sums[i]));
      totals[i][v] = totals[i][v] + rounded(scale * as_floats(sum));
    }
  }
  RL_UNROLL
  for (size_t i = 0; i < kCount; ++i) rows.sums[i] += sizeof(int32_t);
}

// Scales the totals by the scale of their row, adds the bias, and stores the used columns.
template <size_t kCount>
void store_rows(const DynamicGemm& p, size_t first, const Rows<kCount>& rows, const F32 (*totals)[2]) {
  for (size_t v = 0; v < 2 && v * kVecLanes < p.columns; ++v) {
    const size_t left = p.columns - v * kVecLanes, count = left < kVecLanes ? left : kVecLanes;
    F32 bias{};
    if (p.bias != nullptr) bias = load_partial(p.bias + v * kVecLanes, count);
    for (size_t i = 0; i < kCount; ++i) {
      F32 result = rounded(totals[i][v] * splat(rows.headers[i].scale));
      if (p.bias != nullptr) result = result + bias;
      store_partial(p.out + static_cast<ptrdiff_t>(first + i) * p.out_stride + v * kVecLanes, result, count);
    }
  }
}

template <bool kIsPacked, size_t kCount>
void multiply_rows(const DynamicGemm& p, size_t first) {
  // With one or two rows the few sums would wait for each other: every second block has separate sums.
  constexpr size_t kParts = kCount <= 2 ? 2 : 1;
  constexpr size_t kBlock = kColumns * block_bytes(kIsPacked);
  Rows<kCount> rows(p, first);
  const auto* scales = static_cast<const float*>(p.panel);
  const auto* weight_sums = reinterpret_cast<const int32_t*>(scales + p.form.groups * kColumns);
  const auto* panel = static_cast<const int8_t*>(p.panel) + panel_header(p.form);
  const size_t blocks = blocks_of(p.form);
  F32 totals[kCount][2] = {};
  for (size_t g = 0; g < p.form.groups; ++g, scales += kColumns, weight_sums += kColumns) {
    Widest sums[kParts][kCount][2];
    RL_UNROLL
    for (auto& part : sums) {
      RL_UNROLL
      for (auto& row : part) row[0] = row[1] = all_32<Widest>(0);
    }
    size_t block = 0;
    for (; block + kParts <= blocks; block += kParts) {
      RL_UNROLL
      for (size_t part = 0; part < kParts; ++part, panel += kBlock) {
        add_block<kIsPacked, kCount>(sums[part], rows.numbers, block + part, panel);
      }
    }
    if (kParts == 2 && block < blocks) {
      add_block<kIsPacked, kCount>(sums[0], rows.numbers, block, panel);
      panel += kBlock;
    }
    RL_UNROLL
    for (size_t i = 0; i < kCount; ++i) {
      rows.numbers[i] += blocks * (kIsPacked ? 8 : 4);
      RL_UNROLL
      for (size_t v = 0; v < 2 && kParts == 2; ++v) {
        sums[0][i][v] = add_32(sums[0][i][v], sums[kParts - 1][i][v]);
      }
    }
    finish_group<kIsPacked, kCount>(sums[0], rows, scales, weight_sums, totals);
  }
  store_rows<kCount>(p, first, rows, totals);
}

// Tiles of kMostRows, 2 and 1 rows; all read the whole panel.
template <bool kIsPacked>
void multiply(const DynamicGemm& p) {
  size_t i = 0;
  for (; i + kMostRows <= p.rows; i += kMostRows) multiply_rows<kIsPacked, kMostRows>(p, i);
  for (; i + 2 <= p.rows; i += 2) multiply_rows<kIsPacked, 2>(p, i);
  for (; i < p.rows; ++i) multiply_rows<kIsPacked, 1>(p, i);
}

// Quantizes a group to uint8; returns the sum.
uint32_t quantize_bytes(const GroupedForm& form, const DynamicQuantization& how, const float* from,
                        size_t padded, uint8_t* to) {
  quantize_group(form.group, from, how, kByteZero, to);
  uint32_t sum = 0;
  for (size_t k = 0; k < form.group; ++k) sum += to[k];
  for (size_t k = form.group; k < padded; ++k) to[k] = 0;
  return sum;
}

// Packs the bytes of a column in a block; returns the sum of its elements.
int32_t pack_block(const GroupedWeights& weights, size_t j, size_t g, size_t k, int8_t* to) {
  const GroupedForm& form = weights.form;
  int32_t sum = 0;
  for (size_t i = 0; i < block_depth(form.is_packed); ++i) {
    const bool is_inside = k + i < form.group;
    const int32_t number = is_inside ? weights.number(j, g * form.group + k + i) : 0;
    sum += number;
    if (!form.is_packed) {
      to[i] = static_cast<int8_t>(number);
    } else if (i < 4) {
      to[i] = static_cast<int8_t>(number + kHalfZero);
    } else {
      // Elements 4 to 7 of a block are in the upper halves of the bytes.
      to[i - 4] = static_cast<int8_t>((to[i - 4] & 15) | (number + kHalfZero) * 16);
    }
  }
  return sum;
}

}  // namespace

size_t dynamic_gemm_columns() { return kColumns; }
size_t dynamic_panel_bytes(const GroupedForm& form) {
  return whole(panel_header(form) + form.groups * blocks_of(form) * kColumns * block_bytes(form.is_packed));
}
size_t dynamic_row_bytes(const GroupedForm& form) {
  return whole(row_header(form) + form.groups * blocks_of(form) * (form.is_packed ? 8 : 4));
}

void quantize_dynamic_row(const GroupedForm& form, const DynamicQuantization& how, const float* from,
                          void* to) {
  const size_t padded = blocks_of(form) * block_depth(form.is_packed);
  // The zero point of the stored bytes, which are elements plus kByteZero.
  const int32_t zero_point = has_bytes(form.is_packed) ? how.zero_point + kByteZero : 0;
  const RowHeader header = {how.scale, zero_point};
  std::memcpy(to, &header, sizeof(header));
  auto* sums = static_cast<char*>(to) + sizeof(header);
  auto* numbers = static_cast<char*>(to) + row_header(form);
  for (size_t g = 0; g < form.groups; ++g, from += form.group) {
    if (has_bytes(form.is_packed)) {
      const uint32_t sum =
          quantize_bytes(form, how, from, padded, reinterpret_cast<uint8_t*>(numbers) + g * padded);
      // 8-bit weights are signed and need no sum of the row.
      if (!form.is_packed) continue;
      const auto part = static_cast<int32_t>(kHalfZero * sum);
      std::memcpy(sums + g * sizeof(part), &part, sizeof(part));
    } else {
      auto* wide = reinterpret_cast<int16_t*>(numbers) + g * padded;
      quantize_group(form.group, from, how, -how.zero_point, wide);
      for (size_t k = form.group; k < padded; ++k) wide[k] = 0;
    }
  }
}

void pack_dynamic(const GroupedWeights& weights, size_t columns, void* panel) {
  const GroupedForm& form = weights.form;
  auto* scales = static_cast<float*>(panel);
  auto* weight_sums = reinterpret_cast<int32_t*>(scales + form.groups * kColumns);
  auto* to = static_cast<int8_t*>(panel) + panel_header(form);
  const size_t blocks = blocks_of(form), bytes = block_bytes(form.is_packed);
  // Missing columns, and elements past a group, are zeros.
  std::memset(panel, 0, RL_UKERNEL_VARIANT::dynamic_panel_bytes(form));
  for (size_t g = 0; g < form.groups; ++g, to += blocks * kColumns * bytes) {
    for (size_t j = 0; j < columns; ++j) {
      int32_t sum = 0;
      for (size_t b = 0; b < blocks; ++b) {
        sum += pack_block(weights, j, g, b * block_depth(form.is_packed), to + (b * kColumns + j) * bytes);
      }
      scales[g * kColumns + j] = weights.scale(j, g);
      if (has_bytes(form.is_packed)) weight_sums[g * kColumns + j] = sum;
    }
  }
}

void multiply_dynamic(const DynamicGemm& p) {
  if (p.form.is_packed) {
    multiply<true>(p);
  } else {
    multiply<false>(p);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
