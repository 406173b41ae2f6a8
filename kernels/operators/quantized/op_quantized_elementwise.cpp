// SPDX-License-Identifier: BSD-3-Clause
// Sums, products and quotients of two quantized tensors with separate scales, with broadcasting.
//
// A sum follows XNNPACK:
//
//   out = clamp(((self * self_multiplier + other * other_multiplier + offset) >> shift) + zero point, min,
//   max)
//
// in 32 bits, or 64 for int16; the arguments are checked so that nothing overflows. The offset combines both
// zero points and the rounding constant, half of the last bit kept. A negative multiplier subtracts.
//
// A product multiplies the values minus their zero points (17 bits, or 31 for int16) and requantizes by self
// scale * other scale / output scale.
//
// A quotient is rounded once, half to even, after one 64-bit division. x / 0 is infinite and clamped; 0 / 0
// is 0, the value that quantize gives NaN.
#include "kernels/backs/backs.h"
#include "kernels/backs/quantized_elementwise.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/integer_pairs.h"
#include "kernels/quantization/one_scale.h"
#include "kernels/quantization/requantization.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kSumTypes = selected_types("rushlight::quantized_add.out") & kQuantizedElements;
constexpr TypeSet kByteSumTypes = kSumTypes & kByteTypes;
constexpr TypeSet kShortSumTypes = kSumTypes & type_set(ScalarType::Short);
constexpr TypeSet kProductTypes = selected_types("rushlight::quantized_mul.out") & kQuantizedElements;
constexpr TypeSet kQuotientTypes = selected_types("rushlight::quantized_div.out") & kByteTypes;
// Limits of `shift`; they keep every shift below the width of its type.
constexpr int64_t kMostShift = 30;
constexpr int64_t kLeastShift = -31;

// Checks a sum of int16: |multipliers| < 2^31, so that both products and the offset together fit in 64 bits.
Error check_wide_sum(int64_t a, int64_t b, int64_t offset, int64_t shift) {
  constexpr int64_t kMost = INT32_MAX, kMostOffset = int64_t{1} << 62;
  constexpr int64_t kMostWideShift = 62;
  RL_CHECK(shift >= 0 && shift <= kMostWideShift, Error::InvalidArgument, "shift: expected 0 to 62, got %ld",
           static_cast<long>(shift));
  RL_CHECK(a >= -kMost && a <= kMost && b >= -kMost && b <= kMost && offset >= -kMostOffset &&
               offset <= kMostOffset,
           Error::InvalidArgument, "multipliers and offset: expected 32 bits and 63, got %ld, %ld and %ld",
           static_cast<long>(a), static_cast<long>(b), static_cast<long>(offset));
  return Error::Ok;
}

// InvalidArgument unless all intermediate sums for elements of this dtype fit in 32 bits.
Error check_sum(ScalarType type, int64_t a, int64_t b, int64_t offset, int64_t shift) {
  // uint8 elements are at most 255, int8 at most 128 in magnitude.
  const int64_t largest = type == ScalarType::Byte ? 255 : 128;
  constexpr int64_t kMost = INT32_MAX;
  RL_CHECK(shift >= 0 && shift <= kMostShift, Error::InvalidArgument, "shift: expected 0 to 30, got %ld",
           static_cast<long>(shift));
  const auto fits = [](int64_t number) { return number >= -kMost && number <= kMost; };
  const auto size = [](int64_t number) { return number < 0 ? -number : number; };
  RL_CHECK(fits(a) && fits(b) && fits(offset) && largest * (size(a) + size(b)) + size(offset) <= kMost,
           Error::InvalidArgument,
           "multipliers and offset: sums of elements times %ld and %ld, and %ld may have more than 32 bits",
           static_cast<long>(a), static_cast<long>(b), static_cast<long>(offset));
  return Error::Ok;
}

// self / other * multiplier * 2^(shift - 31), where self and other are values minus their zero points.
struct QuantizedQuotient {
  int32_t zero_points[2];
  int32_t multiplier;
  int doublings;  // 31 - shift, applied to the divisor
  int32_t zero_point;
  int32_t low;
  int32_t high;

  [[nodiscard]] int32_t operator()(int32_t a, int32_t b) const {
    // With more doublings every quotient is below 1/2: 255 * multiplier has 39 bits.
    constexpr int kMostDoublings = 41;
    // The zero points of bytes are bytes, so differences have at most 255 in magnitude.
    const int64_t dividend = static_cast<int64_t>(a - zero_points[0]) * multiplier;
    const int32_t divisor = b - zero_points[1];
    if (divisor == 0)
      return dividend == 0 ? ukernel::clamp_quantized(0, low, high) : dividend < 0 ? low : high;
    if (doublings > kMostDoublings) return ukernel::clamp_quantized(zero_point, low, high);
    const int64_t size = static_cast<int64_t>(divisor < 0 ? -divisor : divisor) << doublings;
    return ukernel::clamp_quantized(rounded(divisor < 0 ? -dividend : dividend, size) + zero_point, low,
                                    high);
  }

