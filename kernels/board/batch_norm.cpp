// SPDX-License-Identifier: BSD-3-Clause
// Batch normalization in inference as one multiply-add for each element:
//
//   y = x * factor + offset,  factor = weight / sqrt(var + eps),  offset = bias - mean * factor
#include "kernels/normalization/batch_norm.h"

#include "kernels/backs/norm.h"
#include "kernels/ukernel/spans.h"

namespace rushlight::kernels::board {

namespace {

// Strides of the loop are in bytes; only spans that are adjacent in both tensors use the microkernel.
void scale(char* to, const char* from, const PairedLoops::Loop& loop, float factor, float offset) {
  constexpr auto kAdjacent = static_cast<ptrdiff_t>(sizeof(float));
  if (loop.target == kAdjacent && loop.source == kAdjacent) {
    return ukernel::scale_span(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from),
                               static_cast<size_t>(loop.size), factor, offset);
  }
  for (ptrdiff_t i = 0; i < loop.size; ++i, to += loop.target, from += loop.source) {
    *reinterpret_cast<float*>(to) = *reinterpret_cast<const float*>(from) * factor + offset;
  }
}

}  // namespace

// Folds the statistics of each channel into a factor and an offset first, in the order of PyTorch's CPU
// kernel, so that the results match it.
Error batch_norm(KernelContext&, const BatchNormProblem& problem) {
  const auto& [weight, bias, eps] = problem.parameters;
  const ptrdiff_t channels = problem.input.sizes()[1];
  if (channels == 0) return Error::Ok;
  View source = View::of(problem.input);
  View target = View::of(problem.out);
  const ptrdiff_t from_step = source.strides[1];
  const ptrdiff_t to_step = target.strides[1];
  // The loops are the same for every channel; only the base addresses differ.
  const PairedLoops loops(target.select(1, 0), source.select(1, 0));
  for (ptrdiff_t c = 0; c < channels; ++c) {
    const Moments<float> moments = running_moments<float>(problem.running_mean, problem.running_var, c, eps);
    const float factor = weight ? moments.rstd * channel_element<float>(*weight, c) : moments.rstd;
    const float offset = (bias ? channel_element<float>(*bias, c) : 0) - moments.mean * factor;
    loops.for_each_span([&](char* to, const char* from, const PairedLoops::Loop& loop) {
      scale(to + c * to_step, from + c * from_step, loop, factor, offset);
    });
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
