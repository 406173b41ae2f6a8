// SPDX-License-Identifier: BSD-3-Clause
// Element access converts on the fly; dot(), dots() and subtract(), which take most of the time, have loops
// for real elements of both widths in builds for speed, and for doubles in builds for size. An access costs
// an address, a test of the dtype and a conversion, which is little beside double arithmetic on cores without
// an FPU, and lets every algorithm work in place on any layout and dtype.
#include "kernels/linalg/matrix.h"

#include <utility>

#include "kernels/walk/paired_axes.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/tensor/complex.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

ComplexNumber divide_complex(ComplexNumber a, ComplexNumber b) {
  const Complex<double> result = Complex<double>(a.real, a.imag) / Complex<double>(b.real, b.imag);
  return {result.real, result.imag};
}

MatrixView MatrixView::dense(void* data, ScalarType type, ptrdiff_t rows, ptrdiff_t columns) {
  const auto element = static_cast<ptrdiff_t>(element_size(type));
  return {static_cast<char*>(data), type, rows, columns, columns * element, element};
}

// Exchanges the steps: no element moves.
MatrixView MatrixView::transposed() const {
  return {data, type, columns, rows, column_step, row_step, conjugated};
}

MatrixView MatrixView::adjoint() const { return transposed().conjugate_of(); }

MatrixView MatrixView::conjugate_of() const {
  MatrixView matrix = *this;
  matrix.conjugated = !conjugated;
  return matrix;
}

MatrixView MatrixView::leading(ptrdiff_t some_rows, ptrdiff_t some_columns) const {
  MatrixView matrix = *this;
  matrix.rows = some_rows;
  matrix.columns = some_columns;
  return matrix;
}

namespace {

// Elements of a row or column, which have a real dtype. Step in bytes.
template <class T>
struct Line {
  using Element = T;
  char* data;
  ptrdiff_t step;

  [[nodiscard]] T& operator[](ptrdiff_t i) const { return *reinterpret_cast<T*>(data + i * step); }
  [[nodiscard]] bool is_contiguous() const { return step == static_cast<ptrdiff_t>(sizeof(T)); }
  [[nodiscard]] T* elements() const { return reinterpret_cast<T*>(data); }
};
template <class T>
Line<T> row_of(const MatrixView& a, ptrdiff_t i, ptrdiff_t j) {
  return {a.at(i, j), a.column_step};
}
template <class T>
Line<T> column_of(const MatrixView& a, ptrdiff_t i, ptrdiff_t j) {
  return {a.at(i, j), a.row_step};
}

// Calls f(T{}, U{}) with the element types of two real matrices; false if there is no loop for them. Real
// elements are their own conjugates, so the flags need no test.
template <class F>
bool with_reals(const MatrixView& a, const MatrixView& b, F f) {
  const bool are_doubles = a.type == ScalarType::Double && b.type == ScalarType::Double;
  if (are_doubles) {
    f(double{}, double{});
    return true;
  }
#ifndef __OPTIMIZE_SIZE__
  const bool wide_a = a.type == ScalarType::Double;
  const bool wide_b = b.type == ScalarType::Double;
  if ((!wide_a && a.type != ScalarType::Float) || (!wide_b && b.type != ScalarType::Float)) return false;
  if (wide_a) {
    f(double{}, float{});
  } else if (wide_b) {
    f(float{}, double{});
  } else {
    f(float{}, float{});
  }
  return true;
#else
  return false;
#endif
}

template <class T, class U>
double sum_of_products(const Line<T>& a, const Line<U>& b, ptrdiff_t n) {
  ptrdiff_t k = 0;
  double sum = 0;
#ifndef __OPTIMIZE_SIZE__
  // Several sums side by side: the additions of one wait for each other.
  constexpr ptrdiff_t kSide = 8;
  double sums[kSide] = {};
  if (a.is_contiguous() && b.is_contiguous()) {
    const T* const x = a.elements();
    const U* const y = b.elements();
    for (; n - k >= kSide; k += kSide) {
      for (ptrdiff_t c = 0; c < kSide; ++c) sums[c] += double{x[k + c]} * double{y[k + c]};
    }
  } else {
    for (; n - k >= kSide; k += kSide) {
      for (ptrdiff_t c = 0; c < kSide; ++c) sums[c] += double{a[k + c]} * double{b[k + c]};
    }
  }
  for (const double each : sums) sum += each;
#endif
  for (; k < n; ++k) sum += double{a[k]} * double{b[k]};
  return sum;
}

}  // namespace

