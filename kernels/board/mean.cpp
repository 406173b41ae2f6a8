// SPDX-License-Identifier: BSD-3-Clause
// Mean of float32 by block sums: the error grows with the logarithm of the count, not with the count.
// Adjacent outputs whose inputs are adjacent too are summed row by row; all others one by one.
#include <algorithm>

#include "kernels/backs/reduction.h"
#include "kernels/reduction/sum.h"
#include "kernels/ukernel/spans.h"

namespace rushlight::kernels::board {

namespace {

// The sum of at most kBlock elements, eight at a time: (a + b) + (c + d) does not depend on the sum before,
// so that few additions wait for another.
constexpr size_t kBlock = 64;
template <bool kIsAdjacent>
[[gnu::noinline]] float sum_of_block(const char* from, ptrdiff_t stride, size_t count) {
  if constexpr (kIsAdjacent) stride = sizeof(float);
  const auto next = [&]() __attribute__((always_inline)) {
    const float number = *reinterpret_cast<const float*>(from);
    from += stride;
    return number;
  };
  float sum = 0;
  for (; count >= 8; count -= 8) {
    const float a = next(), b = next(), c = next(), d = next();
    sum += (a + b) + (c + d);
    const float e = next(), f = next(), g = next(), h = next();
    sum += (e + f) + (g + h);
  }
  for (; count > 0; --count) sum += next();
  return sum;
}

// Adds elements in blocks, and the blocks to a pairwise sum.
void add_span(const char* from, ptrdiff_t stride, size_t count, PairwiseSum<float>& sum) {
  const bool is_adjacent = stride == static_cast<ptrdiff_t>(sizeof(float));
  for (size_t some; count > 0; count -= some, from += static_cast<ptrdiff_t>(some) * stride) {
    some = std::min(count, kBlock);
    sum.add(is_adjacent ? sum_of_block<true>(from, stride, some) : sum_of_block<false>(from, stride, some));
  }
}

constexpr size_t kNeighbours = 64;  // adjacent outputs that are computed at once
constexpr size_t kRows = 32;        // rows that are added to one partial sum
// Two levels of partial sums: an element takes part in at most 2 * kRows additions in sequence.
constexpr size_t kMostRows = kRows * kRows;
constexpr size_t kTogether = 8;         // outputs whose sums are in registers
constexpr size_t kManyNeighbours = 32;  // for which whole rows are quicker, if these are vectors

// sums[j] += the elements j of `count` rows, for j < kCount.
template <size_t kCount>
[[gnu::noinline]] void add_columns(float* sums, const char* row, ptrdiff_t stride, size_t count) {
  float totals[kCount];
#pragma GCC unroll 8
  for (size_t j = 0; j < kCount; ++j) totals[j] = sums[j];
  for (; count > 0; --count, row += stride) {
#pragma GCC unroll 8
    for (size_t j = 0; j < kCount; ++j) totals[j] += reinterpret_cast<const float*>(row)[j];
  }
#pragma GCC unroll 8
  for (size_t j = 0; j < kCount; ++j) sums[j] = totals[j];
}

// The same for all neighbours.
void add_span_of_rows(float* sums, size_t neighbours, const char* row, ptrdiff_t stride, size_t count) {
  if (ukernel::kSpansAreVectors && neighbours >= kManyNeighbours) {
    for (; count > 0; --count, row += stride) {
      ukernel::add_span(sums, sums, reinterpret_cast<const float*>(row), neighbours);
    }
    return;
  }
  for (; neighbours >= kTogether; neighbours -= kTogether, sums += kTogether) {
    add_columns<kTogether>(sums, row, stride, count);
    row += kTogether * sizeof(float);
  }
  for (; neighbours > 0; --neighbours, row += sizeof(float)) add_columns<1>(sums++, row, stride, count);
}

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
      add_span_of_rows(sums, neighbours, row, run.input, some);
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
