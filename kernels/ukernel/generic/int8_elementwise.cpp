// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/int8_elementwise.h"

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

const int8_t* row_of(const RowInput& input, size_t row) {
  return reinterpret_cast<const int8_t*>(static_cast<const char*>(input.data) +
                                         static_cast<ptrdiff_t>(row) * input.stride);
}

#if RL_VECTOR_BYTES > 4
// As many numbers as a vector of int32 has. Conversions go by int16: GCC converts one lane after the other
// where the size changes by more than two.
using Numbers = int8_t __attribute__((vector_size(kLanes)));
using Halves = int16_t __attribute__((vector_size(2 * kLanes)));

// Each number of a row, or one for all of them.
struct Source {
  const int8_t* at;
  bool one;
  RL_INLINE I32 read(size_t i) const {
    if (one) return splat(int32_t{*at});
    Numbers numbers;
    std::memcpy(&numbers, at + i, sizeof numbers);
    return __builtin_convertvector(__builtin_convertvector(numbers, Halves), I32);
  }
};

RL_INLINE size_t add_vectors(const QuantizedSum& sum, const Source& a, const Source& b, size_t n,
                             int8_t* out) {
  const I32 first = splat(sum.multipliers[0]), second = splat(sum.multipliers[1]);
  const I32 low = splat(sum.low - sum.zero_point), high = splat(sum.high - sum.zero_point);
  const I32 offset = splat(sum.offset), zero_point = splat(sum.zero_point);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    I32 value = (a.read(i) * first + (offset + b.read(i) * second)) >> sum.shift;
    value = select(value < low, low, value);
    value = select(value > high, high, value) + zero_point;
    const Numbers numbers = __builtin_convertvector(__builtin_convertvector(value, Halves), Numbers);
    std::memcpy(out + i, &numbers, sizeof numbers);
  }
  return i;
}

size_t add_row(const QuantizedSum& sum, const RowInput& a, const RowInput& b, size_t row, size_t n,
               int8_t* out) {
  const int8_t* first = row_of(a, row);
  const int8_t* second = row_of(b, row);
  if (!a.one && !b.one) return add_vectors(sum, {first, false}, {second, false}, n, out);
  return add_vectors(sum, {first, a.one}, {second, b.one}, n, out);
}
#else
size_t add_row(const QuantizedSum&, const RowInput&, const RowInput&, size_t, size_t, int8_t*) { return 0; }
#endif

}  // namespace

void add_int8(const Rows& rows, const QuantizedSum& sum) {
  const RowInput &a = rows.in[0], &b = rows.in[1];
  for (size_t row = 0; row < rows.count; ++row) {
    auto* out =
        reinterpret_cast<int8_t*>(static_cast<char*>(rows.out) + static_cast<ptrdiff_t>(row) * rows.stride);
    const int8_t* first = row_of(a, row);
    const int8_t* second = row_of(b, row);
    for (size_t i = add_row(sum, a, b, row, rows.n, out); i < rows.n; ++i) {
      out[i] = static_cast<int8_t>(sum(first[a.one ? 0 : i], second[b.one ? 0 : i]));
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