// Sums are in double: long sums of float32 elements are rounded once, when the result is stored.
Number MatrixView::dot(ptrdiff_t i, const MatrixView& other, ptrdiff_t j, ptrdiff_t begin,
                       ptrdiff_t end) const {
  Number sum;
  const bool is_done = with_reals(*this, other, [&](auto a, auto b) {
    sum.real = sum_of_products(row_of<decltype(a)>(*this, i, begin), column_of<decltype(b)>(other, begin, j),
                               end - begin);
  });
  for (ptrdiff_t k = begin; !is_done && k < end; ++k) sum = sum + get(i, k) * other.get(k, j);
  return sum;
}

void MatrixView::dots(ptrdiff_t i, const MatrixView& other, ptrdiff_t j, ptrdiff_t count, ptrdiff_t begin,
                      ptrdiff_t end, Number* sums) const {
  RL_DCHECK(count <= kSums);
#ifndef __OPTIMIZE_SIZE__
  if (other.column_step == static_cast<ptrdiff_t>(element_size(other.type))) {
    const bool is_done = with_reals(*this, other, [&](auto a, auto b) {
      const Line<decltype(a)> row = row_of<decltype(a)>(*this, i, begin);
      double totals[kSums];
      for (ptrdiff_t c = 0; c < count; ++c) totals[c] = 0;
      for (ptrdiff_t k = begin; k < end; ++k) {
        const double factor = row[k - begin];
        const auto* const from = row_of<decltype(b)>(other, k, j).elements();
        for (ptrdiff_t c = 0; c < count; ++c) totals[c] += factor * double{from[c]};
      }
      for (ptrdiff_t c = 0; c < count; ++c) sums[c] = totals[c];
    });
    if (is_done) return;
  }
#endif
  for (ptrdiff_t c = 0; c < count; ++c) sums[c] = dot(i, other, j + c, begin, end);
}

void MatrixView::subtract(ptrdiff_t j, ptrdiff_t count, const MatrixView& other, ptrdiff_t k,
                          const Number* factors, ptrdiff_t begin, ptrdiff_t end) const {
  const bool is_done = with_reals(*this, other, [&](auto a, auto b) {
    using T = decltype(a);
    double reals[kSums];
    for (ptrdiff_t c = 0; c < count; ++c) reals[c] = factors[c].real;
    for (ptrdiff_t i = begin; i < end; ++i) {
      const double value = *reinterpret_cast<const decltype(b)*>(other.at(i, k));
      const Line<T> row = row_of<T>(*this, i, j);
      if (row.is_contiguous()) {
        T* const to = row.elements();
        for (ptrdiff_t c = 0; c < count; ++c) to[c] = static_cast<T>(double{to[c]} - value * reals[c]);
      } else {
        for (ptrdiff_t c = 0; c < count; ++c) row[c] = static_cast<T>(double{row[c]} - value * reals[c]);
      }
    }
  });
  if (is_done) return;
  for (ptrdiff_t i = begin; i < end; ++i) {
    const Number value = other.get(i, k);
    for (ptrdiff_t c = 0; c < count; ++c) set(i, j + c, get(i, j + c) - value * factors[c]);
  }
}

// Through get() and set(), so that it also exchanges columns of a transposed view.
void MatrixView::swap_rows(ptrdiff_t a, ptrdiff_t b) const {
  if (a == b) return;
  for (ptrdiff_t j = 0; j < columns; ++j) {
    const Number kept = get(a, j);
    set(a, j, get(b, j));
    set(b, j, kept);
  }
}

// Reads every element at most once, and writes each after its read, so `source` may be this view.
void MatrixView::copy_band(const MatrixView& source, ptrdiff_t lowest, ptrdiff_t highest) const {
  for (ptrdiff_t i = 0; i < rows; ++i) {
    for (ptrdiff_t j = 0; j < columns; ++j) {
      set(i, j, j - i >= lowest && j - i <= highest ? source.get(i, j) : Number());
    }
  }
}

void MatrixView::set_identity() const {
  for (ptrdiff_t i = 0; i < rows; ++i) {
    for (ptrdiff_t j = 0; j < columns; ++j) set(i, j, i == j ? 1 : 0);
  }
}

