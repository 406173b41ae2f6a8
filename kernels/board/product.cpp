// SPDX-License-Identifier: BSD-3-Clause
// Blocked product: a panel of kPanelDepth x kPanelColumns of the right factor is copied to the stack and
// multiplied by every row of the left one. Fewer than kLeftRows rows read the right factor in place instead,
// because the copy would cost more than the product: as dot products with its columns, or as sums of its
// rows. So do fewer columns, and products of little depth. Reads the right factor once, and the left one once
// for each kPanelColumns columns.
#include "kernels/board/product.h"

#include <algorithm>
#include <cstdint>

#include "kernels/board/half_product.h"
#include "kernels/checks/selection.h"
#include "kernels/ukernel/panel.h"
#include "kernels/ukernel/patch.h"
#include "kernels/ukernel/spans.h"

namespace rushlight::kernels::board {

namespace {

using ukernel::kPanelColumns;
using ukernel::kPanelDepth;

constexpr size_t kMostTaps = 64;         // rows of the right factor that are added at once
constexpr size_t kMostShiftedRows = 24;  // rows of the left factor that share them
constexpr size_t kLeftRows = 4;  // rows of the left factor that are copied at once if they are not contiguous

const float* element(const Matrix& matrix, size_t row, size_t column) {
  return static_cast<const float*>(matrix.data) + static_cast<ptrdiff_t>(row) * matrix.row_stride +
         static_cast<ptrdiff_t>(column) * matrix.column_stride;
}

float* element_of_out(const Product& product, size_t row, size_t column) {
  return const_cast<float*>(element(product.out, row, column));
}

// A product with its factors as floats.
struct Scaled {
  const Product& of;
  float alpha;
  float beta;  // 0 without a bias
};

// Converts small integers, which most factors are, without arithmetic on 64 bits: in software that takes
// hundreds of instructions.
float factor(const Scalar& scalar) {
  if (!scalar.is_floating()) {
    const auto number = scalar.to<int64_t>();
    const auto narrow = static_cast<int32_t>(number);
    if (narrow == number) return static_cast<float>(narrow);
  }
  return scalar.to<float>();
}

// 0 if there is no bias.
float factor_of_bias(const Product& product) {
  return product.bias.data == nullptr ? 0 : factor(product.beta);
}

// True if all rows have the same bias: panels then start their sums from it, and `out` is not filled.
bool starts_from_columns(const Scaled& scaled) { return scaled.beta == 0 || scaled.of.bias.row_stride == 0; }

// to[j * step] = beta * bias[row][column + j], or zeros if there is no bias.
void copy_bias(const Scaled& scaled, size_t row, size_t column, size_t columns, float* to, ptrdiff_t step) {
  const float beta = scaled.beta;
  const bool has = beta != 0;
  const Matrix& matrix = scaled.of.bias;
  const float* bias = has ? element(matrix, row, column) : nullptr;
  if (step == 1 && !has) return ukernel::fill_span(to, columns, 0);
  if (step == 1 && beta == 1 && matrix.column_stride == 1) return ukernel::copy_span(to, bias, columns);
  for (; columns > 0; --columns, to += step) {
    *to = has ? beta * *bias : 0;
    if (has) bias += matrix.column_stride;
  }
}

// True if `out` holds the bias already, so that products add to it as it is.
bool is_in_place(const Scaled& scaled) {
  const Product& product = scaled.of;
  return scaled.beta == 1 && product.bias.data == product.out.data &&
         product.bias.row_stride == product.out.row_stride &&
         product.bias.column_stride == product.out.column_stride;
}

// Initializes the first `columns` of out with beta * bias, or with zeros if there is no bias.
void fill_out(const Scaled& scaled, size_t columns) {
  if (is_in_place(scaled)) return;
  const Product& product = scaled.of;
  for (size_t i = 0; i < product.rows; ++i) {
    copy_bias(scaled, i, 0, columns, element_of_out(product, i, 0), product.out.column_stride);
  }
}

// to[i * row_step + j] = factor * matrix[row + i][column + j], with zeros up to `width` columns.
void copy_out(const Matrix& matrix, size_t row, size_t rows, size_t column, size_t columns, float factor,
              size_t width, float* to) {
  for (size_t i = 0; i < rows; ++i, to += width) {
    const float* from = element(matrix, row + i, column);
    for (size_t j = 0; j < width; ++j, from += matrix.column_stride) to[j] = j < columns ? factor * *from : 0;
  }
}

// A few rows times a right factor with contiguous columns, or many rows times a few of them: one dot product
// for each element.
void multiply_by_rows(const Product& product) {
  const auto* a = static_cast<const float*>(product.a.data);
  const auto* b = static_cast<const float*>(product.b.data);
  ukernel::RowProduct dots;
  dots.depth = product.depth;
  dots.out = element_of_out(product, 0, 0);
  const bool has_few_rows = product.rows <= product.columns;
  dots.left = has_few_rows ? b : a;
  dots.left_stride = has_few_rows ? product.b.column_stride : product.a.row_stride;
  dots.rows = has_few_rows ? product.columns : product.rows;
  dots.out_stride = has_few_rows ? product.out.column_stride : product.out.row_stride;
  dots.right = has_few_rows ? a : b;
  const ptrdiff_t right_step = has_few_rows ? product.a.row_stride : product.b.column_stride;
  const ptrdiff_t out_step = has_few_rows ? product.out.row_stride : product.out.column_stride;
  for (size_t left = has_few_rows ? product.rows : product.columns; left > 0; --left) {
    ukernel::multiply_rows(dots);
    dots.right += right_step;
    dots.out += out_step;
  }
}

// True if the offsets of kMostTaps rows of the right factor fit in a tap.
bool has_short_steps(const Product& product) {
  constexpr ptrdiff_t kMost = INT32_MAX / static_cast<ptrdiff_t>(sizeof(float) * kMostTaps);
  return -kMost <= product.b.row_stride && product.b.row_stride <= kMost;
}

// Rows with adjacent elements times the first `columns` of a right factor with adjacent columns, which is
// read in place: its rows are shifts of one array. `columns` is at least kShiftColumns. With `begins` the
// sums start from 0, otherwise from `out`, and `columns` is a multiple of kShiftColumns.
void multiply_by_shifts(const Product& product, size_t columns, bool begins) {
  constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));
  constexpr size_t kColumns = ukernel::kShiftColumns;
  ukernel::ShiftedTaps taps[kMostTaps];
  float zeros[kMostShiftedRows] = {};
  ukernel::ShiftedSums sums;
  sums.weight_stride = product.a.row_stride;
  sums.taps = taps;
  sums.has_single_taps = true;
  sums.out_stride = product.out.row_stride;
  for (size_t k = 0; k < std::min(kMostTaps, product.depth); ++k) {
    taps[k] = {static_cast<int32_t>(static_cast<ptrdiff_t>(k) * kBytes * product.b.row_stride), 0};
  }
  for (size_t i = 0; i < product.rows; i += kMostShiftedRows) {
    sums.rows = std::min(kMostShiftedRows, product.rows - i);
    const auto add = [&](size_t column, size_t some) {
      sums.out = element_of_out(product, i, column);
      sums.columns = some;
      for (size_t k = 0; k < product.depth; k += kMostTaps) {
        sums.in = element(product.b, k, column);
        sums.weight = element(product.a, i, k);
        sums.count = std::min(kMostTaps, product.depth - k);
        sums.initial = begins && k == 0 ? zeros : nullptr;
        ukernel::add_shifted(sums);
      }
    };
    add(0, columns / kColumns * kColumns);
    // The last columns overlap those before them.
    if (columns % kColumns != 0) add(columns - kColumns, kColumns);
  }
}

