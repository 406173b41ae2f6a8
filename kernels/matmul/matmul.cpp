// SPDX-License-Identifier: BSD-3-Clause
// Rows times tiles of 32 columns, with sums in blocks of 128 products to limit rounding error. No packing:
// the portable code favors size. float and double have direct loops, and integers in builds for speed; all
// other dtypes are converted to float or uint64 in blocks, so that two loops serve them. Complex products are
// four real ones.
#include "kernels/matmul/matmul.h"

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/matmul/accumulator.h"
#include "kernels/ukernel/loops.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::mm.out") | selected_types("aten::bmm.out") | selected_types("aten::addmm.out") |
    selected_types("aten::baddbmm.out") | selected_types("aten::linear.out") |
    selected_types("aten::mv.out") | selected_types("aten::addmv.out") | selected_types("aten::dot.out") |
    selected_types("aten::vdot.out") | selected_types("aten::addbmm.out") |
    selected_types("rushlight::linear_act.out") | selected_types("rushlight::linear_act.clamp_out");

constexpr bool kMultipliesComplex = (kTypes & types::kComplex) != 0;
constexpr TypeSet kRealTypes =
    (kTypes & ~types::kComplex) | (kMultipliesComplex ? type_set(ScalarType::Float, ScalarType::Double) : 0);

constexpr size_t kTile = 32;    // columns that are summed together
constexpr size_t kBlock = 128;  // products in a partial sum

#ifndef __OPTIMIZE_SIZE__
// Integers wrap in any order: compilers vectorize one sum.
template <class T>
RL_LOOPS Accumulator<T> dot_in_loops(const T* a, const T* b, size_t n) {
  Accumulator<T> sum = 0;
  for (size_t k = 0; k < n; ++k) sum += widen(a[k]) * widen(b[k]);
  return sum;
}

// Adds `depth` products to each sum of a whole tile, whose elements are contiguous.
template <class T>
RL_LOOPS void add_tile_in_loops(Accumulator<T>* sums, size_t depth, const T* a, ptrdiff_t a_step, const T* b,
                                ptrdiff_t row) {
  Accumulator<T> tile[kTile];
  for (size_t j = 0; j < kTile; ++j) tile[j] = sums[j];
  for (; depth > 0; --depth, a += a_step, b += row) {
    const Accumulator<T> factor = widen(*a);
    for (size_t j = 0; j < kTile; ++j) tile[j] += factor * widen(b[j]);
  }
  for (size_t j = 0; j < kTile; ++j) sums[j] = tile[j];
}
#endif

