// SPDX-License-Identifier: BSD-3-Clause
// Blocks of kBlockRows x kColumns sums stay on the stack as float32 for the whole depth. An element of the
// left factor is converted once for each kColumns columns, and one of the right factor once for each
// kBlockRows rows. Fewer than kFewRows rows times columns that are contiguous along the depth are dot
// products.
#include "kernels/board/half_product.h"

#include <algorithm>
#include <cstdint>

#include "kernels/ukernel/panel.h"
#include "kernels/ukernel/patch.h"
#include "kernels/ukernel/spans.h"

namespace rushlight::kernels::board {

namespace {

using ukernel::BlockStrides;
using ukernel::kPanelColumns;

constexpr size_t kPanels = std::max<size_t>(16 / kPanelColumns, 1);
constexpr size_t kColumns = kPanels * kPanelColumns;
constexpr size_t kBlockRows = 24;
constexpr size_t kDepth = 32;
constexpr size_t kTileRows = 2 * ukernel::kPanelRows;
constexpr size_t kFewRows = 4;
constexpr size_t kDotColumns = 8;
constexpr size_t kDotDepth = 64;

template <class T>
T* element(const Matrix& matrix, size_t row, size_t column) {
  return static_cast<T*>(matrix.data) + static_cast<ptrdiff_t>(row) * matrix.row_stride +
         static_cast<ptrdiff_t>(column) * matrix.column_stride;
}

// A part of a matrix as float32: to[i * stride + j] = matrix[row + i][column + j].
void widen(float* to, size_t stride, const Matrix& matrix, bool is_float, size_t row, size_t rows,
           size_t column, size_t columns) {
  const BlockStrides from{matrix.row_stride, matrix.column_stride};
  const auto step = static_cast<ptrdiff_t>(stride);
  if (is_float) {
    return ukernel::copy_block(to, {step, 1}, element<float>(matrix, row, column), from, rows, columns);
  }
  const auto* first = element<uint16_t>(matrix, row, column);
  // The inner loop is along contiguous elements.
  if (from.row == 1 && from.column != 1) {
    return ukernel::widen_block(to, {1, step}, first, {from.column, from.row}, columns, rows);
  }
  ukernel::widen_block(to, {step, 1}, first, from, rows, columns);
}

// A block of the result.
struct Block {
  size_t row;
  size_t rows;
  size_t column;
  size_t columns;
};

class HalfProduct {
 public:
  HalfProduct(const ProductMatrices& product, float alpha, float beta, FloatMatrices floats)
      : product_(product),
        depth_(alpha == 0 ? 0 : product.depth),
        alpha_(alpha),
        beta_(beta),
        floats_(floats) {}

  // Multiplies by panels, of at most kBlockRows rows and kColumns columns.
  void by_panels(const Block& block) const {
    float sums[kBlockRows * kColumns];
    float panels[kPanels][kDepth * kPanelColumns];
    float left[kTileRows * kDepth];
    ukernel::fill_span(sums, block.rows * kColumns, 0);
    ukernel::PanelProduct piece;
    piece.left = left;
    piece.left_stride = kDepth;
    piece.out_stride = kColumns;
    piece.column_stride = 1;
    piece.columns = kPanelColumns;
    for (size_t k = 0; k < depth_; k += kDepth) {
      piece.depth = std::min(kDepth, depth_ - k);
      for (size_t j = 0; j < block.columns; j += kPanelColumns) {
        const size_t columns = std::min(kPanelColumns, block.columns - j);
        float* panel = panels[j / kPanelColumns];
        if (columns < kPanelColumns) ukernel::fill_span(panel, piece.depth * kPanelColumns, 0);
        widen(panel, kPanelColumns, product_.b, false, k, piece.depth, block.column + j, columns);
      }
      for (size_t i = 0; i < block.rows; i += kTileRows) {
        piece.rows = std::min(kTileRows, block.rows - i);
        widen(left, kDepth, product_.a, floats_.a, block.row + i, piece.rows, k, piece.depth);
        for (size_t j = 0; j < block.columns; j += kPanelColumns) {
          piece.panel = panels[j / kPanelColumns];
          piece.out = sums + i * kColumns + j;
          ukernel::multiply_panel(piece);
        }
      }
    }
    store(block, sums);
  }

  // Multiplies by dot products, of at most kFewRows rows and kDotColumns columns.
  void by_dots(const Block& block) const {
    float sums[kFewRows * kColumns];
    float right[kDotColumns * kDotDepth];
    float left[kDotDepth];
    ukernel::fill_span(sums, block.rows * kColumns, 0);
    for (size_t k = 0; k < depth_; k += kDotDepth) {
      const size_t depth = std::min(kDotDepth, depth_ - k);
      const BlockStrides columns{product_.b.column_stride, product_.b.row_stride};
      ukernel::widen_block(right, {kDotDepth, 1}, element<uint16_t>(product_.b, k, block.column), columns,
                           block.columns, depth);
      for (size_t i = 0; i < block.rows; ++i) {
        widen(left, kDotDepth, product_.a, floats_.a, block.row + i, 1, k, depth);
        ukernel::multiply_rows({right, kDotDepth, left, block.columns, depth, sums + i * kColumns, 1});
      }
    }
    store(block, sums);
  }

 private:
  // Adds the bias and rounds; `sums` has kColumns columns.
  void store(const Block& block, float* sums) const {
    for (size_t i = 0; i < block.rows && (alpha_ != 1 || beta_ != 0); ++i) {
      float bias[kColumns] = {};
      if (beta_ != 0) {
        widen(bias, kColumns, product_.bias, floats_.out, block.row + i, 1, block.column, block.columns);
      }
      float* row = sums + i * kColumns;
      for (size_t j = 0; j < block.columns; ++j) row[j] = alpha_ * row[j] + beta_ * bias[j];
    }
    const Matrix& out = product_.out;
    const BlockStrides strides{out.row_stride, out.column_stride};
    if (floats_.out) {
      auto* to = element<float>(out, block.row, block.column);
      return ukernel::copy_block(to, strides, sums, {kColumns, 1}, block.rows, block.columns);
    }
    auto* to = element<uint16_t>(out, block.row, block.column);
    ukernel::narrow_block(to, strides, sums, {kColumns, 1}, block.rows, block.columns);
  }

  const ProductMatrices& product_;
  size_t depth_;  // 0 with alpha 0: then the factors are not read, so that NaN does not propagate
  float alpha_;
  float beta_;
  FloatMatrices floats_;
};

}  // namespace

void multiply_halves(const ProductMatrices& product, float alpha, float beta, FloatMatrices floats) {
  const HalfProduct by(product, alpha, beta, floats);
  const bool is_dot = product.rows < kFewRows && product.b.row_stride == 1;
  const size_t rows = is_dot ? kFewRows : kBlockRows;
  const size_t columns = is_dot ? kDotColumns : kColumns;
  for (size_t j = 0; j < product.columns; j += columns) {
    for (size_t i = 0; i < product.rows; i += rows) {
      const Block block{i, std::min(rows, product.rows - i), j, std::min(columns, product.columns - j)};
      is_dot ? by.by_dots(block) : by.by_panels(block);
    }
  }
}

}  // namespace rushlight::kernels::board
