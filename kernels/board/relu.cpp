// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/elementwise.h"
#include "kernels/checks/checks.h"
#include "kernels/ukernel/spans.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels::board {

Error relu(KernelContext&, const UnaryProblem& problem) {
  RL_TRY(resize_out(problem.out, problem.self.sizes()));
  // One microkernel call for a span that is adjacent in both tensors, otherwise one for each element.
  const PairedLoops loops(View::of(problem.out), View::of(problem.self));
  loops.for_each_span([](char* to, const char* from, const auto& loop) {
    constexpr auto kAdjacent = static_cast<ptrdiff_t>(sizeof(float));
    const bool run = loop.target == kAdjacent && loop.source == kAdjacent;
    const size_t count = run ? static_cast<size_t>(loop.size) : 1;
    for (auto left = static_cast<size_t>(loop.size); left > 0; left -= count) {
      ukernel::rectify_span(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from), count);
      to += loop.target;
      from += loop.source;
    }
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
