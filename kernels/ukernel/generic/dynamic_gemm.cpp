// SPDX-License-Identifier: BSD-3-Clause
// Quantized rows hold int16 elements less their zero point. A panel holds the scales, [groups][columns], then
// the weights, [depth][columns], as int8 or as two of 4 bits in a byte. The loops over 16 columns vectorize.
#include "kernels/ukernel/generic/dynamic_rows.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kColumns = 16;
constexpr size_t kRows = 4;

// Elements along the depth in one line of the panel.
constexpr size_t line_depth(const GroupedForm& form) { return form.is_packed ? 2 : 1; }
constexpr size_t lines_of(const GroupedForm& form) {
  return (form.group + line_depth(form) - 1) / line_depth(form);
}

// Adds the products of a line of the panel, one element of the depth or two, with elements k and k + 1 of
// each row. The lower 4 bits are extended by a left and an arithmetic right shift.
template <bool kIsPacked, size_t kCount>
RL_INLINE void add_line(int32_t (&sums)[kCount][kColumns], const int16_t* const* left, size_t k,
                        const int8_t* line) {
  RL_UNROLL
  for (size_t i = 0; i < kCount; ++i) {
    if constexpr (kIsPacked) {
      const int32_t first = left[i][k], second = left[i][k + 1];
      for (size_t j = 0; j < kColumns; ++j) {
        const int32_t pair = line[j];
        sums[i][j] += first * (static_cast<int32_t>(static_cast<uint32_t>(pair) << 28) >> 28);
        sums[i][j] += second * (pair >> 4);
      }
    } else {
      const int32_t factor = left[i][k];
      for (size_t j = 0; j < kColumns; ++j) sums[i][j] += factor * line[j];
    }
  }
}

// Multiplies kCount rows from `first` on with the panel. Zero points are subtracted when rows are quantized,
// so that sums need no correction here.
template <bool kIsPacked, size_t kCount>
void multiply_rows(const DynamicGemm& p, size_t first) {
  const auto* base = static_cast<const char*>(p.left) + static_cast<ptrdiff_t>(first) * p.left_stride;
  const int16_t* left[kCount];
  RL_UNROLL
  for (size_t i = 0; i < kCount; ++i) {
    left[i] = reinterpret_cast<const int16_t*>(base + static_cast<ptrdiff_t>(i) * p.left_stride +
                                               sizeof(RowHeader));
  }
  const auto* scales = static_cast<const float*>(p.panel);
  const auto* line = reinterpret_cast<const int8_t*>(scales + p.form.groups * kColumns);
  const size_t lines = lines_of(p.form), step = line_depth(p.form);
  float totals[kCount][kColumns] = {};
  for (size_t g = 0; g < p.form.groups; ++g, scales += kColumns) {
    int32_t sums[kCount][kColumns] = {};
    for (size_t l = 0; l < lines; ++l, line += kColumns)
      add_line<kIsPacked, kCount>(sums, left, l * step, line);
    for (size_t i = 0; i < kCount; ++i) {
      left[i] += lines * step;
      for (size_t j = 0; j < kColumns; ++j) {
        // rounded() prevents fused multiply-adds, which would give other bits than separate steps.
        totals[i][j] += rounded(scales[j] * static_cast<float>(sums[i][j]));
      }
    }
  }
  for (size_t i = 0; i < kCount; ++i) {
    RowHeader row;
    std::memcpy(&row, base + static_cast<ptrdiff_t>(i) * p.left_stride, sizeof(row));
    float* out = p.out + static_cast<ptrdiff_t>(first + i) * p.out_stride;
    for (size_t j = 0; j < p.columns; ++j) {
      const float result = rounded(totals[i][j] * row.scale);
      out[j] = p.bias == nullptr ? result : result + p.bias[j];
    }
  }
}

template <bool kIsPacked>
void multiply(const DynamicGemm& p) {
  size_t i = 0;
  for (; i + kRows <= p.rows; i += kRows) multiply_rows<kIsPacked, kRows>(p, i);
  for (; i < p.rows; ++i) multiply_rows<kIsPacked, 1>(p, i);
}

}  // namespace

size_t dynamic_gemm_columns() { return kColumns; }
size_t dynamic_panel_bytes(const GroupedForm& form) {
  return whole(form.groups * kColumns * (sizeof(float) + lines_of(form)));
}
size_t dynamic_row_bytes(const GroupedForm& form) {
  return whole(sizeof(RowHeader) + form.groups * lines_of(form) * line_depth(form) * sizeof(int16_t));
}

void quantize_dynamic_row(const GroupedForm& form, const DynamicQuantization& how, const float* from,
                          void* to) {
  const RowHeader header = {how.scale, 0};
  std::memcpy(to, &header, sizeof(header));
  auto* numbers = reinterpret_cast<int16_t*>(static_cast<char*>(to) + sizeof(header));
  // An odd group of 4-bit weights has a last line of one element; the row has a 0 for the other.
  const size_t padded = lines_of(form) * line_depth(form);
  for (size_t g = 0; g < form.groups; ++g, numbers += padded, from += form.group) {
    quantize_group(form.group, from, how, -how.zero_point, numbers);
    for (size_t k = form.group; k < padded; ++k) numbers[k] = 0;
  }
}

void pack_dynamic(const GroupedWeights& weights, size_t columns, void* panel) {
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

void multiply_dynamic(const DynamicGemm& p) {
  if (p.form.is_packed) {
    multiply<true>(p);
  } else {
    multiply<false>(p);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
