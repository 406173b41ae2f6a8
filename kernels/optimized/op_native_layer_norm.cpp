// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/shared/joint_axes.h"
#include "kernels/shared/layer_norm.h"
#include "kernels/ukernel/normalize.h"
#include "kernels/ukernel/reduce.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error native_layer_norm_out(KernelContext& context, const Tensor& input, Span<const int64_t> normalized_shape,
                            const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                            double eps, Tensor& out0, Tensor& out1, Tensor& out2);

namespace optimized {

namespace {

constexpr ptrdiff_t kFloat = sizeof(float);

const float* floats_at(const char* place) { return reinterpret_cast<const float*>(place); }

// The elements of a group, as runs.
struct Group {
  const LayerNormLayout& layout;
  char* const* start;

  // f(n, x) of every run, in which elements may lie apart.
  template <class F>
  void for_each_run(F f) const {
    layout.elements.walk(start, 1, f);
  }

  template <class OfRun, class OfElement>
  [[nodiscard]] float sum(OfRun of_run, OfElement of_element) const {
    const auto& run = layout.elements.inner();
    const ptrdiff_t stride = run.strides[LayerNormLayout::kInput];
    PairwiseSum<float> sum;
    for_each_run([&](char* const* at) {
      const char* x = at[LayerNormLayout::kInput];
      if (stride == kFloat) return sum.add(of_run(run.size, floats_at(x)));
      for (size_t i = 0; i < run.size; ++i, x += stride) sum.add(of_element(*floats_at(x)));
    });
    return sum.total();
  }
};

Moments<float> moments(const Group& group, double eps) {
  if (group.layout.count == 0) return {0.0f, NAN};
  const auto count = static_cast<float>(group.layout.count);
  const float mean = group.sum(ukernel::sum_run, [](float x) { return x; }) / count;
  const float squares =
      group.sum([mean](size_t n, const float* x) { return ukernel::squares_run(n, x, mean); },
                [mean](float x) { return (x - mean) * (x - mean); });
  return {mean, 1.0f / std::sqrt(squares / count + static_cast<float>(eps))};
}

void normalize(const Group& group, const Moments<float>& moments) {
  using Layout = LayerNormLayout;
  const auto& run = group.layout.elements.inner();
  const auto follows = [&](size_t operand) {
    return run.strides[operand] == kFloat || group.start[operand] == nullptr;
  };
  const bool dense = run.strides[Layout::kInput] == kFloat && run.strides[Layout::kOutput] == kFloat &&
                     follows(Layout::kWeight) && follows(Layout::kBias);
  group.for_each_run([&](char* const* at) {
    // One element at a time where they lie apart.
    const size_t length = dense ? run.size : 1;
    for (size_t i = 0; i < run.size; i += length) {
      const auto place = [&](size_t operand) {
        return at[operand] + static_cast<ptrdiff_t>(i) * run.strides[operand];
      };
      const auto parameter = [&](size_t operand) {
        return group.start[operand] == nullptr ? nullptr : floats_at(place(operand));
      };
      ukernel::normalize_run(length, floats_at(place(Layout::kInput)), moments.mean, moments.rstd,
                             parameter(Layout::kWeight), parameter(Layout::kBias),
                             reinterpret_cast<float*>(place(Layout::kOutput)));
    }
  });
}

}  // namespace

// out1 and out2 are the mean and the inverse of the standard deviation of every group.
Error native_layer_norm_out(KernelContext& context, const Tensor& input, Span<const int64_t> normalized_shape,
                            const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                            double eps, Tensor& out0, Tensor& out1, Tensor& out2) {
  using Layout = LayerNormLayout;
  constexpr TypeSet kTypes = selected_types("aten::native_layer_norm.out");
  const NormalizationParameters parameters{weight, bias, eps};
  if (!all_of(kTypes, input, out0, out1, out2) || parameters.type(input.scalar_type()) != ScalarType::Float) {
    RL_FALL_BACK("aten::native_layer_norm.out", native_layer_norm_out, context, input, normalized_shape,
                 weight, bias, eps, out0, out1, out2);
  }
  Layout layout;
  RL_TRY(plan_layer_norm(input, normalized_shape, parameters, out0, out1, out2, &layout));
  char* const start[] = {input.mutable_data_ptr<char>(), out0.mutable_data_ptr<char>(),
                         out1.mutable_data_ptr<char>(), out2.mutable_data_ptr<char>()};
  constexpr size_t kElements = 16384;  // worth another thread
  const size_t grain = kElements / (layout.count + 1) + 1;
  context.parallel_for(layout.groups.count(0), grain, [&](size_t begin, size_t end, size_t) {
    layout.groups.walk_part(start, 0, begin, end, [&](char* const* at) {
      char* const elements[] = {at[Layout::kGroupInput], at[Layout::kGroupOutput],
                                weight ? weight->mutable_data_ptr<char>() : nullptr,
                                bias ? bias->mutable_data_ptr<char>() : nullptr};
      const Group group{layout, elements};
      const Moments<float> of_group = moments(group, eps);
      normalize(group, of_group);
      *reinterpret_cast<float*>(at[Layout::kGroupMean]) = of_group.mean;
      *reinterpret_cast<float*>(at[Layout::kGroupRstd]) = of_group.rstd;
    });
  });
  return Error::Ok;
}

}  // namespace optimized

}  // namespace rushlight::kernels