template <class T>
Accumulator<T> dot(const T* a, const T* b, size_t n) {
#ifndef __OPTIMIZE_SIZE__
  if constexpr (std::is_integral_v<T>) {
    if (ukernel::runs_loops()) return dot_in_loops(a, b, n);
  }
#endif
  // Four independent sums, so that additions need not wait for each other.
  Accumulator<T> sums[4] = {};
  size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    for (size_t fiber = 0; fiber < 4; ++fiber) sums[fiber] += widen(a[k + fiber]) * widen(b[k + fiber]);
  }
  for (; k < n; ++k) sums[0] += widen(a[k]) * widen(b[k]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Adds `depth` products to each of `columns` sums.
template <class T>
void add_products(Accumulator<T>* sums, size_t columns, size_t depth, const T* a, ptrdiff_t a_step,
                  const T* b, const Matrix& b_strides) {
  const ptrdiff_t row = b_strides.row_stride;
  const ptrdiff_t column = b_strides.column_stride;
  // Both factors are contiguous along the depth: one dot product for each column. Otherwise one step of the
  // depth at a time for all columns.
  if (row == 1 && a_step == 1) {
    for (size_t j = 0; j < columns; ++j) sums[j] += dot(a, b + static_cast<ptrdiff_t>(j) * column, depth);
    return;
  }
#ifndef __OPTIMIZE_SIZE__
  // For narrower integers it would take more code than time.
  if constexpr (std::is_integral_v<T> && sizeof(T) >= sizeof(int32_t)) {
    if (columns == kTile && column == 1 && ukernel::runs_loops()) {
      return add_tile_in_loops(sums, depth, a, a_step, b, row);
    }
  }
#endif
  add_scaled<T>(sums, 1, {b, column, row, a, a_step, static_cast<ptrdiff_t>(depth)},
                static_cast<ptrdiff_t>(columns));
}

// Stores `columns` elements of a row from the sums of their products.
template <class T>
void write_row(const Product& product, const Accumulator<T>* totals, size_t columns, ptrdiff_t row,
               ptrdiff_t column) {
  const auto at = [&](const Matrix& matrix) {
    return static_cast<T*>(matrix.data) + row * matrix.row_stride + column * matrix.column_stride;
  };
  const auto alpha = scalar_as<Accumulator<T>>(product.alpha);
  const auto beta = scalar_as<Accumulator<T>>(product.beta);
  T* out = at(product.out);
  if (product.bias.data == nullptr || beta == Accumulator<T>(0)) {
    for (size_t j = 0; j < columns; ++j, out += product.out.column_stride)
      *out = narrow<T>(alpha * totals[j]);
    return;
  }
  const T* bias = at(product.bias);
  for (size_t j = 0; j < columns; ++j, out += product.out.column_stride, bias += product.bias.column_stride) {
    *out = narrow<T>(alpha * totals[j] + beta * widen(*bias));
  }
}

template <class T>
void multiply_direct(const Product& product) {
  const Matrix& a = product.a;
  const Matrix& b = product.b;
  // As in BLAS, alpha 0 means that the matrices are not read.
  const size_t depth = scalar_as<Accumulator<T>>(product.alpha) == Accumulator<T>(0) ? 0 : product.depth;
  for (size_t j = 0; j < product.columns; j += kTile) {
    const size_t columns = product.columns - j < kTile ? product.columns - j : kTile;
    const auto column = static_cast<ptrdiff_t>(j);
    for (size_t i = 0; i < product.rows; ++i) {
      const auto row = static_cast<ptrdiff_t>(i);
      Accumulator<T> totals[kTile] = {};
      // A partial sum has at most kBlock products; the total adds depth / kBlock of these.
      for (size_t k = 0; k < depth; k += kBlock) {
        const auto start = static_cast<ptrdiff_t>(k);
        Accumulator<T> sums[kTile] = {};
        add_products(sums, columns, depth - k < kBlock ? depth - k : kBlock,
                     static_cast<const T*>(a.data) + row * a.row_stride + start * a.column_stride,
                     a.column_stride,
                     static_cast<const T*>(b.data) + start * b.row_stride + column * b.column_stride, b);
        for (size_t t = 0; t < columns; ++t) totals[t] += sums[t];
      }
      write_row<T>(product, totals, columns, row, column);
    }
  }
}

// Products of elements whose dtype is not the accumulator type A: both matrices are converted a block at a
// time. This costs time, but one copy of the code serves all dtypes with the same A.
template <class A>
class ConvertingProduct {
 public:
  explicit ConvertingProduct(const Product& product)
      : product_(product), size_(static_cast<ptrdiff_t>(element_size(product.type))) {}

  void multiply() const {
    const auto alpha = scalar_as<A>(product_.alpha);
    const size_t depth = alpha == A(0) ? 0 : product_.depth;
    for (size_t i = 0; i < product_.rows; ++i) {
      for (size_t j = 0; j < product_.columns; j += kTile) {
        const size_t columns = product_.columns - j < kTile ? product_.columns - j : kTile;
        A totals[kTile] = {};
        for (size_t k = 0; k < depth; k += kBlock) {
          add_block(totals, columns, i, j, k, depth - k < kBlock ? depth - k : kBlock);
        }
        for (size_t t = 0; t < columns; ++t) totals[t] *= alpha;
        add_bias(totals, columns, i, j);
        convert_span(at(product_.out, i, j), product_.out.column_stride * size_, product_.type, totals,
                     sizeof(A), kHeld, columns);
      }
    }
  }

 private:
  // Unsigned sums wrap without undefined behavior; their low bits are right for every integer dtype.
  static constexpr ScalarType kHeld = std::is_same_v<A, float> ? ScalarType::Float : ScalarType::Long;

  [[nodiscard]] char* at(const Matrix& matrix, size_t i, size_t j) const {
    return static_cast<char*>(matrix.data) + (static_cast<ptrdiff_t>(i) * matrix.row_stride +
                                              static_cast<ptrdiff_t>(j) * matrix.column_stride) *
                                                 size_;
  }
  void load(A* values, const char* source, ptrdiff_t stride, size_t n) const {
    convert_span(values, sizeof(A), kHeld, source, stride * size_, product_.type, n);
  }

  void add_block(A* totals, size_t columns, size_t i, size_t j, size_t k, size_t depth) const {
    // Converts the row again for each tile, and each column again for each row: O(rows * columns * depth)
    // conversions.
    A row[kBlock];
    A column[kBlock];
    load(row, at(product_.a, i, k), product_.a.column_stride, depth);
    for (size_t t = 0; t < columns; ++t) {
      load(column, at(product_.b, k, j + t), product_.b.row_stride, depth);
      totals[t] += dot(row, column, depth);
    }
  }

  void add_bias(A* totals, size_t columns, size_t i, size_t j) const {
    const auto beta = scalar_as<A>(product_.beta);
    if (product_.bias.data == nullptr || beta == A(0)) return;
    A bias[kTile];
    load(bias, at(product_.bias, i, j), product_.bias.column_stride, columns);
    for (size_t t = 0; t < columns; ++t) totals[t] += beta * bias[t];
  }

  const Product& product_;
  ptrdiff_t size_;
};

// Integers have direct loops in builds for speed.
#ifdef __OPTIMIZE_SIZE__
constexpr bool kDirectIntegers = false;
#else
constexpr bool kDirectIntegers = true;
#endif
template <class T>
constexpr bool kIsDirect =
    std::is_floating_point_v<T> || (kDirectIntegers && std::is_integral_v<T> && !std::is_same_v<T, bool>);

template <class T>
void multiply_as(const Product& product) {
  if constexpr (kIsDirect<T>) {
    multiply_direct<T>(product);
  } else if constexpr (std::is_integral_v<T>) {
    ConvertingProduct<uint64_t>(product).multiply();
  } else {
    ConvertingProduct<float>(product).multiply();
  }
}

#ifndef __OPTIMIZE_SIZE__
Matrix transposed(const Matrix& matrix) { return {matrix.data, matrix.column_stride, matrix.row_stride}; }
#endif

Error multiply_real(const Product& product) {
#ifndef __OPTIMIZE_SIZE__
  // Few columns would fill a small part of each tile: C^T = B^T A^T exchanges strides only.
  constexpr size_t kFew = 4;
  if (product.columns <= kFew && product.rows > product.columns) {
    Product other = product;
    other.rows = product.columns;
    other.columns = product.rows;
    other.a = transposed(product.b);
    other.b = transposed(product.a);
    other.out = transposed(product.out);
    other.bias = transposed(product.bias);
    return multiply_real(other);
  }
#endif
  return dispatch<kRealTypes>(product.type, [&](auto type) {
    multiply_as<typename decltype(type)::Element>(product);
    return Error::Ok;
  });
}

// The matrix of the real (which = 0) or imaginary (1) parts of a complex matrix; `type` is their dtype.
Matrix parts_of(const Matrix& matrix, size_t which, ScalarType type) {
  if (matrix.data == nullptr) return matrix;
  return {static_cast<char*>(matrix.data) + which * element_size(type), 2 * matrix.row_stride,
          2 * matrix.column_stride};
}

// Each part of a complex result is the sum of two real products.
Error multiply_complex(const Product& product) {
  Product real = product;
  real.type = component_type(product.type);
  for (const size_t which : {0, 1}) {
    real.out = parts_of(product.out, which, real.type);
    // Real part (which = 0): re(a) re(b) - im(a) im(b); imaginary part: re(a) im(b) + im(a) re(b).
    // Conjugation of `a` negates im(a).
    for (const size_t of_a : {0, 1}) {
      const size_t of_b = of_a ^ which;
      real.a = parts_of(product.a, of_a, real.type);
      real.b = parts_of(product.b, of_b, real.type);
      const double alpha = product.alpha.to<double>();
      real.alpha = of_a == 1 && (of_b == 1) != product.conjugates_a ? -alpha : alpha;
      // The second product is added to the first.
      real.bias = of_a == 0 ? parts_of(product.bias, which, real.type) : real.out;
      real.beta = of_a == 0 ? product.beta : Scalar(1);
      RL_TRY(multiply_real(real));
    }
  }
  return Error::Ok;
}

}  // namespace

Error multiply(const Product& product) {
  if constexpr (kMultipliesComplex) {
    if (contains(kTypes & types::kComplex, product.type)) return multiply_complex(product);
  }
  return multiply_real(product);
}

}  // namespace rushlight::kernels
