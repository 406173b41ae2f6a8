// SPDX-License-Identifier: BSD-3-Clause
// CTC loss: Graves et al., "Connectionist Temporal Classification", ICML 2006. The forward half of their
// forward-backward algorithm in log space, which avoids the underflow of products of probabilities. Each
// sample takes times * (2 * labels + 1) steps; alpha is kept as the second output for the gradient. With l(s)
// the label of state s:
//
//   alpha(t, s) = log p(t, l(s)) + log(sum of exp(alpha(t - 1, s')) for s' = s, s - 1 and, if allowed, s - 2)
//
// A step may skip the blank between two labels, s' = s - 2, only if the labels differ.
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/index/index.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::_ctc_loss.out") | selected_types("aten::_ctc_loss.Tensor_out");

int64_t read(const Tensor& tensor, ptrdiff_t i) {
  return read_index(tensor.const_data_ptr<char>() + i * byte_stride(tensor, tensor.sizes().size() - 1),
                    tensor.scalar_type());
}

// One length for each sample, from a list or from a tensor.
struct Lengths {
  Span<const int64_t> numbers;
  const Tensor* tensor = nullptr;

  [[nodiscard]] size_t count() const { return tensor == nullptr ? numbers.size() : tensor->numel(); }
  [[nodiscard]] int64_t at(ptrdiff_t i) const {
    return tensor == nullptr ? numbers[static_cast<size_t>(i)] : read(*tensor, i);
  }
};

struct Arguments {
  const Tensor& log_probs;  // [times, samples, classes]
  const Tensor& targets;    // [samples, labels], or all labels concatenated
  Lengths input_lengths;
  Lengths target_lengths;
  int64_t blank;
};

// One sample: its lengths, its labels and its part of alpha.
struct Sample {
  const Arguments& arguments;
  ptrdiff_t index;
  int64_t times;
  int64_t labels;
  const char* first_label;
  char* alpha;
  ptrdiff_t time_step;  // strides of alpha in bytes
  ptrdiff_t state_step;
  ScalarType type;

  // States alternate between blanks and labels. Invalid labels count as blanks. The check leaves out labels
  // of matrix targets, whose rows may end in padding of any value, and memory may have changed since.
  [[nodiscard]] int64_t label(int64_t state) const {
    if (state % 2 == 0) return arguments.blank;
    const Tensor& targets = arguments.targets;
    const auto step = byte_stride(targets, targets.sizes().size() - 1);
    const int64_t label =
        read_index(first_label + static_cast<ptrdiff_t>(state / 2) * step, targets.scalar_type());
    return label >= 0 && label < arguments.log_probs.size(2) ? label : arguments.blank;
  }
  [[nodiscard]] double log_prob(int64_t time, int64_t label) const {
    const Tensor& tensor = arguments.log_probs;
    return load_number(tensor.const_data_ptr<char>() + static_cast<ptrdiff_t>(time) * byte_stride(tensor, 0) +
                           index * byte_stride(tensor, 1) +
                           static_cast<ptrdiff_t>(label) * byte_stride(tensor, 2),
                       type);
  }
  [[nodiscard]] char* alpha_at(int64_t time, int64_t state) const {
    return alpha + static_cast<ptrdiff_t>(time) * time_step + static_cast<ptrdiff_t>(state) * state_step;
  }
  // -inf, the logarithm of 0, for states before the first.
  [[nodiscard]] double log_alpha(int64_t time, int64_t state) const {
    return state < 0 ? -INFINITY : load_number(alpha_at(time, state), type);
  }
};

// log(exp(a) + exp(b) + exp(c)). The largest is subtracted, so one exponential is 1 and none overflows.
double log_sum(double a, double b, double c) {
  const double largest = std::fmax(a, std::fmax(b, c));
  if (largest == -INFINITY) return -INFINITY;
  return largest + std::log(std::exp(a - largest) + std::exp(b - largest) + std::exp(c - largest));
}

// The negative log likelihood of one sample. Fills alpha, which is -inf everywhere at first. A path starts in
// the first blank or label and ends in the last label or blank. Values are read back from alpha, so each step
// is rounded to the dtype of log_probs.
double loss_of(const Sample& sample) {
  const int64_t last = 2 * sample.labels;
  if (sample.times == 0) return sample.labels == 0 ? 0 : INFINITY;
  for (int64_t state = 0; state <= last && state < 2; ++state) {
    store_number(sample.alpha_at(0, state), sample.type, sample.log_prob(0, sample.label(state)));
  }
  for (int64_t time = 1; time < sample.times; ++time) {
    for (int64_t state = 0; state <= last; ++state) {
      const int64_t label = sample.label(state);
      // Between two equal states, also two blanks, no skip is allowed.
      const bool may_skip = state >= 2 && sample.label(state - 2) != label;
      const double before = log_sum(sample.log_alpha(time - 1, state), sample.log_alpha(time - 1, state - 1),
                                    may_skip ? sample.log_alpha(time - 1, state - 2) : -INFINITY);
      store_number(sample.alpha_at(time, state), sample.type, before + sample.log_prob(time, label));
    }
  }
  return -log_sum(sample.log_alpha(sample.times - 1, last), sample.log_alpha(sample.times - 1, last - 1),
                  -INFINITY);
}

