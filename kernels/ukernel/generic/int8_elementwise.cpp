// SPDX-License-Identifier: BSD-3-Clause
// Vectors of int32. A product p of two operands has 17 bits. p * multiplier / 2^16, rounded down, fits in 32
// bits and is the sum of three int32 products, whose carries are shifted in. The bits below cannot affect a
// result of kSingle.
#include "kernels/ukernel/int8_elementwise.h"

#include "kernels/ukernel/generic/rescaled_sum.inl"
#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

#if RL_VECTOR_BYTES > 4
// As many int8 as a vector has int32 lanes. Conversions go through int16: GCC converts lane by lane if the
// size changes by more than a factor of two.
using Numbers = int8_t __attribute__((vector_size(kLanes)));
using Halves = int16_t __attribute__((vector_size(2 * kLanes)));

// The elements of an operand's row, or one element for all.
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

template <class F>
RL_INLINE size_t compute_vectors(const F& function, const Source& a, const Source& b, size_t n, int8_t* out) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const I32 value = function(a.read(i), b.read(i));
    const Numbers numbers = __builtin_convertvector(__builtin_convertvector(value, Halves), Numbers);
    std::memcpy(out + i, &numbers, sizeof numbers);
  }
  return i;
}

template <class F>
RL_INLINE size_t compute_row(const F& function, const RowInput& a, const RowInput& b, size_t row, size_t n,
                             int8_t* out) {
  const int8_t* first = row_of(a, row);
  const int8_t* second = row_of(b, row);
  if (!a.one && !b.one) return compute_vectors(function, {first, false}, {second, false}, n, out);
  return compute_vectors(function, {first, a.one}, {second, b.one}, n, out);
}
#else
template <class F>
size_t compute_row(const F&, const RowInput&, const RowInput&, size_t, size_t, int8_t*) {
  return 0;
}
#endif

// Computes the elements of a row one at a time. Not inlined, so that its values stay in registers on cores
// with few; without steps if no operand is broadcast. `each` is a copy: stores of bytes may alias what a
// reference points to.
template <bool kSteps, class Each>
[[gnu::noinline]] void compute_each(const Each each, const int8_t* a, const int8_t* b, bool steps_a,
                                    int8_t* out, const int8_t* end) {
  while (out != end) {
    *out++ = static_cast<int8_t>(each(*a, *b));
    a += !kSteps || steps_a ? 1 : 0;
    b += !kSteps || !steps_a ? 1 : 0;
  }
}

// Applies function(I32, I32) to whole vectors and each(int32_t, int32_t) to the rest of a row.
template <class F, class Each>
RL_INLINE void compute(const Rows& rows, const F& function, const Each& each) {
  const RowInput &a = rows.in[0], &b = rows.in[1];
  for (size_t row = 0; row < rows.count; ++row) {
    auto* out =
        reinterpret_cast<int8_t*>(static_cast<char*>(rows.out) + static_cast<ptrdiff_t>(row) * rows.stride);
    const size_t done = compute_row(function, a, b, row, rows.n, out);
    const int8_t* first = row_of(a, row) + (a.one ? 0 : done);
    const int8_t* second = row_of(b, row) + (b.one ? 0 : done);
    if (!a.one && !b.one) {
      compute_each<false>(each, first, second, true, out + done, out + rows.n);
    } else if (a.one && b.one) {
      std::memset(out + done, each(*first, *second), rows.n - done);
    } else {
      compute_each<true>(each, first, second, !a.one, out + done, out + rows.n);
    }
  }
}

// Clamps before it adds the zero point, so that the sum cannot overflow.
struct Clamp {
  I32 low, high, zero_point;
  RL_INLINE Clamp(int32_t least, int32_t most, int32_t zero)
      : low(splat(least - zero)), high(splat(most - zero)), zero_point(splat(zero)) {}
  RL_INLINE I32 operator()(I32 value) const {
    value = select(value < low, low, value);
    return select(value > high, high, value) + zero_point;
  }
};

// floor((product * multiplier + 2^(30 - shift)) / 2^(31 - shift)), for shifts up to kMost.
struct SingleScale {
  static constexpr int kMost = 14;
  static constexpr int kLeast = -24;  // smaller shifts, and this one, round every product to 0

  I32 high, middle, low;  // 15, 8 and 8 bits of the multiplier
  I32 half;
  int dropped;  // bits shifted out before the half is added, where it would overflow
  int shift;

  RL_INLINE SingleScale(int32_t multiplier, int given)
      : high(splat(multiplier >> 16)),
        middle(splat((multiplier >> 8) & 0xff)),
        low(splat(multiplier & 0xff)) {
    // The total shift, 15 - kept, is up to 39: eight bits go first where the half would overflow.
    const int kept = given < kLeast ? kLeast : given;
    dropped = kept < -10 ? 8 : 0;
    shift = 15 - kept - dropped;
    half = splat(int32_t{1} << (shift - 1));
  }
  RL_INLINE I32 operator()(I32 product) const {
    const I32 carried = (product * middle + ((product * low) >> 8)) >> 8;
    return (((product * high + carried) >> dropped) + half) >> shift;
  }
};

}  // namespace

void add_int8(const Rows& rows, const QuantizedSum& sum) {
  const I32 first = splat(sum.multipliers[0]), second = splat(sum.multipliers[1]);
  const I32 offset = splat(sum.offset);
  const int shift = sum.shift;
  const Clamp clamp(sum.low, sum.high, sum.zero_point);
  compute(rows, [&](I32 a, I32 b) { return clamp((a * first + (offset + b * second)) >> shift); }, sum);
}

void multiply_int8_pairs(const Rows& rows, const QuantizedProduct& product) {
  const Requantization& to = product.to;
  const I32 first = splat(product.zero_points[0]), second = splat(product.zero_points[1]);
  if (to.rounding == Rounding::kFloat) {
    const F32 scale = splat(*to.scales);
    const F32 low = splat(static_cast<float>(to.low - to.zero_point));
    const F32 high = splat(static_cast<float>(to.high - to.zero_point));
    const F32 magic = splat(12582912.0F);  // see requantize_float()
    const I32 bias = splat(int32_t{0x4b400000} - to.zero_point);
    return compute(
        rows,
        [&](I32 a, I32 b) {
          F32 value = to_float((a - first) * (b - second)) * scale;
          value = select(value < low, low, value);
          return bits(select(value > high, high, value) + magic) - bias;
        },
        product);
  }
  if (to.rounding == Rounding::kSingle && *to.shifts <= SingleScale::kMost) {
    const SingleScale scaled(*to.multipliers, *to.shifts);
    const Clamp clamp(to.low, to.high, to.zero_point);
    return compute(rows, [&](I32 a, I32 b) { return clamp(scaled((a - first) * (b - second))); }, product);
  }
  compute_each(rows, product);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
