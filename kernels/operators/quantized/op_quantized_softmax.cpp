// SPDX-License-Identifier: BSD-3-Clause
// Softmax of integers: dequantize, softmax and quantize in one, without a float.
//
// The table has exp(-d * input scale) in fixed point for d = 0 to 255, the distance from the largest number
// of a row. Of int16, whose distances have 16 bits, it has exp(-256 d * input scale) behind, and an
// exponential is the product of two, rounded to the table's 30 bits. Sums have 64 bits: rows may have any
// length. One division of 64 bits a row makes the scale 1 / (output scale * sum), which requantizes each
// element's exponential with one rounding.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/affine.h"
#include "kernels/quantization/divided_scale.h"
#include "kernels/quantization/requantization.h"
#include "kernels/walk/paired_fibers.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::quantized_softmax.out") & kQuantizedNumbers;
constexpr size_t kBytes = 256;
constexpr int64_t kLeastMultiplier = 1 << 30;

// exp(-distance * input scale) * 2^30. `out` may lie over the input, element by element, and over anything
// else: distances are reduced to the numbers that the table is for.
template <class T>
int32_t exponential_of(const int32_t* table, int32_t distance) {
  if constexpr (sizeof(T) == 1) return table[static_cast<uint8_t>(distance)];
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
  for (size_t i = 0; i < fiber.size; ++i) sum += static_cast<uint32_t>(exponential(i)) & INT32_MAX;
  const ukernel::Requantization& to = scale->by(sum == 0 ? 1 : static_cast<int64_t>(sum));
  const int32_t multiplier = *to.multipliers;
  const int shift = *to.shifts;
  for (size_t i = 0; i < fiber.size; ++i) {
    const int64_t steps = ukernel::requantize_single(exponential(i), multiplier, shift);
    fiber.at(i) = static_cast<T>(ukernel::clamp_quantized(steps + to.zero_point, to.low, to.high));
  }
}

}  // namespace

Error quantized_softmax_out(KernelContext&, const Tensor& input, int64_t dim, const Tensor& table,
                            int64_t multiplier, int64_t shift, int64_t output_zero_point, int64_t output_min,
                            int64_t output_max, Tensor& out) {
  RL_TRY(check_type(input, kTypes, "input"));
  RL_TRY(check_same_dtype(input, out, "input and out"));
  const bool is_short = contains(kTypes, ScalarType::Short) && input.scalar_type() == ScalarType::Short;
  const size_t entries = is_short ? 2 * kBytes : kBytes;
  RL_CHECK(table.scalar_type() == ScalarType::Int && table.dim() == 1 && table.numel() == entries,
           Error::InvalidArgument, "table: expected %lu elements of int32, got %lu of %s",
           static_cast<unsigned long>(entries), static_cast<unsigned long>(table.numel()),
           to_string(table.scalar_type()));
  RL_CHECK(multiplier >= kLeastMultiplier && multiplier <= INT32_MAX, Error::InvalidArgument,
           "multiplier: expected 2^30 to 2^31 - 1, got %ld", static_cast<long>(multiplier));
  RL_CHECK(shift >= ukernel::kLeastShift && shift <= ukernel::kMostShift, Error::InvalidArgument,
           "shift: expected %d to %d, got %ld", ukernel::kLeastShift, ukernel::kMostShift,
           static_cast<long>(shift));
  RL_TRY(check_quantized_range({output_zero_point, output_min, output_max}, out.scalar_type()));
  PairedFibers fibers;
  RL_TRY(fibers.plan(input, dim, out));
  const auto whole_multiplier = static_cast<int32_t>(multiplier);
  const auto whole_shift = static_cast<int8_t>(shift);
  ukernel::Requantization to;
  to.multipliers = &whole_multiplier;
  to.shifts = &whole_shift;
  to.zero_point = static_cast<int32_t>(output_zero_point);
  to.low = static_cast<int32_t>(output_min);
  to.high = static_cast<int32_t>(output_max);
  DividedScale scale(to);
  return dispatch<kTypes>(input.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    fibers.for_each<T, T>(
        [&](const auto& fiber) { softmax(fiber, table.const_data_ptr<int32_t>(), &scale); });
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
