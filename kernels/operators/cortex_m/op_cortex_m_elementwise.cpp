// SPDX-License-Identifier: BSD-3-Clause
// Sums, products and quotients of ExecuTorch's Cortex-M backend, with broadcasting. Sums and products use
// fixed-point integers, as CMSIS-NN does. CMSIS-NN has no division: quotients are computed in float32 and
// rounded half to even. The arguments are checked so that no intermediate overflows; the loops check nothing.
#include <algorithm>
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/backs/quantized_elementwise.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/folded_columns.h"
#include "kernels/quantization/integer_pairs.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kInt8 = type_set(ScalarType::Char);
constexpr TypeSet kSumTypes = selected_types("cortex_m::quantized_add.out") & kInt8;
constexpr TypeSet kProductTypes = selected_types("cortex_m::quantized_mul.out") & kInt8;
constexpr TypeSet kQuotientTypes =
    selected_types("cortex_m::quantized_div.out") & (kInt8 | type_set(ScalarType::Short));

// Checks the multiplier and shift of an operand of a sum: the shift is limited so that rescaled values fit in
// 32 bits.
Error check_operand(int64_t zero_point, int64_t multiplier, int64_t shift, const char* name) {
  constexpr int kMostShift = 2;  // value - zero_point has 9 bits, and the sum shifts it left by 20 more
  RL_TRY(check_zero_point(zero_point, ScalarType::Char, name));
  RL_CHECK(multiplier >= -INT32_MAX && multiplier <= INT32_MAX && shift >= ukernel::kLeastShift &&
               shift <= kMostShift,
           Error::InvalidArgument,
           "%s, its multiplier and shift: expected less than 2^31 and %d to %d, got %ld and %ld", name,
           ukernel::kLeastShift, kMostShift, static_cast<long>(multiplier), static_cast<long>(shift));
  return Error::Ok;
}

// The largest |value - zero_point| of int8. Zero points may lie outside int8: in hardswish the exporter folds
// x + 3 into a smaller zero point.
Error largest_distance(int64_t zero_point, const char* name, int64_t* distance) {
  constexpr int64_t kMost = 1 << 20;
  RL_CHECK(zero_point >= -kMost && zero_point <= kMost, Error::InvalidArgument,
           "%s: expected %ld to %ld, got %ld", name, static_cast<long>(-kMost), static_cast<long>(kMost),
           static_cast<long>(zero_point));
  *distance = std::max(std::abs(INT8_MIN - zero_point), std::abs(INT8_MAX - zero_point));
  return Error::Ok;
}

// The largest magnitude of a rescaled operand. Rescaling is monotonic, so one of the two extremes has it.
int64_t largest_rescaled(const ukernel::RescaledSum& sum, int i) {
  return std::max(std::abs(int64_t{sum.rescaled(INT8_MIN, i)}), std::abs(int64_t{sum.rescaled(INT8_MAX, i)}));
}

// The quotient of two quantized values. Zero points are integers in the dtype; division by 0 gives 0.
// Differences have at most 17 bits, so they are exact in float32.
struct Quotient {
  float zero_points[2];
  float scale;
  float output_zero_point;
  float low;
  float high;

  [[nodiscard]] int32_t operator()(int32_t a, int32_t b) const {
    const float divisor = static_cast<float>(b) - zero_points[1];
    const float quotient = divisor == 0 ? 0.0F : (static_cast<float>(a) - zero_points[0]) / divisor;
    // Clamped in float, before the conversion, which is undefined for values beyond int32.
    const float value = std::nearbyintf(quotient * scale) + output_zero_point;
    return static_cast<int32_t>(std::min(std::max(value, low), high));
  }
};

}  // namespace

