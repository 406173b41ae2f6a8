// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/shared/checks.h"
#include "kernels/shared/sum.h"
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

Error mean(const Tensor& self, const DimList& dim, bool keepdim, std::optional<int64_t> dtype,
           const Tensor& out) {
  RL_TRY(check_requested_dtype(dtype, out));
  Reduction reduction;
  RL_TRY(reduction.plan(self, dim, keepdim, out));
  const auto count = static_cast<float>(reduction.count());
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
