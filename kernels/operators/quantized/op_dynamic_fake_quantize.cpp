// SPDX-License-Identifier: BSD-3-Clause
// Quantizes and dequantizes in one step, with a range computed from the data at run time: for layers whose
// integers no operator multiplies. The last `shared_dims` dimensions share a range. Two passes over each
// group; groups run in parallel.
#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/checks/sizes.h"
#include "kernels/quantization/affine.h"
#include "kernels/quantization/dynamic_range.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::dynamic_fake_quantize.out");
// Integers that are on the stack at a time: 128 bytes.
constexpr size_t kPart = 64;

// `count` elements that share one range: one pass for the range, one to convert.
void fake_quantize(const DynamicRange& range, const float* from, size_t count, float* to) {
  DynamicExtent extent;
  for (size_t i = 0; i < count; ++i) extent.include(from[i]);
  const DynamicScale scale = choose_scale(range, extent);
  int16_t numbers[kPart];
  for (size_t first = 0; first < count; first += kPart) {
    const size_t part = std::min(kPart, count - first);
    quantize_centered(range, scale, part, from + first, 1, numbers);
    for (size_t i = 0; i < part; ++i) to[first + i] = static_cast<float>(numbers[i]) * scale.scale;
  }
}

}  // namespace

Error dynamic_fake_quantize_out(KernelContext& context, const Tensor& input, int64_t shared_dims,
                                std::string_view mapping, int64_t low, int64_t high, double least_scale,
                                Tensor& out) {
  RL_TRY(check_type(input, kTypes, "input"));
  RL_TRY(check_same_dtype(input, out, "input and out"));
  const size_t rank = input.sizes().size();
  RL_CHECK(shared_dims >= 0 && static_cast<uint64_t>(shared_dims) <= rank, Error::InvalidArgument,
           "shared_dims: expected 0 to %lu, got %ld", static_cast<unsigned long>(rank),
           static_cast<long>(shared_dims));
  DynamicRange range;
  RL_TRY(make_dynamic_range(mapping, low, high, least_scale, &range));
  RL_TRY(resize_out(out, input.sizes()));
  const bool is_plain =
      is_row_major(input.dim_order(), input.sizes()) && is_row_major(out.dim_order(), out.sizes());
  RL_CHECK(is_plain, Error::InvalidArgument, "input and out: expected row-major tensors");
  size_t count = 1;
  for (size_t d = rank - static_cast<size_t>(shared_dims); d < rank; ++d)
    count *= static_cast<size_t>(input.size(static_cast<ptrdiff_t>(d)));
  if (input.numel() == 0) return Error::Ok;
  // From here on `count` is at least 1.
  const auto* from = input.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  context.parallel_for(input.numel() / count, 1, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) fake_quantize(range, from + i * count, count, to + i * count);
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels
