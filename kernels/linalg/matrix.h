// SPDX-License-Identifier: BSD-3-Clause
// Matrices for linear algebra. Elements are float or double, real or complex; arithmetic is on complex
// numbers of doubles. So the algorithms are compiled once, and work in place in output tensors. Results are
// rounded to the dtype whenever an element is stored.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Access and arithmetic of elements are inlined in builds for speed only: without an FPU double arithmetic
// consists of calls anyway, and one copy of each saves code.
#ifdef __OPTIMIZE_SIZE__
#define RL_ELEMENTWISE [[gnu::noinline]] inline
#else
#define RL_ELEMENTWISE inline
#endif

// A complex number of doubles.
struct ComplexNumber {
  double real = 0;
  double imag = 0;

  ComplexNumber() = default;
  ComplexNumber(double r, double i = 0) : real(r), imag(i) {}  // NOLINT: real numbers are complex ones
  friend bool operator==(ComplexNumber a, ComplexNumber b) { return a.real == b.real && a.imag == b.imag; }
};
// Usual complex arithmetic; division scales its operands against overflow (see Complex).
RL_ELEMENTWISE ComplexNumber operator+(ComplexNumber a, ComplexNumber b) {
  return {a.real + b.real, a.imag + b.imag};
}
RL_ELEMENTWISE ComplexNumber operator-(ComplexNumber a, ComplexNumber b) {
  return {a.real - b.real, a.imag - b.imag};
}
RL_ELEMENTWISE ComplexNumber operator*(ComplexNumber a, double b) { return {a.real * b, a.imag * b}; }
RL_ELEMENTWISE ComplexNumber operator*(ComplexNumber a, ComplexNumber b) {
  return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}
// Without a real divisor, which diagonals and norms are.
ComplexNumber divide_complex(ComplexNumber a, ComplexNumber b);
RL_ELEMENTWISE ComplexNumber operator/(ComplexNumber a, ComplexNumber b) {
  if (b.imag == 0) return {a.real / b.real, a.imag == 0 ? 0 : a.imag / b.real};
  return divide_complex(a, b);
}
inline ComplexNumber operator-(ComplexNumber z) { return {-z.real, -z.imag}; }

inline ComplexNumber conjugate(ComplexNumber z) { return {z.real, -z.imag}; }
// |z| without overflow, and |z|^2.
inline double absolute(ComplexNumber z) {
  return z.imag == 0 ? std::fabs(z.real) : std::hypot(z.real, z.imag);
}
RL_ELEMENTWISE double squared(ComplexNumber z) { return z.real * z.real + z.imag * z.imag; }

// Only the real part, for builds without complex dtypes.
struct RealNumber {
  double real = 0;
  static constexpr double imag = 0;

  RealNumber() = default;
  RealNumber(double r, double = 0) : real(r) {}  // NOLINT: as above
  friend bool operator==(RealNumber a, RealNumber b) { return a.real == b.real; }
};
// The same operators for real numbers, inline because each is one operation.
inline RealNumber operator+(RealNumber a, RealNumber b) { return a.real + b.real; }
inline RealNumber operator-(RealNumber a, RealNumber b) { return a.real - b.real; }
inline RealNumber operator*(RealNumber a, RealNumber b) { return a.real * b.real; }
inline RealNumber operator*(RealNumber a, double b) { return a.real * b; }
inline RealNumber operator/(RealNumber a, RealNumber b) { return a.real / b.real; }
inline RealNumber operator-(RealNumber x) { return -x.real; }

inline RealNumber conjugate(RealNumber x) { return x; }
inline double absolute(RealNumber x) { return std::fabs(x.real); }
inline double squared(RealNumber x) { return x.real * x.real; }

// The type of elements in computations.
using Number = std::conditional_t<kSelectsComplex, ComplexNumber, RealNumber>;

// A strided view of a matrix. Element (i, j) is at data + i * row_step + j * column_step, in bytes. Does not
// own the memory; const views write to it.
struct MatrixView {
  char* data = nullptr;
  ScalarType type = ScalarType::Double;
  ptrdiff_t rows = 0;
  ptrdiff_t columns = 0;
  ptrdiff_t row_step = 0;
  ptrdiff_t column_step = 0;
  bool conjugated = false;  // memory holds the conjugates of the elements

  // A row-major matrix.
  [[nodiscard]] static MatrixView dense(void* data, ScalarType type, ptrdiff_t rows, ptrdiff_t columns);

  // Element access converts between the dtype and Number. No bounds are checked.
  [[nodiscard]] Number get(ptrdiff_t i, ptrdiff_t j) const;
  void set(ptrdiff_t i, ptrdiff_t j, Number value) const;
  [[nodiscard]] char* at(ptrdiff_t i, ptrdiff_t j) const { return data + i * row_step + j * column_step; }

  // True if the elements of a column, or of a row, are adjacent.
  [[nodiscard]] bool has_columns() const { return row_step == static_cast<ptrdiff_t>(element_size(type)); }
  [[nodiscard]] bool has_rows() const { return column_step == static_cast<ptrdiff_t>(element_size(type)); }

