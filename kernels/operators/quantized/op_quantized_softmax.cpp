// SPDX-License-Identifier: BSD-3-Clause
// Softmax of integers: dequantize, softmax and quantize fused, with a table of exponentials instead of float
// arithmetic. The method is in integer_softmax.h; here are the argument checks.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/affine.h"
#include "kernels/quantization/integer_softmax.h"
#include "kernels/quantization/requantization.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::quantized_softmax.out") & kQuantizedElements;
constexpr size_t kBytes = 256;
constexpr int64_t kLeastMultiplier = 1 << 30;

}  // namespace

Error quantized_softmax_out(KernelContext&, const Tensor& input, int64_t dim, const Tensor& table,
                            int64_t multiplier, int64_t shift, int64_t output_zero_point, int64_t output_min,
                            int64_t output_max, Tensor& out) {
  RL_TRY(check_type(input, kTypes, "input"));
  RL_TRY(check_same_dtype(input, out, "input and out"));
  const bool is_short = contains(kTypes, ScalarType::Short) && input.scalar_type() == ScalarType::Short;
  // int16 differences have 16 bits: one table for the lower byte, one for the upper.
  const size_t entries = is_short ? 2 * kBytes : kBytes;
  RL_CHECK(table.scalar_type() == ScalarType::Int && table.dim() == 1 && table.numel() == entries,
           Error::InvalidArgument, "table: expected %lu elements of int32, got %lu of %s",
           static_cast<unsigned long>(entries), static_cast<unsigned long>(table.numel()),
           to_string(table.scalar_type()));
  // A normalized multiplier: with a smaller one the division by the sum would lose bits.
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
  return softmax_integers(fibers, input.scalar_type(), table.const_data_ptr<int32_t>(), to);
}

}  // namespace rushlight::kernels
