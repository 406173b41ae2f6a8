// SPDX-License-Identifier: BSD-3-Clause
// Gated activations in spans that stay in the first cache between the activation and the product.
#include "kernels/backs/gated_act.h"

#include <algorithm>
#include <cstring>

#include "kernels/host/activate.h"
#include "kernels/ukernel/elementwise.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kSpan = 1024;
constexpr size_t kGrain = 4096;  // numbers worth a thread

void multiply_span(const Activation& activation, size_t n, const float* gate, const float* up, float* out) {
  std::memcpy(out, gate, n * sizeof(float));
  activate(activation, out, n);
  ukernel::mul_f32({1, n, {{out, 0, false}, {up, 0, false}, {}}, out, 0});
}

}  // namespace

Error gated_act(KernelContext& context, const GatedActProblem& problem) {
  const size_t spans = (problem.width + kSpan - 1) / kSpan;
  const size_t grain = std::max<size_t>(kGrain / std::min(problem.width, kSpan), 1);
  context.parallel_for(problem.rows * spans, grain, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) {
      const size_t row = i / spans;
      const size_t first = i % spans * kSpan;
      const float* const gate = problem.input + row * 2 * problem.width + first;
      multiply_span(problem.activation, std::min(problem.width - first, kSpan), gate, gate + problem.width,
                    problem.out + row * problem.width + first);
    }
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
