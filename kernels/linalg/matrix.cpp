// SPDX-License-Identifier: BSD-3-Clause
// Element access converts on the fly; only dot() and subtract() have fast loops, for real doubles. An access
// costs an address, a test of the dtype and a conversion, which is little beside double arithmetic on cores
// without an FPU, and lets every algorithm work in place on any layout and dtype.
#include "kernels/linalg/matrix.h"

#include <utility>

#include "kernels/walk/paired_axes.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/tensor/complex.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

ComplexNumber operator+(ComplexNumber a, ComplexNumber b) { return {a.real + b.real, a.imag + b.imag}; }
ComplexNumber operator-(ComplexNumber a, ComplexNumber b) { return {a.real - b.real, a.imag - b.imag}; }
ComplexNumber operator*(ComplexNumber a, double b) { return {a.real * b, a.imag * b}; }
ComplexNumber operator*(ComplexNumber a, ComplexNumber b) {
  return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}

ComplexNumber operator/(ComplexNumber a, ComplexNumber b) {
  // Real divisors are common (diagonals, norms) and need no complex division.
  if (b.imag == 0) return {a.real / b.real, a.imag == 0 ? 0 : a.imag / b.real};
  const Complex<double> result = Complex<double>(a.real, a.imag) / Complex<double>(b.real, b.imag);
  return {result.real, result.imag};
}

double absolute(ComplexNumber z) { return z.imag == 0 ? std::fabs(z.real) : std::hypot(z.real, z.imag); }
double squared(ComplexNumber z) { return z.real * z.real + z.imag * z.imag; }

MatrixView MatrixView::dense(void* data, ScalarType type, ptrdiff_t rows, ptrdiff_t columns) {
  const auto element = static_cast<ptrdiff_t>(element_size(type));
  return {static_cast<char*>(data), type, rows, columns, columns * element, element};
}

namespace {

// `real`: the elements have no imaginary part.
template <class T, class N>
void read_parts(const char* at, bool real, N* value) {
  const T* parts = reinterpret_cast<const T*>(at);
  value->real = parts[0];
  if constexpr (std::is_same_v<N, ComplexNumber>) {
    if (!real) value->imag = parts[1];
  }
}

template <class T>
void write_parts(char* at, bool real, Number value) {
  T* parts = reinterpret_cast<T*>(at);
  parts[0] = static_cast<T>(value.real);
  if (kSelectsComplex && !real) parts[1] = static_cast<T>(value.imag);
}

}  // namespace

Number MatrixView::get(ptrdiff_t i, ptrdiff_t j) const {
  const char* at = data + i * row_step + j * column_step;
  Number value;
  if (component_type(type) == ScalarType::Float) {
    read_parts<float>(at, type == ScalarType::Float, &value);
  } else {
    read_parts<double>(at, type == ScalarType::Double, &value);
  }
  return conjugated ? conjugate(value) : value;
}

void MatrixView::set(ptrdiff_t i, ptrdiff_t j, Number value) const {
  char* at = data + i * row_step + j * column_step;
  if (conjugated) value = conjugate(value);
  if (component_type(type) == ScalarType::Float) {
    write_parts<float>(at, type == ScalarType::Float, value);
  } else {
    write_parts<double>(at, type == ScalarType::Double, value);
  }
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

// A row or column of doubles: dot() and subtract() take most of the time, so they have a loop without
// conversions.
struct Doubles {
  char* data;
  ptrdiff_t step;
  double& operator[](ptrdiff_t i) const { return *reinterpret_cast<double*>(data + i * step); }
};
Doubles row_of(const MatrixView& a, ptrdiff_t i) { return {a.data + i * a.row_step, a.column_step}; }
Doubles column_of(const MatrixView& a, ptrdiff_t j) { return {a.data + j * a.column_step, a.row_step}; }

bool are_doubles(const MatrixView& a, const MatrixView& b) {
  return a.type == ScalarType::Double && b.type == ScalarType::Double;
}

}  // namespace

// The sum of row i with column j has one accumulator in double: long sums of float32 elements are rounded
// once, when the result is stored.
Number MatrixView::dot(ptrdiff_t i, const MatrixView& other, ptrdiff_t j, ptrdiff_t begin,
                       ptrdiff_t end) const {
  Number sum;
  // Real elements are their own conjugates, so the flags need no test here.
  if (are_doubles(*this, other)) {
    const Doubles row = row_of(*this, i);
    const Doubles column = column_of(other, j);
    for (ptrdiff_t k = begin; k < end; ++k) sum.real += row[k] * column[k];
    return sum;
  }
  for (ptrdiff_t k = begin; k < end; ++k) sum = sum + get(i, k) * other.get(k, j);
  return sum;
}

void MatrixView::subtract(ptrdiff_t j, const MatrixView& other, ptrdiff_t k, Number factor, ptrdiff_t begin,
                          ptrdiff_t end) const {
  if (are_doubles(*this, other)) {
    const Doubles target = column_of(*this, j);
    const Doubles source = column_of(other, k);
    for (ptrdiff_t i = begin; i < end; ++i) target[i] -= source[i] * factor.real;
    return;
  }
  for (ptrdiff_t i = begin; i < end; ++i) set(i, j, get(i, j) - other.get(i, k) * factor);
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
  const View view = View::of(tensor);
  char* at = view.data;
  // Divides n into indices from the last batch dimension on; dimensions of size 1 repeat.
  size_t own = view.dim - core_dims;
  for (size_t d = batch.dim; d-- > 0 && own > 0;) {
    const auto size = static_cast<size_t>(batch.sizes[d]);
    --own;
    if (view.sizes[own] != 1) at += static_cast<ptrdiff_t>(n % size) * view.strides[own];
    n /= size;
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
