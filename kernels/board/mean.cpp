// SPDX-License-Identifier: BSD-3-Clause
// Mean of float32 by block sums: the error grows with the logarithm of the count, not with the count.
// Adjacent outputs whose inputs are adjacent too are summed row by row; all others one by one.
#include <algorithm>

#include "kernels/backs/reduction.h"
#include "kernels/reduction/sum.h"
#include "kernels/ukernel/spans.h"

namespace rushlight::kernels::board {

namespace {

// Adds elements in blocks, and the blocks to a pairwise sum.
void add_span(const char* from, ptrdiff_t stride, size_t count, PairwiseSum<float>& sum) {
  constexpr size_t kBlock = ukernel::kSumSpan;
  const bool is_adjacent = stride == static_cast<ptrdiff_t>(sizeof(float));
  for (size_t some; count > 0; count -= some, from += static_cast<ptrdiff_t>(some) * stride) {
    some = std::min(count, kBlock);
    float block = 0;
    if (is_adjacent) {
      block = ukernel::sum_span(reinterpret_cast<const float*>(from), some);
    } else {
      ukernel::add_rows(&block, reinterpret_cast<const float*>(from),
                        stride / static_cast<ptrdiff_t>(sizeof(float)), some, 1);
    }
    sum.add(block);
  }
}

constexpr size_t kNeighbours = 64;  // adjacent outputs that are computed at once
constexpr size_t kRows = 32;        // rows that are added to one partial sum
// Two levels of partial sums: an element takes part in at most 2 * kRows additions in sequence.
constexpr size_t kMostRows = kRows * kRows;

// Sums rows of outputs that are adjacent in input and output.
[[gnu::always_inline]] inline void add_rows(const PairedAxes& reduced, const char* first, float* out,
                                            size_t neighbours) {
  float sums[kNeighbours];
  size_t rows = 0;
  ukernel::fill_span(out, neighbours, 0);
  ukernel::fill_span(sums, neighbours, 0);
  // Adds up to kRows rows to `sums`, and then those to `out`.
  const Axis& run = reduced.inner();
  reduced.walk(first, nullptr, 1, [&](const char* row, char*) {
    for (size_t left = run.size, some; left > 0; left -= some) {
      some = std::min(left, kRows - rows);
      ukernel::add_rows(sums, reinterpret_cast<const float*>(row),
                        run.input / static_cast<ptrdiff_t>(sizeof(float)), some, neighbours);
      row += static_cast<ptrdiff_t>(some) * run.input;
      rows += some;
      if (rows < kRows) continue;
      ukernel::add_span(out, out, sums, neighbours);
      ukernel::fill_span(sums, neighbours, 0);
      rows = 0;
    }
  });
  ukernel::add_span(out, out, sums, neighbours);
}

// Computes the mean if all outputs are one adjacent row, and returns true; returns false otherwise.
[[gnu::always_inline]] inline bool mean_of_rows(const Reduction& reduction) {
  const Axis& row = reduction.kept().inner();
  const size_t rows = reduction.count();
  const bool adjacent = row.input == sizeof(float) && row.output == sizeof(float) && row.size >= 4;
  if (!adjacent || reduction.kept().count(1) > 1 || rows > kMostRows) return false;
  for (size_t i = 0; i < row.size; i += kNeighbours) {
    const size_t neighbours = std::min(kNeighbours, row.size - i);
    float* out = reinterpret_cast<float*>(reduction.output()) + i;
    add_rows(reduction.reduced(), reduction.input() + i * sizeof(float), out, neighbours);
    for (size_t j = 0; j < neighbours; ++j) out[j] /= static_cast<float>(rows);
  }
  return true;
}

}  // namespace

Error mean(KernelContext&, const ReductionProblem& problem) {
  const Reduction& reduction = problem.reduction;
  const auto count = static_cast<float>(reduction.count());
  if (mean_of_rows(reduction)) return Error::Ok;
  reduction.for_each_output([&](const char* first, char* result) {
    PairwiseSum<float> sum;
    reduction.for_each_stored_span(
        first, [&](const char* values, ptrdiff_t stride, size_t n) { add_span(values, stride, n, sum); });
    *reinterpret_cast<float*>(result) = sum.total() / count;
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
