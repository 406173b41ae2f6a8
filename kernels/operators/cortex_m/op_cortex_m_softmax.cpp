// SPDX-License-Identifier: BSD-3-Clause
// Softmax of ExecuTorch's Cortex-M backend, in integers, with a table of 256 exponentials computed for each
// call. ExecuTorch defines it as a float32 softmax: results may differ by one where that is within its own
// error of a half. The official device code has fewer fixed-point bits and differs more often.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/integer_softmax.h"
#include "kernels/quantization/requantization.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("cortex_m::softmax.out") & type_set(ScalarType::Char);
constexpr int64_t kZeroPoint = -128;
constexpr int kIntegerBits = 5;  // integer bits of the multiplier's fixed-point format
constexpr int kMostShift = 31;
// Limits of input_shift: multiplier * 2^(shift - 31 - 26) is the input scale, which fill_exponentials() needs
// below 2^15.
constexpr int kLeastShift = -96;

}  // namespace

Error cortex_m_softmax_out(KernelContext&, const Tensor& input, int64_t dim, int64_t input_zero_point,
                           int64_t output_zero_point, int64_t input_multiplier, int64_t input_shift, int64_t,
                           Tensor& out) {
  if (!contains(kTypes, input.scalar_type())) return unsupported_type(input.scalar_type());
  RL_TRY(check_same_dtype(input, out, "input and out"));
  // Softmax depends on differences only, so the input zero point has no effect beyond this check.
  RL_TRY(check_zero_point(input_zero_point, input.scalar_type(), "input_zero_point"));
  RL_CHECK(output_zero_point == kZeroPoint, Error::InvalidArgument,
           "output_zero_point: expected %ld, got %ld", static_cast<long>(kZeroPoint),
           static_cast<long>(output_zero_point));
  RL_CHECK(input_multiplier >= 1 && input_multiplier <= INT32_MAX && input_shift >= kLeastShift &&
               input_shift <= kMostShift,
           Error::InvalidArgument,
           "input_multiplier, input_shift: expected 1 to 2^31 - 1 and %d to %d, got %ld and %ld", kLeastShift,
           kMostShift, static_cast<long>(input_multiplier), static_cast<long>(input_shift));
  PairedFibers fibers;
  RL_TRY(fibers.plan(input, dim, out));
  // 1 KiB of stack, computed anew in about 10,000 instructions: no memory outlives the call.
  int32_t table[256];
  fill_exponentials(static_cast<int32_t>(input_multiplier),
                    static_cast<int>(input_shift) - 31 - (31 - kIntegerBits), table);
  const int32_t multiplier = int32_t{1} << 30;
  const int8_t shift = 9;  // times 256: the output scale is 1/256
  ukernel::Requantization to;
  to.multipliers = &multiplier;
  to.shifts = &shift;
  to.zero_point = static_cast<int32_t>(kZeroPoint);
  return softmax_integers(fibers, input.scalar_type(), table, to);
}

}  // namespace rushlight::kernels
