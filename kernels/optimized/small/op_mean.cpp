// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/shared/checks.h"
#include "kernels/shared/sum.h"
#include "kernels/ukernel/runs.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error mean_dim_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
                   bool keepdim, std::optional<int64_t> dtype, Tensor& out);
Error mean_dtype_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype, Tensor& out);

namespace optimized {

namespace {

// Four at a time and a block of them at a time, of which there is a pairwise sum.
void add_run(const char* from, ptrdiff_t stride, size_t count, PairwiseSum<float>& sum) {
  constexpr size_t kBlock = 32;
  const auto next = [&]() __attribute__((always_inline)) {
    const float number = *reinterpret_cast<const float*>(from);
    from += stride;
    return number;
  };
  while (count > 0) {
    size_t left = count < kBlock ? count : kBlock;
    count -= left;
    float block = 0;
    for (; left >= 4; left -= 4) {
      const float a = next(), b = next(), c = next(), d = next();
      block += (a + b) + (c + d);
    }
    for (; left > 0; --left) block += next();
    sum.add(block);
  }
}

constexpr size_t kNeighbours = 64;  // of the output, that are computed at once
constexpr size_t kRows = 32;        // that are added one after the other
constexpr size_t kMostRows = kRows * kRows;

// Neighbours of the output that are neighbours in the input, too: rows of them are added.
void add_rows(const PairedAxes& reduced, const char* first, float* out, size_t neighbours) {
  float sums[kNeighbours];
  size_t rows = 0;
  ukernel::fill_run(out, neighbours, 0);
  ukernel::fill_run(sums, neighbours, 0);
  reduced.walk(first, nullptr, 0, [&](const char* row, char*) {
    ukernel::add_run(sums, sums, reinterpret_cast<const float*>(row), neighbours);
    if (++rows < kRows) return;
    ukernel::add_run(out, out, sums, neighbours);
    ukernel::fill_run(sums, neighbours, 0);
    rows = 0;
  });
  ukernel::add_run(out, out, sums, neighbours);
}

// Whether it is done: where all of the output are such neighbours.
bool mean_of_rows(const Reduction& reduction) {
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

Error mean(const Tensor& self, const DimList& dim, bool keepdim, std::optional<int64_t> dtype,
           const Tensor& out) {
  RL_TRY(check_requested_dtype(dtype, out));
  Reduction reduction;
  RL_TRY(reduction.plan(self, dim, keepdim, out));
  const auto count = static_cast<float>(reduction.count());
  if (ukernel::kRunsAreVectors && mean_of_rows(reduction)) return Error::Ok;
  reduction.for_each_output([&](const char* first, char* result) {
    PairwiseSum<float> sum;
    reduction.for_each_stored_run(
        first, [&](const char* values, ptrdiff_t stride, size_t n) { add_run(values, stride, n, sum); });
    *reinterpret_cast<float*>(result) = sum.total() / count;
  });
  return Error::Ok;
}

}  // namespace

Error mean_dim_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
                   bool keepdim, std::optional<int64_t> dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::mean.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::mean.out", mean_dim_out, context, self, dim, keepdim, dtype, out);
  }
  return mean(self, all_if_empty(dim), keepdim, dtype, out);
}

Error mean_dtype_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::mean.dtype_out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::mean.dtype_out", mean_dtype_out, context, self, dtype, out);
  }
  return mean(self, std::nullopt, false, dtype, out);
}

}  // namespace optimized
}  // namespace rushlight::kernels
