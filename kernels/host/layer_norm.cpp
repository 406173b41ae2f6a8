// SPDX-License-Identifier: BSD-3-Clause
// Layer normalization: mean, variance and scaling in three passes over each group, which stays in cache. The
// variance is two-pass, as in PyTorch; partial sums are added pairwise. 16-bit floats are converted on the
// stack, in pieces: a group of one piece once, a larger one in each pass.
//
//   y = (x - mean) / sqrt(variance + eps) * weight + bias
#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/backs/norm.h"
#include "kernels/host/elements.h"
#include "kernels/ukernel/doubles.h"
#include "kernels/ukernel/normalize.h"
#include "kernels/ukernel/reduce.h"
#include "kernels/walk/joint_axes.h"

namespace rushlight::kernels::host {

namespace {

// The microkernels of an element type.
struct Singles {
  using Element = float;
  static constexpr auto sum = [](size_t n, const float* x) { return ukernel::sum_span(n, x); };
  static constexpr auto squares = [](auto... arguments) { return ukernel::squares_span(arguments...); };
  static constexpr auto normalize = [](auto... arguments) { ukernel::normalize_span(arguments...); };
};
struct Doubles {
  using Element = double;
  static constexpr auto sum = [](size_t n, const double* x) { return ukernel::sum_span_f64(n, x); };
  static constexpr auto squares = [](auto... arguments) { return ukernel::squares_span_f64(arguments...); };
  static constexpr auto normalize = [](auto... arguments) { ukernel::normalize_span_f64(arguments...); };
};

// The elements of a group, as spans.
template <class Kernels>
struct Group {
  using T = typename Kernels::Element;
  static constexpr ptrdiff_t kSize = sizeof(T);

  const LayerNormLayout& layout;
  char* const* start;

  static const T* elements_at(const char* element) { return reinterpret_cast<const T*>(element); }

  // Calls f(n, x) for each span; its elements may have a stride.
  template <class F>
  void for_each_span(F f) const {
    layout.elements.walk(start, 1, f);
  }

  // The sum over a group: contiguous spans by a microkernel, strided elements one by one, both added
  // pairwise.
  template <class OfRun, class OfElement>
  [[nodiscard]] T sum(OfRun of_run, OfElement of_element) const {
    const auto& run = layout.elements.inner();
    const ptrdiff_t stride = run.strides[LayerNormLayout::kInput];
    PairwiseSum<T> sum;
    for_each_span([&](char* const* at) {
      const char* x = at[LayerNormLayout::kInput];
      if (stride == kSize) return sum.add(of_run(run.size, elements_at(x)));
      for (size_t i = 0; i < run.size; ++i, x += stride) sum.add(of_element(*elements_at(x)));
    });
    return sum.total();
  }

  [[nodiscard]] Moments<T> moments(double eps) const {
    if (layout.count == 0) return {T(0), static_cast<T>(NAN)};
    const auto count = static_cast<T>(layout.count);
    const T mean = sum(Kernels::sum, [](T x) { return x; }) / count;
    const T squares = sum([mean](size_t n, const T* x) { return Kernels::squares(n, x, mean); },
                          [mean](T x) { return (x - mean) * (x - mean); });
    return {mean, T(1) / std::sqrt(squares / count + static_cast<T>(eps))};
  }

  Moments<T> normalize(double eps) const {
    using Layout = LayerNormLayout;
    const Moments<T> found = moments(eps);
    const auto& run = layout.elements.inner();
    // An absent parameter has no stride to test.
    const auto follows = [&](size_t operand) {
      return run.strides[operand] == kSize || start[operand] == nullptr;
    };
    const bool dense = run.strides[Layout::kInput] == kSize && run.strides[Layout::kOutput] == kSize &&
                       follows(Layout::kWeight) && follows(Layout::kBias);
    for_each_span([&](char* const* at) {
      // One element at a time if they have a stride.
      const size_t length = dense ? run.size : 1;
      for (size_t i = 0; i < run.size; i += length) {
        const auto element = [&](size_t operand) {
          return at[operand] + static_cast<ptrdiff_t>(i) * run.strides[operand];
        };
        const auto parameter = [&](size_t operand) {
          return start[operand] == nullptr ? nullptr : elements_at(element(operand));
        };
        Kernels::normalize(length, elements_at(element(Layout::kInput)), found.mean, found.rstd,
                           parameter(Layout::kWeight), parameter(Layout::kBias),
                           reinterpret_cast<T*>(element(Layout::kOutput)));
      }
    });
    return found;
  }
};

// Groups of 16-bit floats, converted to float32 piece by piece. One object for each thread.
class ConvertedGroups {
 public:
  using Layout = LayerNormLayout;

  // `parameters` are the addresses of weight and bias, which may be null.
  ConvertedGroups(const Layout& layout, ScalarType type, const char* weight, const char* bias)
      : layout_(layout),
        type_(type),
        size_(static_cast<ptrdiff_t>(element_size(type))),
        is_held_(layout.count <= kPiece && layout.elements.count(1) == 1) {
    if (!is_held_) return;
    // Every group has the same parameters.
    load(weights_, layout.count, weight, Layout::kWeight);
    load(biases_, layout.count, bias, Layout::kBias);
  }