// All rows times one panel of columns and a part of the depth. `width`: columns that may be written.
void multiply_piece(const Scaled& scaled, size_t width, size_t column, size_t from, size_t depth) {
  const Product& product = scaled.of;
  const float alpha = scaled.alpha;
  alignas(16) float panel[kPanelDepth * kPanelColumns];
  float rows[kLeftRows * kPanelDepth];
  float initial[kPanelColumns] = {};
  ukernel::PanelProduct piece;
  piece.panel = panel;
  piece.depth = depth;
  piece.columns = std::min(product.columns - column, kPanelColumns);
  piece.column_stride = product.out.column_stride;
  piece.out_stride = product.out.row_stride;
  // The first part of the depth may start from the bias; all others add to `out`.
  if (from == 0 && starts_from_columns(scaled)) {
    if (scaled.beta != 0) copy_bias(scaled, 0, column, piece.columns, initial, 1);
    piece.initial = initial;
  }
  // alpha scales the panel, because the products are added to beta * bias.
  if (alpha == 1 && piece.columns == kPanelColumns && product.b.column_stride == 1) {
    ukernel::copy_panel(panel, kPanelColumns, element(product.b, from, column), product.b.row_stride, depth);
  } else if (alpha == 1) {
    ukernel::pack_panel(panel, element(product.b, from, column), product.b.column_stride,
                        product.b.row_stride, piece.columns, depth);
  } else {
    copy_out(product.b, from, depth, column, piece.columns, alpha, kPanelColumns, panel);
  }
  piece.columns = std::min(width - column, kPanelColumns);
  // A left factor with adjacent elements in its rows is read in place, all rows in one call.
  const bool adjacent = product.a.column_stride == 1;
  const size_t at_once = adjacent ? product.rows : kLeftRows;
  for (size_t i = 0; i < product.rows; i += at_once) {
    piece.rows = std::min(at_once, product.rows - i);
    piece.left = element(product.a, i, from);
    piece.left_stride = product.a.row_stride;
    if (!adjacent) {
      copy_out(product.a, i, piece.rows, from, depth, 1, depth, rows);
      piece.left = rows;
      piece.left_stride = static_cast<ptrdiff_t>(depth);
    }
    piece.out = element_of_out(product, i, column);
    ukernel::multiply_panel(piece);
  }
}

