// SPDX-License-Identifier: BSD-3-Clause
// Three passes over a row: maximum, sum of table entries, requantized entries. Exponentials are looked up
// twice instead of being stored.
#include "kernels/quantization/integer_softmax.h"

#include "kernels/checks/selection.h"
#include "kernels/quantization/divided_scale.h"
#include "kernels/quantization/requantization.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = kQuantizedElements & (selected_types("rushlight::quantized_softmax.out") |
                                                 selected_types("cortex_m::softmax.out"));
constexpr size_t kBytes = 256;

// exp(-distance * input scale) * 2^30. `out` may alias the input, or any other tensor in a hostile program:
// the distance is reduced to the index range of the table.
template <class T>
int32_t exponential_of(const int32_t* table, int32_t distance) {
  if constexpr (sizeof(T) == 1) return table[static_cast<uint8_t>(distance)];
  // exp(-(256 h + l)) = exp(-256 h) * exp(-l): two tables of 256 entries instead of one of 65536.
  const auto unsigned_distance = static_cast<uint16_t>(distance);
  const int64_t product =
      int64_t{table[unsigned_distance % kBytes]} * table[kBytes + unsigned_distance / kBytes];
  return static_cast<int32_t>((product + (1 << 29)) >> 30);
}

template <class T>
void softmax(const FiberPair<T, T>& fiber, const int32_t* table, DividedScale* scale) {
  int32_t largest = fiber.get(0);
  for (size_t i = 1; i < fiber.size; ++i) {
    if (fiber.get(i) > largest) largest = fiber.get(i);
  }
  const auto exponential = [&](size_t i) { return exponential_of<T>(table, largest - fiber.get(i)); };
  uint64_t sum = 0;
  // The mask drops the sign of a hostile table's entries, so the sum is never negative.
  for (size_t i = 0; i < fiber.size; ++i) sum += static_cast<uint32_t>(exponential(i)) & INT32_MAX;
  // The softmax of an element is exponential / sum; the division is part of the scale.
  const ukernel::Requantization& to = scale->by(sum == 0 ? 1 : static_cast<int64_t>(sum));
  const int32_t multiplier = *to.multipliers;
  const int shift = *to.shifts;
  for (size_t i = 0; i < fiber.size; ++i) {
    const int64_t steps = ukernel::requantize_single(exponential(i), multiplier, shift);
    fiber.at(i) = static_cast<T>(ukernel::clamp_quantized(steps + to.zero_point, to.low, to.high));
  }
}

// Fixed point with 63 fraction bits: 2^63 is 1, the largest value.
constexpr uint64_t kOne = uint64_t{1} << 63;

// The product, rounded down: a * b / 2^63, from the four products of 32-bit halves.
uint64_t times(uint64_t a, uint64_t b) {
  const uint64_t a_high = a >> 32, a_low = static_cast<uint32_t>(a);
  const uint64_t b_high = b >> 32, b_low = static_cast<uint32_t>(b);
  const uint64_t first = a_high * b_low + ((a_low * b_low) >> 32);
  const uint64_t second = a_low * b_high + static_cast<uint32_t>(first);
  const uint64_t high = a_high * b_high + (first >> 32) + (second >> 32);
  return high << 1 | (second >> 31 & 1);
}

// exp(-x) by its Taylor series, for x below 2^-4: at most 13 terms.
uint64_t exponential_of_small(uint64_t x) {
  uint64_t sum = kOne, term = kOne;
  for (uint32_t n = 1; term != 0; ++n) {
    term = times(term, x) / n;
    sum = n % 2 == 1 ? sum - term : sum + term;
  }
  return sum;
}

}  // namespace

Error softmax_integers(const PairedFibers& fibers, ScalarType type, const int32_t* table,
                       const ukernel::Requantization& to) {
  DividedScale scale(to);
  return dispatch<kTypes>(type, [&](auto of) {
    using T = typename decltype(of)::Element;
    fibers.for_each<T, T>([&](const auto& fiber) { softmax(fiber, table, &scale); });
    return Error::Ok;
  });
}

void fill_exponentials(int32_t multiplier, int exponent, int32_t* table) {
  // Halves the scale, which is below 2^bits, until it is below 2^-4; each squaring undoes one halving and
  // costs one of the 63 bits.
  int bits = exponent + 32 - __builtin_clz(static_cast<uint32_t>(multiplier));
  const int halvings = bits > -4 ? bits + 4 : 0;
  const int shift = exponent - halvings + 63;
  const auto wide = static_cast<uint64_t>(multiplier);
  uint64_t step = exponential_of_small(shift >= 0 ? wide << shift : shift > -32 ? wide >> -shift : 0);
  for (int i = 0; i < halvings; ++i) step = times(step, step);
  // Each entry is the one before times `step`; 33 bits beyond the table's precision absorb the rounding.
  uint64_t exponential = kOne;
  for (size_t d = 0; d < kBytes; ++d) {
    table[d] = static_cast<int32_t>((exponential + (uint64_t{1} << 32)) >> 33);
    exponential = times(exponential, step);
  }
}

}  // namespace rushlight::kernels
