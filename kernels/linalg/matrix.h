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

// A complex number of doubles. Its operators are not inline, unlike the operators of Complex: without an FPU
// double arithmetic consists of calls anyway, and this saves code.
struct ComplexNumber {
  double real = 0;
  double imag = 0;

  ComplexNumber() = default;
  ComplexNumber(double r, double i = 0) : real(r), imag(i) {}  // NOLINT: real numbers are complex ones
  friend bool operator==(ComplexNumber a, ComplexNumber b) { return a.real == b.real && a.imag == b.imag; }
};
// Usual complex arithmetic; division scales its operands against overflow (see Complex).
ComplexNumber operator+(ComplexNumber a, ComplexNumber b);
ComplexNumber operator-(ComplexNumber a, ComplexNumber b);
ComplexNumber operator*(ComplexNumber a, ComplexNumber b);
ComplexNumber operator*(ComplexNumber a, double b);
ComplexNumber operator/(ComplexNumber a, ComplexNumber b);
inline ComplexNumber operator-(ComplexNumber z) { return {-z.real, -z.imag}; }

inline ComplexNumber conjugate(ComplexNumber z) { return {z.real, -z.imag}; }
// |z| without overflow, and |z|^2.
double absolute(ComplexNumber z);
double squared(ComplexNumber z);

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

  // Views of the same memory.
  [[nodiscard]] MatrixView transposed() const;
  [[nodiscard]] MatrixView adjoint() const;
  [[nodiscard]] MatrixView conjugate_of() const;
  // The view of the first rows and columns of the matrix.
  [[nodiscard]] MatrixView leading(ptrdiff_t some_rows, ptrdiff_t some_columns) const;

  // Sum over k in [begin, end) of this(i, k) * other(k, j), in double, in order of k. Fast if both are real
  // doubles.
  [[nodiscard]] Number dot(ptrdiff_t i, const MatrixView& other, ptrdiff_t j, ptrdiff_t begin,
                           ptrdiff_t end) const;
  // Subtracts factor * column k of `other` from column j, in rows [begin, end).
  void subtract(ptrdiff_t j, const MatrixView& other, ptrdiff_t k, Number factor, ptrdiff_t begin,
                ptrdiff_t end) const;
  // Exchanges two whole rows.
  void swap_rows(ptrdiff_t a, ptrdiff_t b) const;
  // Copies the elements of `source`, which has the same size, on diagonals [lowest, highest]; all others
  // become 0. Diagonals below the main one are negative.
  void copy_band(const MatrixView& source, ptrdiff_t lowest, ptrdiff_t highest) const;
  void copy(const MatrixView& source) const { copy_band(source, -source.rows, source.columns); }
  // Ones on the diagonal, zeros elsewhere; the matrix may have any shape.
  void set_identity() const;
};

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

}  // namespace rushlight::kernels
