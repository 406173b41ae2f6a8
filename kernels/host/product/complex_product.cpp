// SPDX-License-Identifier: BSD-3-Clause
// Few rows are dot products, for which `b` is written column by column; with one column they read `b` as it
// is. Matrices whose rows are not contiguous are copied; so is a bias, of which one row is enough if it
// repeats along the columns.
#include "kernels/host/product/complex_product.h"

#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/host/gemm.h"
#include "kernels/linalg/matrix.h"
#include "kernels/ukernel/dot.h"
#include "runtime/tensor/complex.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels::host {

namespace {

constexpr TypeSet kParts = kConvertibleTypes & type_set(ScalarType::Float, ScalarType::Double);

// True if the rows of a matrix are contiguous real rows of twice the length.
bool is_dense(const Matrix& matrix, size_t columns) { return matrix.column_stride == 1 || columns <= 1; }

Matrix as_real(const Matrix& matrix) { return {matrix.data, 2 * matrix.row_stride, 1}; }

// A real matrix of `columns` complex columns at `at`, behind which `at` then points.
Matrix take(char** at, ScalarType part, size_t rows, size_t columns) {
  const Matrix matrix{*at, static_cast<ptrdiff_t>(2 * columns), 1};
  *at += (2 * rows * columns * element_size(part) + 63) / 64 * 64;
  return matrix;
}

template <class T>
Complex<T>* element(const Matrix& matrix, size_t row, size_t column) {
  return static_cast<Complex<T>*>(matrix.data) + static_cast<ptrdiff_t>(row) * matrix.row_stride +
         static_cast<ptrdiff_t>(column) * matrix.column_stride;
}

template <class T>
void copy(const Matrix& from, const Matrix& to, size_t rows, size_t columns) {
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) *element<T>(to, i, j) = *element<T>(from, i, j);
  }
}

// Writes the real form of `b`. Conjugation of `a` negates its imaginary parts, here the odd rows.
template <class T>
void expand(const Matrix& b, size_t depth, size_t columns, bool conjugates_a, const Matrix& to) {
  const T sign = conjugates_a ? T(-1) : T(1);
  T* rows = static_cast<T*>(to.data);
  for (size_t k = 0; k < depth; ++k, rows += 2 * to.row_stride) {
    T* at = rows;
    for (size_t j = 0; j < columns; ++j, at += 2 * to.column_stride) {
      const Complex<T> value = *element<T>(b, k, j);
      at[0] = value.real;
      at[to.column_stride] = value.imag;
      at[to.row_stride] = -sign * value.imag;
      at[to.row_stride + to.column_stride] = sign * value.real;
    }
  }
}

// The real product; `at` is memory for copies, `scratch` what is left for the product itself.
struct RealForm {
  Gemm gemm;
  char* scratch;
  bool copies_a;
  bool copies_out;
  bool copies_bias;

  RealForm(const Product& product, char* at) : gemm(product) {
    const ScalarType part = component_type(product.type);
    gemm.type = part;
    gemm.columns = 2 * product.columns;
    gemm.depth = gemm.alpha == 0 ? 0 : 2 * product.depth;
    const bool has_bias = product.bias.data != nullptr && gemm.beta != 0;
    copies_a = !is_dense(product.a, product.depth);
    copies_out = !is_dense(product.out, product.columns);
    copies_bias = has_bias && (!is_dense(product.bias, product.columns) || copies_out);
    gemm.a = copies_a ? take(&at, part, product.rows, product.depth) : as_real(product.a);
    gemm.out = copies_out ? take(&at, part, product.rows, product.columns) : as_real(product.out);
    gemm.bias = !has_bias ? Matrix() : (copies_bias ? gemm.out : as_real(product.bias));
    // The row is taken for every product, since only the call knows its bias.
    const Matrix row = take(&at, part, 1, product.columns);
    if (copies_bias && product.bias.row_stride == 0) gemm.bias = {row.data, 0, 1};
    if (product.rows <= 2 * ukernel::kDotRows) {
      const Matrix by_columns = take(&at, part, gemm.columns, product.depth);
      gemm.b = {by_columns.data, 1, by_columns.row_stride};
    } else {
      gemm.b = take(&at, part, 2 * product.depth, product.columns);
    }
    scratch = at;
  }
};

// True for few products with one vector.
bool is_few_dots(const Product& product) {
  return product.columns == 1 && product.rows <= 2 * ukernel::kDotRows;
}

// The sums are in double.
void multiply_dots(const Product& product) {
  const auto view_of = [&](const Matrix& matrix, bool conjugated) {
    const auto element = static_cast<ptrdiff_t>(element_size(product.type));
    return MatrixView{static_cast<char*>(matrix.data), product.type, 0, 0, matrix.row_stride * element,
                      matrix.column_stride * element,  conjugated};
  };
  const MatrixView a = view_of(product.a, product.conjugates_a);
  const MatrixView b = view_of(product.b, false);
  const MatrixView out = view_of(product.out, false);
  const auto alpha = product.alpha.to<double>();
  const auto beta = product.beta.to<double>();
  const auto depth = static_cast<ptrdiff_t>(alpha == 0 ? 0 : product.depth);
  for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(product.rows); ++i) {
    Number sum = a.dot(i, b, 0, 0, depth) * alpha;
    if (product.bias.data != nullptr && beta != 0) sum = sum + view_of(product.bias, false).get(i, 0) * beta;
    out.set(i, 0, sum);
  }
}

}  // namespace

// Only the call knows if the bias is copied.
size_t complex_scratch_bytes(const Product& product) {
  if (is_few_dots(product)) return 0;
  char* const no_memory = reinterpret_cast<char*>(uintptr_t{64});  // an address that is never accessed
  const RealForm real(product, no_memory);
  Gemm adding = real.gemm;
  adding.bias = adding.out = {no_memory, adding.out.row_stride, adding.out.column_stride};
  return static_cast<size_t>(real.scratch - no_memory) +
         std::max(scratch_bytes(real.gemm), scratch_bytes(adding));
}

Error multiply_complex(KernelContext& context, const Product& product, void* scratch) {
  if (product.rows == 0 || product.columns == 0) return Error::Ok;
  if (is_few_dots(product)) {
    multiply_dots(product);
    return Error::Ok;
  }
  const size_t bytes = complex_scratch_bytes(product);
  RL_CHECK(scratch != nullptr || bytes == 0, Error::MemoryAllocationFailed,
           "out of scratch memory: need %lu bytes", log_number(bytes));
  const RealForm real(product, static_cast<char*>(scratch));
  return dispatch<kParts>(real.gemm.type, [&](auto type) {
    using T = typename decltype(type)::Element;
    // The copies as complex matrices.
    const auto as_complex = [](const Matrix& matrix) {
      return Matrix{matrix.data, matrix.row_stride / 2, 1};
    };
    if (real.copies_bias) {
      const size_t rows = real.gemm.bias.row_stride == 0 ? 1 : product.rows;
      copy<T>(product.bias, as_complex(real.gemm.bias), rows, product.columns);
    }
    if (real.gemm.depth != 0) {
      if (real.copies_a) copy<T>(product.a, as_complex(real.gemm.a), product.rows, product.depth);
      expand<T>(product.b, product.depth, product.columns, product.conjugates_a, real.gemm.b);
    }
    RL_TRY(multiply(context, real.gemm, real.scratch));
    if (real.copies_out) copy<T>(as_complex(real.gemm.out), product.out, product.rows, product.columns);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels::host
