// SPDX-License-Identifier: BSD-3-Clause
// int16_product.h in tiles. The including source defines, in the variant's namespace,
//
//   constexpr size_t kColumns
//   template <size_t kRows, size_t kWidth>
//   void sum_tile(const int16_t* left, ptrdiff_t left_stride, const int8_t* right, ptrdiff_t right_stride,
//                 size_t depth, int32_t* sums)
//
// which computes [kRows][kWidth] sums of 1 to kPart products, for kRows = 1 and kInt16ProductRows and kWidth
// = 1 and kColumns.
namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

template <size_t kRows, size_t kWidth>
[[gnu::noinline]] void multiply_tile(const Int16Product& p, size_t row, size_t column) {
  const int16_t* left = p.left + static_cast<ptrdiff_t>(row) * p.left_stride;
  const int8_t* right = p.right + static_cast<ptrdiff_t>(column) * p.right_stride;
  int64_t sums[kRows * kWidth];
  for (size_t j = 0; j < kRows * kWidth; ++j) sums[j] = p.bias == nullptr ? 0 : p.bias[column + j % kWidth];
  for (size_t k = 0; k < p.depth; k += kPart) {
    int32_t part[kRows * kWidth];
    sum_tile<kRows, kWidth>(left + k, p.left_stride, right + k, p.right_stride,
                            p.depth - k < kPart ? p.depth - k : kPart, part);
    for (size_t j = 0; j < kRows * kWidth; ++j) sums[j] += part[j];
  }
  int16_t* out = p.out + static_cast<ptrdiff_t>(row) * p.out_stride + column;
  for (size_t i = 0; i < kRows; ++i, out += p.out_stride)
    requantize_wide_row(p.to, column, kWidth, sums + i * kWidth, out);
}

template <size_t kRows>
void multiply_rows(const Int16Product& p, size_t row) {
  size_t j = 0;
  for (; j + kColumns <= p.columns; j += kColumns) multiply_tile<kRows, kColumns>(p, row, j);
  for (; j < p.columns; ++j) multiply_tile<kRows, 1>(p, row, j);
}

}  // namespace

void multiply_int16(const Int16Product& p) {
  size_t i = 0;
  for (; i + kInt16ProductRows <= p.rows; i += kInt16ProductRows) multiply_rows<kInt16ProductRows>(p, i);
  for (; i < p.rows; ++i) multiply_rows<1>(p, i);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
