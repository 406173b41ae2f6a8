// SPDX-License-Identifier: BSD-3-Clause
// Matrices of linear algebra. Their elements are float or double, real or complex, and are computed with
// as complex numbers of doubles: the algorithms are compiled once, and work in place in output tensors.
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

// A complex number of doubles. Its operators are functions, where those of Complex would be inlined: in
// software, double arithmetic is calls anyway.
struct ComplexNumber {
  double real = 0;
  double imag = 0;

  ComplexNumber() = default;
  ComplexNumber(double r, double i = 0) : real(r), imag(i) {}  // NOLINT: real numbers are complex ones
  friend bool operator==(ComplexNumber a, ComplexNumber b) { return a.real == b.real && a.imag == b.imag; }
};
ComplexNumber operator+(ComplexNumber a, ComplexNumber b);
ComplexNumber operator-(ComplexNumber a, ComplexNumber b);
ComplexNumber operator*(ComplexNumber a, ComplexNumber b);
ComplexNumber operator*(ComplexNumber a, double b);
ComplexNumber operator/(ComplexNumber a, ComplexNumber b);
inline ComplexNumber operator-(ComplexNumber z) { return {-z.real, -z.imag}; }

inline ComplexNumber conjugate(ComplexNumber z) { return {z.real, -z.imag}; }
double absolute(ComplexNumber z);
double squared(ComplexNumber z);

// Its real part alone, which is all there is in a build without complex dtypes.
struct RealNumber {
  double real = 0;
  static constexpr double imag = 0;

  RealNumber() = default;
  RealNumber(double r, double = 0) : real(r) {}  // NOLINT: as above
  friend bool operator==(RealNumber a, RealNumber b) { return a.real == b.real; }
};
inline RealNumber operator+(RealNumber a, RealNumber b) { return a.real + b.real; }
inline RealNumber operator-(RealNumber a, RealNumber b) { return a.real - b.real; }
inline RealNumber operator*(RealNumber a, RealNumber b) { return a.real * b.real; }
inline RealNumber operator*(RealNumber a, double b) { return a.real * b; }
inline RealNumber operator/(RealNumber a, RealNumber b) { return a.real / b.real; }
inline RealNumber operator-(RealNumber x) { return -x.real; }

inline RealNumber conjugate(RealNumber x) { return x; }
inline double absolute(RealNumber x) { return std::fabs(x.real); }
inline double squared(RealNumber x) { return x.real * x.real; }

using Number = std::conditional_t<kSelectsComplex, ComplexNumber, RealNumber>;

// Element (i, j) lies at data + i * row_step + j * column_step, in bytes.
struct MatrixView {
  char* data = nullptr;
  ScalarType type = ScalarType::Double;
  ptrdiff_t rows = 0;
  ptrdiff_t columns = 0;
  ptrdiff_t row_step = 0;
  ptrdiff_t column_step = 0;
  bool conjugated = false;  // elements in memory are the conjugates of those of the matrix

  // A matrix that lies row by row.
  [[nodiscard]] static MatrixView dense(void* data, ScalarType type, ptrdiff_t rows, ptrdiff_t columns);

  [[nodiscard]] Number get(ptrdiff_t i, ptrdiff_t j) const;
  void set(ptrdiff_t i, ptrdiff_t j, Number value) const;

  // The same memory as another matrix.
  [[nodiscard]] MatrixView transposed() const;
  [[nodiscard]] MatrixView adjoint() const;
  [[nodiscard]] MatrixView conjugate_of() const;
  // The first rows and columns.
  [[nodiscard]] MatrixView leading(ptrdiff_t some_rows, ptrdiff_t some_columns) const;

  // Sum over k in [begin, end) of the elements (i, k) of this and (k, j) of `other`.
  [[nodiscard]] Number dot(ptrdiff_t i, const MatrixView& other, ptrdiff_t j, ptrdiff_t begin,
                           ptrdiff_t end) const;
  // Column j loses `factor` times column k of `other`, in rows [begin, end).
  void subtract(ptrdiff_t j, const MatrixView& other, ptrdiff_t k, Number factor, ptrdiff_t begin,
                ptrdiff_t end) const;
  void swap_rows(ptrdiff_t a, ptrdiff_t b) const;
  // What of `source`, of the same size, lies on the diagonal number `lowest` or above it, to `highest`;
  // zeros elsewhere. Diagonals below the main one have negative numbers.
  void copy_band(const MatrixView& source, ptrdiff_t lowest, ptrdiff_t highest) const;
  void copy(const MatrixView& source) const { copy_band(source, -source.rows, source.columns); }
  void set_identity() const;
};

// The double type that holds results of `type`: complex or not.
constexpr ScalarType exact_type(ScalarType type) {
  return is_complex(type) ? ScalarType::ComplexDouble : ScalarType::Double;
}

// Tensors whose last dimensions are matrices or vectors, and whose other dimensions broadcast to the
// shape of a batch. `n` counts the batch in row-major order.
[[nodiscard]] char* element_of(const Tensor& tensor, size_t core_dims, const Shape& batch, size_t n);
[[nodiscard]] MatrixView matrix_of(const Tensor& tensor, const Shape& batch, size_t n);
// One column.
[[nodiscard]] MatrixView vector_of(const Tensor& tensor, const Shape& batch, size_t n);
// A number.
[[nodiscard]] MatrixView number_of(const Tensor& tensor, const Shape& batch, size_t n);
[[nodiscard]] int32_t& int32_of(const Tensor& tensor, const Shape& batch, size_t n);
[[nodiscard]] size_t batch_size(const Shape& batch);

// InvalidType when the dtype is not one of `types`; InvalidArgument unless there are two dimensions.
Error check_matrices(const Tensor& tensor, TypeSet types, const char* name);
// And InvalidArgument unless they are square.
Error check_square(const Tensor& tensor, TypeSet types, const char* name);
// InvalidType, naming the argument.
Error check_dtype(const Tensor& tensor, ScalarType type, const char* name);

// Gives `out` the batch's shape followed by the sizes.
Error resize_batched(const Tensor& out, const Shape& batch, std::initializer_list<ptrdiff_t> sizes);

// Gives `out` the sizes of `source` and copies.
Error copy_matrices(const Tensor& source, const Tensor& out);

// Scratch memory for a row-major matrix. MemoryAllocationFailed.
Error allocate_matrix(KernelContext& context, ScalarType type, ptrdiff_t rows, ptrdiff_t columns,
                      MatrixView* matrix);

}  // namespace rushlight::kernels
