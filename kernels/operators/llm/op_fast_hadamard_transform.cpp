// SPDX-License-Identifier: BSD-3-Clause
// Multiplies the last dimension by a Hadamard matrix, for SpinQuant's rotations: the fast Walsh-Hadamard
// transform (Fino and Algazi, 1976), n log n sums and differences, scaled by 2^(-k/2). For 28 * 2^k values it
// also applies the factor of order 28, unscaled as in ExecuTorch. Works in place in `out`, in its dtype.
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/walk/paired_fibers.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr size_t kOrder = 28;
constexpr size_t kBlock = 7;
constexpr size_t kBlocks = kOrder / kBlock;

// The Hadamard matrix of order 28 ("had.28.will" of Sloane's library): 4 x 4 circulant blocks of 7 x 7, each
// given by the signs of its first row. Bit i is set if element i is -1.
constexpr uint8_t kFirstRows[kBlocks][kBlocks] = {
    {0x7e, 0x3c, 0x5a, 0x66}, {0x43, 0x7e, 0x19, 0x5a}, {0x25, 0x66, 0x7e, 0x43}, {0x19, 0x25, 0x3c, 0x7e}};

// Row r of a circulant block is its first row, rotated right by r.
bool is_negative(size_t row, size_t column) {
  const size_t shift = (kBlock + column % kBlock - row % kBlock) % kBlock;
  return (kFirstRows[row / kBlock][column / kBlock] >> shift & 1) != 0;
}

struct Sizes {
  size_t factor = 1;  // 1 or kOrder
  size_t power = 1;   // a power of two
};

bool is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

Error read_sizes(const Tensor& mat, Sizes* sizes) {
  RL_CHECK(mat.dim() > 0, Error::InvalidArgument, "mat: expected at least 1 dimension, got 0");
  const auto n = static_cast<size_t>(mat.size(mat.dim() - 1));
  if (n % kOrder == 0) sizes->factor = kOrder;
  sizes->power = n / sizes->factor;
  RL_CHECK(n == 0 || is_power_of_two(sizes->power), Error::InvalidArgument,
           "mat: last size: expected a power of two, or 28 times one, got %zu", n);
  return Error::Ok;
}

// The elements of a fiber, `step` elements apart.
template <class T>
struct Numbers {
  T* data;
  ptrdiff_t step;

  T& operator[](size_t i) const { return data[static_cast<ptrdiff_t>(i) * step]; }
};

// Butterflies in place, log2(n) passes, then the scale. 16-bit floats are rounded after each pass.
template <class T>
void transform_power(Numbers<T> x, size_t n) {
  using C = std::conditional_t<sizeof(T) == sizeof(double), double, float>;
  for (size_t half = 1; half < n; half *= 2) {
    for (size_t start = 0; start < n; start += 2 * half) {
      for (size_t i = start; i < start + half; ++i) {
        const auto a = static_cast<C>(x[i]);
        const auto b = static_cast<C>(x[i + half]);
        x[i] = static_cast<T>(a + b);
        x[i + half] = static_cast<T>(a - b);
      }
    }
  }
  const C scale = C(1) / std::sqrt(static_cast<C>(n));
  for (size_t i = 0; i < n; ++i) x[i] = static_cast<T>(static_cast<C>(x[i]) * scale);
}

// Multiplies kOrder elements by the matrix of order 28: 28^2 additions of a copy on the stack.
template <class T>
void transform_order(Numbers<T> x) {
  using C = std::conditional_t<sizeof(T) == sizeof(double), double, float>;
  C given[kOrder];
  for (size_t i = 0; i < kOrder; ++i) given[i] = static_cast<C>(x[i]);
  for (size_t row = 0; row < kOrder; ++row) {
    C sum = 0;
    for (size_t i = 0; i < kOrder; ++i) sum += is_negative(row, i) ? -given[i] : given[i];
    x[row] = static_cast<T>(sum);
  }
}

// The matrix is the Kronecker product of the factor and the power: transforms each span of `power` elements,
// then the elements at the same position in all spans.
template <class T>
void transform(Numbers<T> x, const Sizes& sizes) {
  for (size_t i = 0; i < sizes.factor; ++i) {
    transform_power<T>({x.data + static_cast<ptrdiff_t>(i * sizes.power) * x.step, x.step}, sizes.power);
  }
  if (sizes.factor == 1) return;
  const ptrdiff_t step = static_cast<ptrdiff_t>(sizes.power) * x.step;
  for (size_t i = 0; i < sizes.power; ++i) transform_order<T>({&x[i], step});
}

}  // namespace

Error fast_hadamard_transform_out(KernelContext&, const Tensor& mat, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("llama::fast_hadamard_transform.out");
  Sizes sizes;
  RL_TRY(read_sizes(mat, &sizes));
  RL_TRY(check_same_dtype(mat, out, "mat and out"));
  PairedFibers fibers;
  RL_TRY(fibers.plan(mat, -1, out));
  return dispatch<kTypes>(out.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    fibers.for_each<T, T>([&](const FiberPair<T, T>& pair) {
      for (size_t i = 0; i < pair.size; ++i) pair.at(i) = pair.get(i);
      transform<T>({pair.output, pair.output_stride}, sizes);
    });
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
