// SPDX-License-Identifier: BSD-3-Clause
// Layer normalization: mean, variance and scaling in three passes over each group, which stays in cache. The
// variance is two-pass, as in PyTorch; partial sums are added pairwise. 16-bit floats are converted 1024
// elements at a time on the stack.
//
//   y = (x - mean) / sqrt(variance + eps) * weight + bias
#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/backs/norm.h"
#include "kernels/host/elements.h"
#include "kernels/ukernel/normalize.h"
#include "kernels/ukernel/reduce.h"
#include "kernels/walk/joint_axes.h"

namespace rushlight::kernels::host {

namespace {

constexpr ptrdiff_t kFloat = sizeof(float);

const float* floats_at(const char* element) { return reinterpret_cast<const float*>(element); }

// The float32 elements of a group, as spans.
struct Group {
  const LayerNormLayout& layout;
  char* const* start;

  // Calls f(n, x) for each span; its elements may have a stride.
  template <class F>
  void for_each_span(F f) const {
    layout.elements.walk(start, 1, f);
  }

  // The sum over a group: contiguous spans by a microkernel, strided elements one by one, both added
  // pairwise.
  template <class OfRun, class OfElement>
  [[nodiscard]] float sum(OfRun of_run, OfElement of_element) const {
    const auto& run = layout.elements.inner();
    const ptrdiff_t stride = run.strides[LayerNormLayout::kInput];
    PairwiseSum<float> sum;
    for_each_span([&](char* const* at) {
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
  const float mean = group.sum(ukernel::sum_span, [](float x) { return x; }) / count;
  const float squares =
      group.sum([mean](size_t n, const float* x) { return ukernel::squares_span(n, x, mean); },
                [mean](float x) { return (x - mean) * (x - mean); });
  return {mean, 1.0f / std::sqrt(squares / count + static_cast<float>(eps))};
}

void normalize(const Group& group, const Moments<float>& moments) {
  using Layout = LayerNormLayout;
  const auto& run = group.layout.elements.inner();
  // An absent parameter has no stride to test.
  const auto follows = [&](size_t operand) {
    return run.strides[operand] == kFloat || group.start[operand] == nullptr;
  };
  const bool dense = run.strides[Layout::kInput] == kFloat && run.strides[Layout::kOutput] == kFloat &&
                     follows(Layout::kWeight) && follows(Layout::kBias);
  group.for_each_span([&](char* const* at) {
    // One element at a time if they have a stride.
    const size_t length = dense ? run.size : 1;
    for (size_t i = 0; i < run.size; i += length) {
      const auto element = [&](size_t operand) {
        return at[operand] + static_cast<ptrdiff_t>(i) * run.strides[operand];
      };
      const auto parameter = [&](size_t operand) {
        return group.start[operand] == nullptr ? nullptr : floats_at(element(operand));
      };
      ukernel::normalize_span(length, floats_at(element(Layout::kInput)), moments.mean, moments.rstd,
                              parameter(Layout::kWeight), parameter(Layout::kBias),
                              reinterpret_cast<float*>(element(Layout::kOutput)));
    }
  });
}

// The elements of a group of 16-bit floats, converted to float32 piece by piece.
struct ConvertedGroup {
  using Layout = LayerNormLayout;
  static constexpr size_t kPiece = 1024;
  static constexpr ptrdiff_t kElement = 2;

  const Layout& layout;
  ScalarType type;
  char* const* start;

  // Calls f(n, x, pointers to the first of the n elements in each operand).
  template <class F>
  void for_each_piece(F f) const {
    const auto& run = layout.elements.inner();
    layout.elements.walk(start, 1, [&](char* const* at) {
      alignas(64) float floats[kPiece];
      for (size_t i = 0; i < run.size; i += kPiece) {
        char* pointers[Layout::kElementOperands];
        for (size_t k = 0; k < Layout::kElementOperands; ++k)
          pointers[k] = start[k] == nullptr ? nullptr : at[k] + static_cast<ptrdiff_t>(i) * run.strides[k];
        const size_t n = std::min(kPiece, run.size - i);
        load(floats, n, pointers, Layout::kInput);
        f(n, floats, pointers);
      }
    });
  }

  // Returns null if the parameter is absent.
  const float* load(float* to, size_t n, char* const* pointers, size_t operand) const {
    if (pointers[operand] == nullptr) return nullptr;
    load_floats(to, type, pointers[operand], layout.elements.inner().strides[operand] / kElement, n);
    return to;
  }

  [[nodiscard]] Moments<float> moments(double eps) const {
    if (layout.count == 0) return {0.0f, NAN};
    const auto count = static_cast<float>(layout.count);
    PairwiseSum<float> sum;
    for_each_piece([&](size_t n, const float* x, char* const*) { sum.add(ukernel::sum_span(n, x)); });
    const float mean = sum.total() / count;
    PairwiseSum<float> squares;
    for_each_piece(
        [&](size_t n, const float* x, char* const*) { squares.add(ukernel::squares_span(n, x, mean)); });
    return {mean, 1.0f / std::sqrt(squares.total() / count + static_cast<float>(eps))};
  }

  void normalize(const Moments<float>& moments) const {
    for_each_piece([&](size_t n, float* x, char* const* pointers) {
      alignas(64) float weights[kPiece];
      alignas(64) float biases[kPiece];
      const float* weight = load(weights, n, pointers, Layout::kWeight);
      const float* bias = load(biases, n, pointers, Layout::kBias);
      // In place in the block of converted elements.
      ukernel::normalize_span(n, x, moments.mean, moments.rstd, weight, bias, x);
      store_floats(pointers[Layout::kOutput], layout.elements.inner().strides[Layout::kOutput] / kElement,
                   type, x, n);
    });
  }
};

}  // namespace

Error layer_norm(KernelContext& context, const LayerNormProblem& problem) {
  using Layout = LayerNormLayout;
  const Layout& layout = problem.layout;
  const std::optional<Tensor>& weight = problem.parameters.weight;
  const std::optional<Tensor>& bias = problem.parameters.bias;
  const double eps = problem.parameters.eps;
  const ScalarType type = problem.type();
  char* const start[] = {problem.input.mutable_data_ptr<char>(), problem.out.mutable_data_ptr<char>(),
                         problem.mean.mutable_data_ptr<char>(), problem.rstd.mutable_data_ptr<char>()};
  constexpr size_t kElements = 16384;  // worth another thread
  const size_t grain = kElements / (layout.count + 1) + 1;
  context.parallel_for(layout.groups.count(0), grain, [&](size_t begin, size_t end, size_t) {
    // Groups are independent, so threads divide them; the walk gives the first element and the statistics of
    // each.
    layout.groups.walk_part(start, 0, begin, end, [&](char* const* at) {
      // Parameters begin anew for each group.
      char* const elements[] = {at[Layout::kGroupInput], at[Layout::kGroupOutput],
                                weight ? weight->mutable_data_ptr<char>() : nullptr,
                                bias ? bias->mutable_data_ptr<char>() : nullptr};
      if (type != ScalarType::Float) {
        const ConvertedGroup group{layout, type, elements};
        const Moments<float> of_group = group.moments(eps);
        group.normalize(of_group);
        store_floats(at[Layout::kGroupMean], 1, type, &of_group.mean, 1);
        store_floats(at[Layout::kGroupRstd], 1, type, &of_group.rstd, 1);
        return;
      }
      const Group group{layout, elements};
      const Moments<float> of_group = moments(group, eps);
      normalize(group, of_group);
      *reinterpret_cast<float*>(at[Layout::kGroupMean]) = of_group.mean;
      *reinterpret_cast<float*>(at[Layout::kGroupRstd]) = of_group.rstd;
    });
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