  // a / b to the nearest integer, halves to even; b > 0. Computes floor((2 a + b) / (2 b)), which rounds
  // halves up; a rest of 0 is a half, and an odd quotient then decreases.
  static int64_t rounded(int64_t a, int64_t b) {
    const int64_t twice = 2 * a + b;
    int64_t quotient = twice / (2 * b);
    const int64_t rest = twice - quotient * 2 * b;
    if (rest < 0) --quotient;
    if (rest == 0 && quotient % 2 != 0) --quotient;
    return quotient;
  }
};

}  // namespace

Error add_quantized_out(KernelContext& context, const Tensor& self, const Tensor& other,
                        int64_t self_multiplier, int64_t other_multiplier, int64_t offset, int64_t shift,
                        int64_t output_zero_point, int64_t output_min, int64_t output_max, Tensor& out) {
  RL_TRY(check_pair(kSumTypes, self, other, out));
  RL_TRY(check_quantized_range({output_zero_point, output_min, output_max}, self.scalar_type()));
  const auto narrow = [](int64_t number) { return static_cast<int32_t>(number); };
  if (contains(kSumTypes, ScalarType::Short) && self.scalar_type() == ScalarType::Short) {
    // Products of 16 and 32 bits.
    RL_TRY(check_wide_sum(self_multiplier, other_multiplier, offset, shift));
    RL_TRY(resize_to_pair(self, other, out));
    const ukernel::QuantizedSumIn<int64_t> wide{{narrow(self_multiplier), narrow(other_multiplier)},
                                                offset,
                                                narrow(shift),
                                                narrow(output_zero_point),
                                                narrow(output_min),
                                                narrow(output_max)};
    return compute_pairs<kShortSumTypes>(wide, self, other, out);
  }
  RL_TRY(check_sum(self.scalar_type(), self_multiplier, other_multiplier, offset, shift));
  RL_TRY(resize_to_pair(self, other, out));
  const ukernel::QuantizedSum sum{{narrow(self_multiplier), narrow(other_multiplier)},
                                  narrow(offset),
                                  narrow(shift),
                                  narrow(output_zero_point),
                                  narrow(output_min),
                                  narrow(output_max)};
  const QuantizedAddProblem problem{{self, other, out}, sum};
  return backs::add_quantized_out(context, problem,
                                  [&] { return compute_pairs<kByteSumTypes>(sum, self, other, out); });
}

Error quantized_mul_out(KernelContext& context, const Tensor& self, int64_t self_zero_point,
                        const Tensor& other, int64_t other_zero_point, const Tensor& multipliers,
                        const std::optional<Tensor>& shifts, std::string_view rounding,
                        int64_t output_zero_point, int64_t output_min, int64_t output_max, Tensor& out) {
  RL_TRY(check_pair(kProductTypes, self, other, out));
  RL_TRY(check_zero_point(self_zero_point, self.scalar_type(), "self_zero_point"));
  RL_TRY(check_zero_point(other_zero_point, self.scalar_type(), "other_zero_point"));
  RL_TRY(resize_to_pair(self, other, out));
  // The bound of a product: as large as a sum of `largest` elements, which make_requantization_of_sums
  // checks.
  const bool is_short = contains(kProductTypes, ScalarType::Short) && self.scalar_type() == ScalarType::Short;
  const size_t largest = is_short ? 32768 : 255;
  ukernel::Requantization proven;
  RL_TRY(make_requantization_of_sums(
      {std::nullopt, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}}, out,
      largest, &proven));
  const OneScale scale(proven);
  const ukernel::QuantizedProduct product{
      {static_cast<int32_t>(self_zero_point), static_cast<int32_t>(other_zero_point)}, scale.get()};
  const QuantizedMulProblem problem{{self, other, out}, product};
  return backs::quantized_mul_out(context, problem,
                                  [&] { return compute_pairs<kProductTypes>(product, self, other, out); });
}

// multiplier * 2^(shift - 31) is self scale / (other scale * output scale).
Error quantized_div_out(KernelContext&, const Tensor& self, int64_t self_zero_point, const Tensor& other,
                        int64_t other_zero_point, int64_t multiplier, int64_t shift,
                        int64_t output_zero_point, int64_t output_min, int64_t output_max, Tensor& out) {
  RL_TRY(check_pair(kQuotientTypes, self, other, out));
  RL_TRY(check_zero_point(self_zero_point, self.scalar_type(), "self_zero_point"));
  RL_TRY(check_zero_point(other_zero_point, self.scalar_type(), "other_zero_point"));
  RL_TRY(check_quantized_range({output_zero_point, output_min, output_max}, self.scalar_type()));
  RL_CHECK(multiplier >= 0 && multiplier <= INT32_MAX, Error::InvalidArgument,
           "multiplier: expected 0 to 2^31 - 1, got %ld", static_cast<long>(multiplier));
  RL_CHECK(shift >= kLeastShift && shift <= kMostShift, Error::InvalidArgument,
           "shift: expected -31 to 30, got %ld", static_cast<long>(shift));
  RL_TRY(resize_to_pair(self, other, out));
  const auto narrow = [](int64_t number) { return static_cast<int32_t>(number); };
  const QuantizedQuotient quotient{{narrow(self_zero_point), narrow(other_zero_point)},
                                   narrow(multiplier),
                                   static_cast<int>(31 - shift),
                                   narrow(output_zero_point),
                                   narrow(output_min),
                                   narrow(output_max)};
  return compute_pairs<kQuotientTypes>(quotient, self, other, out);
}

}  // namespace rushlight::kernels