Error check_tensors(const Arguments& arguments) {
  const Tensor& log_probs = arguments.log_probs;
  if (!contains(kTypes & types::kFloating, log_probs.scalar_type())) {
    return unsupported_type(log_probs.scalar_type());
  }
  RL_TRY(check_index_dtype(arguments.targets));
  const ptrdiff_t rank = arguments.targets.dim();
  RL_CHECK(
      log_probs.dim() == 3 && (rank == 1 || (rank == 2 && arguments.targets.size(0) == log_probs.size(1))),
      Error::InvalidArgument, "log_probs and targets: expected 3 dimensions, and 1 or samples and labels");
  RL_CHECK(arguments.blank >= 0 && arguments.blank < log_probs.size(2), Error::InvalidArgument,
           "blank: expected one of %ld classes, got %lld", static_cast<long>(log_probs.size(2)),
           static_cast<long long>(arguments.blank));
  for (const Lengths* lengths : {&arguments.input_lengths, &arguments.target_lengths}) {
    if (lengths->tensor != nullptr) {
      RL_TRY(check_index_dtype(*lengths->tensor));
      RL_CHECK(lengths->tensor->dim() == 1, Error::InvalidArgument, "lengths: expected 1 dimension");
    }
    RL_CHECK(lengths->count() == static_cast<size_t>(log_probs.size(1)), Error::InvalidArgument,
             "lengths: expected one for each of %ld samples", static_cast<long>(log_probs.size(1)));
  }
  // Concatenated targets have no padding, so every label must be a class.
  for (ptrdiff_t i = 0; rank == 1 && i < arguments.targets.size(0); ++i) {
    RL_TRY(check_index(read(arguments.targets, i), log_probs.size(2)));
  }
  return Error::Ok;
}

// Checks all lengths and computes the length of the longest target. Concatenated targets must hold the labels
// of all samples; the labels of a sample must fit in its row of a matrix.
Error check_lengths(const Arguments& arguments, int64_t* longest) {
  const bool joined = arguments.targets.dim() == 1;
  int64_t left = joined ? arguments.targets.size(0) : 0;
  *longest = 0;
  for (ptrdiff_t n = 0; n < arguments.log_probs.size(1); ++n) {
    const int64_t times = arguments.input_lengths.at(n);
    const int64_t labels = arguments.target_lengths.at(n);
    RL_CHECK(times >= 0 && times <= arguments.log_probs.size(0), Error::InvalidArgument,
             "input_lengths: expected 0 to %ld, got %lld", static_cast<long>(arguments.log_probs.size(0)),
             static_cast<long long>(times));
    if (!joined) left = arguments.targets.size(1);
    RL_CHECK(labels >= 0 && labels <= left, Error::InvalidArgument,
             "target_lengths: expected 0 to %lld, got %lld", static_cast<long long>(left),
             static_cast<long long>(labels));
    if (joined) left -= labels;
    if (labels > *longest) *longest = labels;
  }
  return Error::Ok;
}

// out0: the loss of each sample. out1: log alpha, [samples, times, states].
Error ctc_loss(const Arguments& arguments, const Tensor& out0, const Tensor& out1) {
  RL_TRY(check_tensors(arguments));
  int64_t longest = 0;
  RL_TRY(check_lengths(arguments, &longest));
  const Tensor& log_probs = arguments.log_probs;
  RL_TRY(check_same_dtype(log_probs, out0, "log_probs and out0"));
  RL_TRY(check_same_dtype(log_probs, out1, "log_probs and out1"));
  const SizesType samples = log_probs.sizes()[1];
  // 2 * longest + 1 fits in the 32 bits of a size.
  RL_CHECK(longest < INT32_MAX / 2, Error::InvalidArgument, "target_lengths: too long");
  const SizesType states[] = {samples, log_probs.sizes()[0], static_cast<SizesType>(2 * longest + 1)};
  RL_TRY(resize_out(out0, {&samples, 1}));
  RL_TRY(resize_out(out1, {states, 3}));
  const ScalarType type = log_probs.scalar_type();
  char* alpha = out1.mutable_data_ptr<char>();
  for (size_t i = 0; i < out1.numel(); ++i) {
    store_number(alpha + i * out1.element_size(), type, -INFINITY);
  }
  const Tensor& targets = arguments.targets;
  const char* label = targets.const_data_ptr<char>();
  int64_t left = targets.dim() == 1 ? targets.size(0) : 0;
  for (ptrdiff_t n = 0; n < samples; ++n) {
    if (targets.dim() == 2) {
      label = targets.const_data_ptr<char>() + n * byte_stride(targets, 0);
      left = targets.size(1);
    }
    // Clamps lengths again: the tensors may have changed since the check.
    int64_t times = arguments.input_lengths.at(n);
    times = times < 0 || times > log_probs.size(0) ? 0 : times;
    int64_t labels = arguments.target_lengths.at(n);
    labels = labels < 0 || labels > left || labels > longest ? 0 : labels;
    const Sample sample{arguments,
                        n,
                        times,
                        labels,
                        label,
                        alpha + n * byte_stride(out1, 0),
                        byte_stride(out1, 1),
                        byte_stride(out1, 2),
                        type};
    store_number(out0.mutable_data_ptr<char>() + n * byte_stride(out0, 0), type, loss_of(sample));
    if (targets.dim() == 1) {
      label += static_cast<ptrdiff_t>(labels) * byte_stride(targets, 0);
      left -= labels;
    }
  }
  return Error::Ok;
}

// The boolean is zero_infinity, which changes only the gradient.
}  // namespace

Error _ctc_loss_out(KernelContext&, const Tensor& log_probs, const Tensor& targets,
                    Span<const int64_t> input_lengths, Span<const int64_t> target_lengths, int64_t blank,
                    bool, Tensor& out0, Tensor& out1) {
  return ctc_loss({log_probs, targets, {input_lengths}, {target_lengths}, blank}, out0, out1);
}

Error _ctc_loss_tensor_out(KernelContext&, const Tensor& log_probs, const Tensor& targets,
                           const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank, bool,
                           Tensor& out0, Tensor& out1) {
  return ctc_loss({log_probs, targets, {{}, &input_lengths}, {{}, &target_lengths}, blank}, out0, out1);
}

}  // namespace rushlight::kernels
