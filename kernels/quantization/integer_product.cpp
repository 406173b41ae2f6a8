// SPDX-License-Identifier: BSD-3-Clause
// A row of the result at a time, with the sums of kBlock columns on the stack. Reads each row of b in order,
// and each element of a once for every kBlock columns.
#include "kernels/quantization/integer_product.h"

#include "kernels/checks/selection.h"
#include "kernels/quantization/requantization.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = kQuantizedElements & (selected_types("rushlight::quantized_matmul.out") |
                                                 selected_types("cortex_m::quantized_batch_matmul.out"));
constexpr ptrdiff_t kBlock = 32;  // columns that are summed together

// One row of the result.
template <class T>
void multiply_row(const ProductMatrices& product, const T* a, T* out, FactorZeroPoints zero_points,
                  const ukernel::Requantization& to) {
  const auto columns = static_cast<ptrdiff_t>(product.columns);
  for (ptrdiff_t first = 0; first < columns; first += kBlock) {
    const ptrdiff_t width = columns - first < kBlock ? columns - first : kBlock;
    ProductSum<T> sums[kBlock] = {};
    const auto* b = static_cast<const T*>(product.b.data) + first * product.b.column_stride;
    for (size_t k = 0; k < product.depth; ++k, b += product.b.row_stride) {
      // int16 factors let compilers use the widening multiply-accumulate of the processor. Elements of 8 bits
      // minus a zero point fit; elements of 16 bits have zero point 0.
      const auto left =
          static_cast<int16_t>(a[static_cast<ptrdiff_t>(k) * product.a.column_stride] - zero_points.a);
      if (product.b.column_stride == 1) {
        for (ptrdiff_t j = 0; j < width; ++j) sums[j] += left * static_cast<int16_t>(b[j] - zero_points.b);
      } else {
        for (ptrdiff_t j = 0; j < width; ++j)
          sums[j] += left * (b[j * product.b.column_stride] - zero_points.b);
      }
    }
    for (ptrdiff_t j = 0; j < width; ++j) {
      out[(first + j) * product.out.column_stride] = static_cast<T>(ukernel::requantize_sum(to, sums[j], 0));
    }
  }
}

template <class T>
void multiply_rows(const ProductMatrices& product, FactorZeroPoints zero_points,
                   const ukernel::Requantization& to) {
  for (size_t i = 0; i < product.rows; ++i) {
    const auto row = static_cast<ptrdiff_t>(i);
    multiply_row(product, static_cast<const T*>(product.a.data) + row * product.a.row_stride,
                 static_cast<T*>(product.out.data) + row * product.out.row_stride, zero_points, to);
  }
}

}  // namespace

Error multiply_integers(Product product, FactorZeroPoints zero_points, const ukernel::Requantization& to,
                        const Tensor& a, const Tensor& b, const Tensor& out) {
  // Matrices of a batch are independent; only their addresses differ.
  const size_t batches = out.dim() == 3 ? static_cast<size_t>(out.size(0)) : 1;
  return dispatch<kTypes>(out.scalar_type(), [&](auto type) {
    for (size_t batch = 0; batch < batches; ++batch) {
      product.a = Matrix::of(a, batch);
      product.b = Matrix::of(b, batch);
      product.out = Matrix::of(out, batch);
      multiply_rows<typename decltype(type)::Element>(product, zero_points, to);
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
