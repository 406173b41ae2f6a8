// SPDX-License-Identifier: BSD-3-Clause
// A panel holds the scales, [groups][columns], then the weights, [depth][columns], as int8 or as two signed
// values of 4 bits in a byte. The sums of a group stay in registers: one row by four vectors, or four rows by
// two. Totals may spill to memory, since they change once a group.
#include "kernels/ukernel/mixed_gemm.h"

#include <cstring>

#include "kernels/ukernel/generic/vector.h"
#include "kernels/ukernel/generic/widen.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kVectors = 4;
constexpr size_t kColumns = kVectors * kLanes;
constexpr size_t kRows = 4;

// Elements of the depth in one line of the panel, and lines of a group.
constexpr size_t line_depth(const GroupedForm& form) { return form.is_packed ? 2 : 1; }
constexpr size_t lines_of(const GroupedForm& form) {
  return (form.group + line_depth(form) - 1) / line_depth(form);
}

// A tile of kCount rows by kWide vectors of a panel's columns.
template <size_t kCount, size_t kWide>
struct Tile {
  F32 totals[kCount][kWide];
  F32 sums[kCount][kWide];

  // Adds the products of an element of each row with kWide vectors of weights.
  RL_INLINE void add(const float* left, ptrdiff_t stride, const F32* right) {
    RL_UNROLL
    for (size_t i = 0; i < kCount; ++i) {
      const F32 factor = splat(left[static_cast<ptrdiff_t>(i) * stride]);
      RL_UNROLL
      for (size_t v = 0; v < kWide; ++v) sums[i][v] = multiply_add(factor, right[v], sums[i][v]);
    }
  }

  // Converts a line of the panel to float32, exactly, and adds its products. With 4 bits, `second` is the
  // element after the first; the last line of an odd group has none.
  template <bool kIsPacked>
  RL_INLINE void add_line(const float* left, ptrdiff_t stride, const int8_t* line, bool has_second) {
    F32 first[kWide], second[kWide];
    RL_UNROLL
    for (size_t v = 0; v < kWide; ++v) {
      const I32 numbers = load_widened_int8(line + v * kLanes);
      first[v] = to_float(kIsPacked ? (numbers << 28) >> 28 : numbers);
      if (kIsPacked) second[v] = to_float(numbers >> 4);
    }
    add(left, stride, first);
    if (kIsPacked && has_second) add(left + 1, stride, second);
  }

  // Multiplies the rows from `left` on with the columns from `first` on.
  template <bool kIsPacked>
  RL_INLINE void multiply(const MixedGemm& p, const float* left, size_t first) {
    const auto* scales = static_cast<const float*>(p.panel) + first;
    const auto* line = static_cast<const int8_t*>(p.panel) + p.form.groups * kColumns * sizeof(float) + first;
    const size_t step = kIsPacked ? 2 : 1, whole = p.form.group / step;
    RL_UNROLL
    for (size_t i = 0; i < kCount * kWide; ++i) totals[i / kWide][i % kWide] = splat(0.0F);
    for (size_t g = 0; g < p.form.groups; ++g, scales += kColumns) {
      RL_UNROLL
      for (size_t i = 0; i < kCount * kWide; ++i) sums[i / kWide][i % kWide] = splat(0.0F);
      for (size_t l = 0; l < whole; ++l, line += kColumns, left += step) {
        add_line<kIsPacked>(left, p.left_stride, line, true);
      }
      if (whole * step < p.form.group) add_line<kIsPacked>(left, p.left_stride, line, false);
      RL_UNROLL
      for (size_t v = 0; v < kWide; ++v) {
        // Each group costs one multiply-add a sum: the scale is not applied to weights or rows.
        const F32 scale = load(scales + v * kLanes);
        RL_UNROLL
        for (size_t i = 0; i < kCount; ++i) totals[i][v] = multiply_add(scale, sums[i][v], totals[i][v]);
      }
    }
  }

  // Stores the used columns of the tile with their biases.
  RL_INLINE void store_tile(const MixedGemm& p, size_t row, size_t first) const {
    for (size_t v = 0; v < kWide && first + v * kLanes < p.columns; ++v) {
      const size_t column = first + v * kLanes;
      const size_t count = p.columns - column < kLanes ? p.columns - column : kLanes;
      F32 bias = splat(0.0F);
      if (p.bias != nullptr) bias = load_partial(p.bias + column, count);
      for (size_t i = 0; i < kCount; ++i) {
        store_partial(p.out + static_cast<ptrdiff_t>(row + i) * p.out_stride + column, totals[i][v] + bias,
                      count);
      }
    }
  }
};

// Multiplies kCount rows from `row` on with all columns of the panel, kWide vectors at a time.
template <bool kIsPacked, size_t kCount, size_t kWide>
void multiply_rows(const MixedGemm& p, size_t row) {
  const float* left = p.left + static_cast<ptrdiff_t>(row) * p.left_stride;
  for (size_t first = 0; first < p.columns; first += kWide * kLanes) {
    Tile<kCount, kWide> tile;
    tile.template multiply<kIsPacked>(p, left, first);
    tile.store_tile(p, row, first);
  }
}

template <bool kIsPacked>
void multiply(const MixedGemm& p) {
  size_t i = 0;
  for (; i + kRows <= p.rows; i += kRows) multiply_rows<kIsPacked, kRows, 2>(p, i);
  for (; i < p.rows; ++i) multiply_rows<kIsPacked, 1, kVectors>(p, i);
}

}  // namespace

size_t mixed_gemm_columns() { return kColumns; }
size_t mixed_panel_bytes(const GroupedForm& form) {
  return (form.groups * kColumns * (sizeof(float) + lines_of(form)) + 63) / 64 * 64;
}

void pack_mixed(const GroupedWeights& weights, size_t columns, void* panel) {
  const GroupedForm& form = weights.form;
  auto* scales = static_cast<float*>(panel);
  auto* line = reinterpret_cast<int8_t*>(scales + form.groups * kColumns);
  const size_t step = line_depth(form);
  for (size_t g = 0; g < form.groups; ++g) {
    for (size_t j = 0; j < kColumns; ++j) *scales++ = j < columns ? weights.scale(j, g) : 0.0F;
    for (size_t k = 0; k < form.group; k += step, line += kColumns) {
      for (size_t j = 0; j < kColumns; ++j) {
        const size_t at = g * form.group + k;
        int32_t number = j < columns ? weights.number(j, at) : 0;
        if (form.is_packed) {
          const bool has_second = j < columns && k + 1 < form.group;
          // Two's complement: the first element in the lower half.
          number = (number & 15) | (has_second ? weights.number(j, at + 1) & 15 : 0) << 4;
        }
        line[j] = static_cast<int8_t>(number);
      }
    }
  }
}

void multiply_mixed(const MixedGemm& p) {
  if (p.form.is_packed) {
    multiply<true>(p);
  } else {
    multiply<false>(p);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