  // Normalizes the group that begins at the pointers.
  Moments<float> normalize(char* const* start, double eps) {
    const Moments<float> found = moments(start, eps);
    for_each_piece(start, [&](size_t n, char* const* pointers) {
      if (!is_held_) {
        load(floats_, n, pointers[Layout::kInput], Layout::kInput);
        load(weights_, n, pointers[Layout::kWeight], Layout::kWeight);
        load(biases_, n, pointers[Layout::kBias], Layout::kBias);
      }
      ukernel::normalize_span(n, floats_, found.mean, found.rstd,
                              start[Layout::kWeight] == nullptr ? nullptr : weights_,
                              start[Layout::kBias] == nullptr ? nullptr : biases_, floats_);
      store_floats(pointers[Layout::kOutput], layout_.elements.inner().strides[Layout::kOutput] / size_,
                   type_, floats_, n);
    });
    return found;
  }

 private:
  static constexpr size_t kPiece = 2048;

  // Calls f(n, pointers to the first of the n elements in each operand).
  template <class F>
  void for_each_piece(char* const* start, F f) const {
    const auto& run = layout_.elements.inner();
    layout_.elements.walk(start, 1, [&](char* const* at) {
      for (size_t i = 0; i < run.size; i += kPiece) {
        char* pointers[Layout::kElementOperands];
        for (size_t k = 0; k < Layout::kElementOperands; ++k)
          pointers[k] = start[k] == nullptr ? nullptr : at[k] + static_cast<ptrdiff_t>(i) * run.strides[k];
        f(std::min(kPiece, run.size - i), pointers);
      }
    });
  }

  // Nothing if the operand is absent.
  void load(float* to, size_t n, const char* from, size_t operand) const {
    if (from == nullptr) return;
    load_floats(to, type_, from, layout_.elements.inner().strides[operand] / size_, n);
  }

  // Leaves the elements of a held group in floats_.
  Moments<float> moments(char* const* start, double eps) {
    if (layout_.count == 0) return {0.0f, NAN};
    if (is_held_) load(floats_, layout_.count, start[Layout::kInput], Layout::kInput);
    const auto sum = [&](auto of_span) {
      PairwiseSum<float> total;
      for_each_piece(start, [&](size_t n, char* const* pointers) {
        if (!is_held_) load(floats_, n, pointers[Layout::kInput], Layout::kInput);
        total.add(of_span(n));
      });
      return total.total();
    };
    const auto count = static_cast<float>(layout_.count);
    const float mean = sum([&](size_t n) { return ukernel::sum_span(n, floats_); }) / count;
    const float squares = sum([&](size_t n) { return ukernel::squares_span(n, floats_, mean); });
    return {mean, 1.0f / std::sqrt(squares / count + static_cast<float>(eps))};
  }

  const Layout& layout_;
  ScalarType type_;
  ptrdiff_t size_;
  bool is_held_;  // a group is one piece
  alignas(64) float floats_[kPiece];
  alignas(64) float weights_[kPiece];
  alignas(64) float biases_[kPiece];
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
  char* const weights = weight ? weight->mutable_data_ptr<char>() : nullptr;
  char* const biases = bias ? bias->mutable_data_ptr<char>() : nullptr;
  // Groups are independent, so threads divide them. The walk gives the first element and the statistics of
  // each; parameters begin anew for each group.
  const auto for_each_group = [&](size_t begin, size_t end, auto normalize, auto store) {
    layout.groups.walk_part(start, 0, begin, end, [&](char* const* at) {
      char* const elements[] = {at[Layout::kGroupInput], at[Layout::kGroupOutput], weights, biases};
      const auto found = normalize(elements);
      store(at[Layout::kGroupMean], found.mean);
      store(at[Layout::kGroupRstd], found.rstd);
    });
  };
  const auto store = [](char* to, auto value) { *reinterpret_cast<decltype(value)*>(to) = value; };
  constexpr size_t kElements = 16384;  // worth another thread
  const size_t grain = kElements / (layout.count + 1) + 1;
  context.parallel_for(layout.groups.count(0), grain, [&](size_t begin, size_t end, size_t) {
    if (widens(type)) {
      ConvertedGroups groups(layout, type, weights, biases);
      return for_each_group(
          begin, end, [&](char* const* at) { return groups.normalize(at, eps); },
          [type](char* to, float value) { store_floats(to, 1, type, &value, 1); });
    }
    if (is_double(type)) {
      return for_each_group(
          begin, end, [&](char* const* at) { return Group<Doubles>{layout, at}.normalize(eps); }, store);
    }
    for_each_group(
        begin, end, [&](char* const* at) { return Group<Singles>{layout, at}.normalize(eps); }, store);
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