constexpr TypeSet kTypes = selected_types("aten::addmm.out") | selected_types("aten::baddbmm.out") |
                           selected_types("aten::bmm.out") | selected_types("aten::linear.out") |
                           selected_types("aten::mm.out") | selected_types("rushlight::linear_act.out") |
                           selected_types("rushlight::linear_act.clamp_out");

}  // namespace

Error multiply_small(const Product& product) {
  if constexpr (contains(kTypes, ScalarType::Half)) {
    if (product.type == ScalarType::Half) {
      multiply_halves(product, factor(product.alpha), factor_of_bias(product));
      return Error::Ok;
    }
  }
  if constexpr (contains(kTypes, ScalarType::Float)) multiply_floats(product);
  return Error::Ok;
}

void multiply_floats(const Product& product, size_t width) {
  const float alpha = factor(product.alpha);
  const Scaled scaled{product, alpha, factor_of_bias(product)};
  const bool along_depth = product.b.row_stride == 1 && product.a.column_stride == 1;
  const bool by_rows = along_depth && std::min(product.rows, product.columns) < kLeftRows && alpha == 1;
  // With alpha 0 the factors are not read, so NaN does not propagate.
  const bool is_bias = alpha == 0 || product.depth == 0;
  size_t shifted = 0;  // the first columns, which are sums of the right factor's rows
  const bool begins = scaled.beta == 0;
  constexpr size_t kColumns = ukernel::kShiftColumns;
  if (!is_bias && !by_rows && (product.rows < kLeftRows || product.depth <= ukernel::kShiftDepth) &&
      alpha == 1 && product.a.column_stride == 1 && product.b.column_stride == 1 &&
      product.out.column_stride == 1 && product.columns >= kColumns && has_short_steps(product)) {
    shifted = begins ? product.columns : product.columns / kColumns * kColumns;
  }
  // Panels start from the bias of their columns, and shifts from 0; everything else adds to `out`.
  const bool fills = is_bias || by_rows || !starts_from_columns(scaled);
  if (fills || !begins) fill_out(scaled, fills ? product.columns : shifted);
  if (is_bias) return;
  if (by_rows) return multiply_by_rows(product);
  if (shifted > 0) multiply_by_shifts(product, shifted, begins);
  width = std::max(width, product.columns);
  // Each panel adds its part of the depth to `out`, so sums are in parts of kPanelDepth products.
  for (size_t j = shifted; j < product.columns; j += kPanelColumns) {
    for (size_t k = 0; k < product.depth; k += kPanelDepth) {
      multiply_piece(scaled, width, j, k, std::min(kPanelDepth, product.depth - k));
    }
  }
}

}  // namespace rushlight::kernels::board