char* element_of(const Tensor& tensor, size_t core_dims, const Shape& batch, size_t n) {
  char* at = tensor.mutable_data_ptr<char>();
  // Divides n into indices from the last batch dimension on; dimensions of size 1 repeat. The first dimension
  // needs no division.
  size_t own = tensor.sizes().size() - core_dims;
  for (size_t d = batch.dim; d-- > 0 && own > 0;) {
    const auto size = static_cast<size_t>(batch.sizes[d]);
    --own;
    const size_t rest = d > 0 ? n / size : 0;
    if (tensor.sizes()[own] != 1) at += static_cast<ptrdiff_t>(n - rest * size) * byte_stride(tensor, own);
    n = rest;
  }
  return at;
}

MatrixView matrix_of(const Tensor& tensor, const Shape& batch, size_t n) {
  const size_t rank = tensor.sizes().size();
  return {element_of(tensor, 2, batch, n), tensor.scalar_type(),          tensor.sizes()[rank - 2],
          tensor.sizes()[rank - 1],        byte_stride(tensor, rank - 2), byte_stride(tensor, rank - 1)};
}

MatrixView vector_of(const Tensor& tensor, const Shape& batch, size_t n) {
  const size_t rank = tensor.sizes().size();
  return {element_of(tensor, 1, batch, n), tensor.scalar_type(),         tensor.sizes()[rank - 1], 1,
          byte_stride(tensor, rank - 1),   byte_stride(tensor, rank - 1)};
}

MatrixView number_of(const Tensor& tensor, const Shape& batch, size_t n) {
  return {element_of(tensor, 0, batch, n), tensor.scalar_type(), 1, 1, 0, 0};
}

int32_t& int32_of(const Tensor& tensor, const Shape& batch, size_t n) {
  return *reinterpret_cast<int32_t*>(element_of(tensor, 0, batch, n));
}

size_t batch_size(const Shape& batch) {
  size_t count = 1;
  for (const SizesType size : batch.span()) count *= static_cast<size_t>(size);
  return count;
}

Error check_matrices(const Tensor& tensor, TypeSet types, const char* name) {
  if (!contains(types, tensor.scalar_type())) return unsupported_type(tensor.scalar_type());
  RL_CHECK(tensor.dim() >= 2, Error::InvalidArgument, "%s: expected 2 dimensions at least, got %d", name,
           static_cast<int>(tensor.dim()));
  return Error::Ok;
}

Error check_square(const Tensor& tensor, TypeSet types, const char* name) {
  RL_TRY(check_matrices(tensor, types, name));
  const ptrdiff_t rows = tensor.size(tensor.dim() - 2);
  const ptrdiff_t columns = tensor.size(tensor.dim() - 1);
  RL_CHECK(rows == columns, Error::InvalidArgument, "%s: expected square matrices, got %ld by %ld", name,
           static_cast<long>(rows), static_cast<long>(columns));
  return Error::Ok;
}

Error check_dtype(const Tensor& tensor, ScalarType type, const char* name) {
  RL_CHECK(tensor.scalar_type() == type, Error::InvalidType, "%s: expected dtype %s, got %s", name,
           to_string(type), to_string(tensor.scalar_type()));
  return Error::Ok;
}

Error resize_batched(const Tensor& out, const Shape& batch, std::initializer_list<ptrdiff_t> sizes) {
  Shape shape = batch;
  RL_CHECK(batch.dim + sizes.size() <= kTensorDimensionLimit, Error::InvalidArgument,
           "out: more than %d dimensions", static_cast<int>(kTensorDimensionLimit));
  for (const ptrdiff_t size : sizes) shape.push(size);
  return resize_out(out, shape.span());
}

Error copy_matrices(const Tensor& source, const Tensor& out) { return copy_to_out(View::of(source), out); }

Error allocate_matrix(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns,
                      MatrixView* matrix) {
  // The memory lives until the kernel returns.
  const size_t bytes = static_cast<size_t>(rows) * static_cast<size_t>(columns) * element_size(type);
  *matrix = MatrixView::dense(context.allocate_temp(bytes), type, rows, columns);
  RL_CHECK(matrix->data != nullptr, Error::MemoryAllocationFailed, "out of scratch memory: need %lu bytes",
           static_cast<unsigned long>(bytes));
  return Error::Ok;
}

}  // namespace rushlight::kernels