  // Views of the same memory.
  [[nodiscard]] MatrixView transposed() const;
  [[nodiscard]] MatrixView adjoint() const;
  [[nodiscard]] MatrixView conjugate_of() const;
  // The view of the first rows and columns of the matrix.
  [[nodiscard]] MatrixView leading(ptrdiff_t some_rows, ptrdiff_t some_columns) const;

  // Sum over k in [begin, end) of this(i, k) * other(k, j), in double. Fast unless only one is complex.
  [[nodiscard]] Number dot(ptrdiff_t i, const MatrixView& other, ptrdiff_t j, ptrdiff_t begin,
                           ptrdiff_t end) const;
  // The same for `count` columns of `other`, from j on, at most kSums. Faster than dot() if the rows of
  // `other` are contiguous.
  static constexpr ptrdiff_t kSums = 32;
  void dots(ptrdiff_t i, const MatrixView& other, ptrdiff_t j, ptrdiff_t count, ptrdiff_t begin,
            ptrdiff_t end, Number* sums) const;
  // Subtracts factors[c] * column k of `other` from column j + c, for c < count, in rows [begin, end). At
  // most kSums columns.
  void subtract(ptrdiff_t j, ptrdiff_t count, const MatrixView& other, ptrdiff_t k, const Number* factors,
                ptrdiff_t begin, ptrdiff_t end) const;
  // Multiplies column j in rows [begin, end).
  void multiply_column(ptrdiff_t j, Number factor, ptrdiff_t begin, ptrdiff_t end) const;
  // Divides column j in rows [begin, end), in builds for speed by the reciprocal.
  void divide_column(ptrdiff_t j, Number divisor, ptrdiff_t begin, ptrdiff_t end) const;
  // Exchanges two whole rows.
  void swap_rows(ptrdiff_t a, ptrdiff_t b) const;
  // Copies the elements of `source`, which has the same size, on diagonals [lowest, highest]; all others
  // become 0. Diagonals below the main one are negative.
  void copy_band(const MatrixView& source, ptrdiff_t lowest, ptrdiff_t highest) const;
  void copy(const MatrixView& source) const { copy_band(source, -source.rows, source.columns); }
  // Ones on the diagonal, zeros elsewhere; the matrix may have any shape.
  void set_identity() const;
};

namespace internal {

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

}  // namespace internal

RL_ELEMENTWISE Number MatrixView::get(ptrdiff_t i, ptrdiff_t j) const {
  Number value;
  if (component_type(type) == ScalarType::Float) {
    internal::read_parts<float>(at(i, j), type == ScalarType::Float, &value);
  } else {
    internal::read_parts<double>(at(i, j), type == ScalarType::Double, &value);
  }
  return conjugated ? conjugate(value) : value;
}

RL_ELEMENTWISE void MatrixView::set(ptrdiff_t i, ptrdiff_t j, Number value) const {
  if (conjugated) value = conjugate(value);
  if (component_type(type) == ScalarType::Float) {
    internal::write_parts<float>(at(i, j), type == ScalarType::Float, value);
  } else {
    internal::write_parts<double>(at(i, j), type == ScalarType::Double, value);
  }
}

#undef RL_ELEMENTWISE

// The double dtype for computations on `type`: complex or real.
constexpr ScalarType exact_type(ScalarType type) {
  return is_complex(type) ? ScalarType::ComplexDouble : ScalarType::Double;
}

// Elements of tensors whose last dimensions are matrices or vectors, and whose other dimensions broadcast to
// the shape of a batch. `n` is the row-major index in the batch. Cost: one division for each of its
// dimensions.
[[nodiscard]] char* element_of(const Tensor& tensor, size_t core_dims, const Shape& batch, size_t n);
[[nodiscard]] MatrixView matrix_of(const Tensor& tensor, const Shape& batch, size_t n);
// As one column.
[[nodiscard]] MatrixView vector_of(const Tensor& tensor, const Shape& batch, size_t n);
// A scalar, as a 1x1 matrix.
[[nodiscard]] MatrixView number_of(const Tensor& tensor, const Shape& batch, size_t n);
[[nodiscard]] int32_t& int32_of(const Tensor& tensor, const Shape& batch, size_t n);
[[nodiscard]] size_t batch_size(const Shape& batch);

// InvalidType unless `types` contains the dtype; InvalidArgument unless there are at least two dimensions.
Error check_matrices(const Tensor& tensor, TypeSet types, const char* name);
// The same, and InvalidArgument unless the matrices are square.
Error check_square(const Tensor& tensor, TypeSet types, const char* name);
// InvalidType, naming the argument, unless the tensor has this dtype.
Error check_dtype(const Tensor& tensor, ScalarType type, const char* name);

// Resizes `out` to the batch's shape followed by `sizes`. InvalidArgument.
Error resize_batched(const Tensor& out, const Shape& batch, std::initializer_list<ptrdiff_t> sizes);

// Resizes `out` to the sizes of `source` and copies. InvalidType, InvalidArgument.
Error copy_matrices(const Tensor& source, const Tensor& out);

// Allocates a row-major matrix in scratch memory. MemoryAllocationFailed.
Error allocate_matrix(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns,
                      MatrixView* matrix);
// The same with contiguous columns.
Error allocate_columns(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns,
                       MatrixView* matrix);

}  // namespace rushlight::kernels
