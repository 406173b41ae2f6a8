// SPDX-License-Identifier: BSD-3-Clause
// Padding of ExecuTorch's Cortex-M backend. pre_pad and post_pad have four amounts each, aligned to the last
// dimension. For a channels-last tensor they are in memory order: N, H, W, C.
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/geometry/constant_pad.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr size_t kAmounts = 4;

// Decides as the backend's exporter does: if the sizes are ambiguous, that is if both layouts describe the
// same memory, the tensor counts as channels-last.
bool is_in_memory_order(const Tensor& tensor) {
  if (tensor.dim() != 4) return false;
  if (tensor.size(1) == 1 || (tensor.size(2) == 1 && tensor.size(3) == 1)) return true;
  return tensor.dim_order()[0] == 0 && tensor.dim_order()[1] == 2;
}

// A tensor of lower rank uses the last amounts; the others must be 0.
Error check_amounts(Span<const int64_t> amounts, size_t rank, const char* name) {
  RL_CHECK(amounts.size() == kAmounts, Error::InvalidArgument, "%s: expected 4 values, got %lu", name,
           log_number(amounts.size()));
  for (size_t i = 0; i + rank < kAmounts; ++i) {
    RL_CHECK(amounts[i] == 0, Error::InvalidArgument,
             "%s: expected 0 before the input's %lu dimensions, got %ld", name, log_number(rank),
             static_cast<long>(amounts[i]));
  }
  return Error::Ok;
}

}  // namespace

Error cortex_m_pad_out(KernelContext& context, const Tensor& input, Span<const int64_t> pre_pad,
                       Span<const int64_t> post_pad, int64_t pad_value, Tensor& out) {
  constexpr size_t kChannelsLast[] = {0, 3, 1, 2};
  const auto rank = static_cast<size_t>(input.dim());
  RL_CHECK(rank >= 1 && rank <= kAmounts, Error::InvalidArgument, "input: expected rank 1 to 4, got %lu",
           log_number(rank));
  RL_TRY(check_amounts(pre_pad, rank, "pre_pad"));
  RL_TRY(check_amounts(post_pad, rank, "post_pad"));
  const bool moved = is_in_memory_order(input);
  int64_t pairs[2 * kAmounts];  // before and after, last dimension first
  for (size_t d = 0; d < rank; ++d) {
    const size_t at = moved ? kChannelsLast[d] : kAmounts - rank + d;
    pairs[2 * (rank - 1 - d)] = pre_pad[at];
    pairs[2 * (rank - 1 - d) + 1] = post_pad[at];
  }
  const Scalar value(pad_value);
  ConstantPad plan;
  RL_TRY(plan_constant_pad(input, {pairs, 2 * rank}, value, out, &plan));
  return backs::cortex_m_pad_out(context, ConstantPadProblem{plan, value, out},
                                 [&] { return pad_constant(plan, value, out); });
}

}  // namespace rushlight::kernels