Error cortex_m_quantized_add_out(KernelContext& context, const Tensor& self, int64_t self_zero_point,
                                 int64_t self_multiplier, int64_t self_shift, const Tensor& other,
                                 int64_t other_zero_point, int64_t other_multiplier, int64_t other_shift,
                                 int64_t output_zero_point, int64_t output_multiplier, int64_t output_shift,
                                 int64_t activation_min, int64_t activation_max, Tensor& out) {
  RL_TRY(check_pair(kSumTypes, self, other, out));
  RL_TRY(check_operand(self_zero_point, self_multiplier, self_shift, "self_zero_point"));
  RL_TRY(check_operand(other_zero_point, other_multiplier, other_shift, "other_zero_point"));
  RL_TRY(resize_to_pair(self, other, out));
  const auto narrow = [](int64_t number) { return static_cast<int32_t>(number); };
  SumScale scale;
  const ukernel::RescaledSum sum{{narrow(self_zero_point), narrow(other_zero_point)},
                                 {narrow(self_multiplier), narrow(other_multiplier)},
                                 {narrow(self_shift), narrow(other_shift)},
                                 scale.get()};
  // The bounds come from the function itself, evaluated at both ends of int8.
  const int64_t bound = largest_rescaled(sum, 0) + largest_rescaled(sum, 1);
  RL_CHECK(bound <= INT32_MAX, Error::InvalidArgument,
           "multipliers and shifts: sums of rescaled numbers may have more than 32 bits");
  RL_TRY(
      scale.set(output_multiplier, output_shift, bound, {output_zero_point, activation_min, activation_max}));
  const RescaledAddProblem problem{{self, other, out}, sum};
  return backs::cortex_m_quantized_add_out(context, problem,
                                           [&] { return compute_pairs<kSumTypes>(sum, self, other, out); });
}

Error cortex_m_quantized_mul_out(KernelContext& context, const Tensor& self, int64_t self_zero_point,
                                 const Tensor& other, int64_t other_zero_point, int64_t output_zero_point,
                                 int64_t output_multiplier, int64_t output_shift, Tensor& out) {
  int64_t distances[2];
  RL_TRY(check_pair(kProductTypes, self, other, out));
  RL_TRY(largest_distance(self_zero_point, "self_zero_point", &distances[0]));
  RL_TRY(largest_distance(other_zero_point, "other_zero_point", &distances[1]));
  // At most 2^21 squared, which fits in int64.
  const int64_t bound = distances[0] * distances[1];
  RL_CHECK(bound <= INT32_MAX, Error::InvalidArgument,
           "self_zero_point and other_zero_point: products may have more than 32 bits");
  RL_TRY(resize_to_pair(self, other, out));
  SumScale scale;
  RL_TRY(scale.set(output_multiplier, output_shift, bound, {output_zero_point, INT8_MIN, INT8_MAX}));
  const ukernel::QuantizedProduct product{
      {static_cast<int32_t>(self_zero_point), static_cast<int32_t>(other_zero_point)}, scale.get()};
  const QuantizedMulProblem problem{{self, other, out}, product};
  return backs::cortex_m_quantized_mul_out(
      context, problem, [&] { return compute_pairs<kProductTypes>(product, self, other, out); });
}

Error cortex_m_quantized_div_out(KernelContext&, const Tensor& self, int64_t self_zero_point,
                                 const Tensor& other, int64_t other_zero_point, int64_t output_zero_point,
                                 double output_scale, Tensor& out) {
  RL_TRY(check_pair(kQuotientTypes, self, other, out));
  const bool is_short = self.scalar_type() == ScalarType::Short;
  const int64_t low = is_short ? INT16_MIN : INT8_MIN, high = is_short ? INT16_MAX : INT8_MAX;
  for (const int64_t zero_point : {self_zero_point, other_zero_point, output_zero_point}) {
    RL_CHECK(zero_point >= low && zero_point <= high, Error::InvalidArgument,
             "zero points: expected values of the dtype, got %ld", static_cast<long>(zero_point));
  }
  const auto scale = static_cast<float>(output_scale);
  RL_CHECK(std::isfinite(scale), Error::InvalidArgument, "output_scale: expected a finite float32, got %g",
           output_scale);
  RL_TRY(resize_to_pair(self, other, out));
  const Quotient quotient{{static_cast<float>(self_zero_point), static_cast<float>(other_zero_point)},
                          scale,
                          static_cast<float>(output_zero_point),
                          static_cast<float>(low),
                          static_cast<float>(high)};
  return compute_pairs<kQuotientTypes>(quotient, self, other, out);
}

}  // namespace rushlight::kernels
