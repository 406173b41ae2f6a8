// SPDX-License-Identifier: BSD-3-Clause
// Gradients of layer and group normalization, in double. Both normalize elements in groups and then scale by
// a weight: layer normalization has one for each position in a group, group normalization one for each
// channel. With g = grad * weight and x the normalized input:
//
//   input   rstd * (g - mean(g) - x * mean(g * x))   two passes over each group
//   weight  sum of grad * x                          one pass over the elements that share the weight
//   bias    sum of grad                              in the same pass
//
// Sums are sequential: in double the error is far below the rounding of a float32 result. No scratch.
#include <cstddef>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/normalization/normalization.h"
#include "kernels/walk/joint_axes.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::native_layer_norm_backward.out") |
                           selected_types("aten::native_group_norm_backward.out");

// Absent optional operands have null pointers and stride 0.
enum Operand {
  kGrad,
  kInput,
  kMean,
  kRstd,
  kWeight,
  kGradInput,
  kGradWeight,
  kGradBias,
  kOperands,
};
using Pointers = char* const*;

struct Plan {
  ScalarType types[kOperands] = {};
  char* start[kOperands] = {};
  JointAxes<kOperands> groups;    // step from group to group
  JointAxes<kOperands> elements;  // step within a group
  JointAxes<kOperands> weights;   // step from weight to weight
  JointAxes<kOperands> sharers;   // step over the elements that share a weight
  double count = 1;               // number of elements of a group

  // Adds a dimension. `in_group`: it lies within groups, and is an axis of their elements, otherwise of the
  // groups. `has_weight`: the weights vary along it, and it is an axis of the weights, otherwise of their
  // sharers.
  void add(ptrdiff_t size, bool in_group, bool has_weight, const ptrdiff_t (&strides)[kOperands]) {
    JointAxes<kOperands>::Axis axis{static_cast<size_t>(size), {}};
    for (size_t k = 0; k < kOperands; ++k) axis.strides[k] = start[k] == nullptr ? 0 : strides[k];
    (in_group ? elements : groups).add(axis);
    (has_weight ? weights : sharers).add(axis);
    if (in_group) count *= static_cast<double>(size);
  }

  void set(Operand operand, const Tensor& tensor) {
    types[operand] = tensor.scalar_type();
    start[operand] = tensor.mutable_data_ptr<char>();
  }

  [[nodiscard]] double read(Pointers at, Operand operand) const {
    return load_number(at[operand], types[operand]);
  }
  void write(Pointers at, Operand operand, double value) const {
    if (at[operand] != nullptr) store_number(at[operand], types[operand], value);
  }
};

// Type-erased, so that the walk is compiled only once.
void walk(const JointAxes<kOperands>& axes, Pointers start, void* context, void (*visit)(void*, Pointers)) {
  axes.walk(start, 0, [&](Pointers at) { visit(context, at); });
}

template <class F>
void walk(const JointAxes<kOperands>& axes, Pointers start, F f) {
  walk(axes, start, &f, [](void* context, Pointers at) { (*static_cast<F*>(context))(at); });
}

void input_gradient(const Plan& plan) {
  walk(plan.groups, plan.start, [&](Pointers group) {
    const double mean = plan.read(group, kMean);
    const double rstd = plan.read(group, kRstd);
    double sum = 0;         // sum of grad * weight
    double correlated = 0;  // sum of grad * weight * normalized input
    const auto weighted = [&](Pointers at) {
      return plan.read(at, kGrad) * (at[kWeight] == nullptr ? 1 : plan.read(at, kWeight));
    };
    walk(plan.elements, group, [&](Pointers at) {
      const double gradient = weighted(at);
      sum += gradient;
      correlated += gradient * (plan.read(at, kInput) - mean) * rstd;
    });
    sum /= plan.count;
    correlated /= plan.count;
    walk(plan.elements, group, [&](Pointers at) {
      const double normalized = (plan.read(at, kInput) - mean) * rstd;
      plan.write(at, kGradInput, rstd * (weighted(at) - sum - normalized * correlated));
    });
  });
}

void weight_gradients(const Plan& plan) {
  walk(plan.weights, plan.start, [&](Pointers first) {
    double sum = 0;
    double correlated = 0;
    walk(plan.sharers, first, [&](Pointers at) {
      const double gradient = plan.read(at, kGrad);
      sum += gradient;
      correlated += gradient * (plan.read(at, kInput) - plan.read(at, kMean)) * plan.read(at, kRstd);
    });
    plan.write(first, kGradWeight, correlated);
    plan.write(first, kGradBias, sum);
  });
}

struct Tensors {
  const Tensor& grad;
  const Tensor& input;
  const Tensor& mean;
  const Tensor& rstd;
  const std::optional<Tensor>& weight;
  Span<const bool> mask;
  Tensor* const outs[3];
};

// Checks shared by both operators. Resizes the outputs and records pointers and dtypes; `parameters` is the
// shape of the weights.
Error prepare(const Tensors& tensors, Span<const SizesType> parameters, Plan* plan) {
  RL_CHECK(tensors.mask.size() == 3, Error::InvalidArgument, "output_mask: expected 3 booleans, got %lu",
           log_number(tensors.mask.size()));
  if (!contains(kTypes, tensors.input.scalar_type())) return unsupported_type(tensors.input.scalar_type());
  RL_TRY(check_same_dtype(tensors.input, tensors.grad, "input and grad_out"));
  RL_TRY(check_loadable(tensors.mean));
  RL_TRY(check_loadable(tensors.rstd));
  RL_TRY(check_parameter_shape(tensors.grad, tensors.input.sizes(), "grad_out"));
  RL_TRY(check_parameter_shape(tensors.weight, parameters, "weight"));
  plan->set(kGrad, tensors.grad);
  plan->set(kInput, tensors.input);
  plan->set(kMean, tensors.mean);
  plan->set(kRstd, tensors.rstd);
  if (tensors.weight) {
    RL_TRY(check_loadable(*tensors.weight));
    plan->set(kWeight, *tensors.weight);
  }
  const Operand operands[] = {kGradInput, kGradWeight, kGradBias};
  for (size_t i = 0; i < 3; ++i) {
    if (!tensors.mask[i]) continue;
    RL_TRY(check_loadable(*tensors.outs[i]));
    RL_TRY(check_can_cast(tensors.input.scalar_type(), *tensors.outs[i]));
    RL_TRY(resize_out(*tensors.outs[i], i == 0 ? tensors.input.sizes() : parameters));
    plan->set(operands[i], *tensors.outs[i]);
  }
  return Error::Ok;
}

// An output that the mask leaves out has no address, and its sums are not computed.
Error run(const Plan& plan) {
  if (plan.start[kGradInput] != nullptr) input_gradient(plan);
  if (plan.start[kGradWeight] != nullptr || plan.start[kGradBias] != nullptr) weight_gradients(plan);
  return Error::Ok;
}

// Byte stride of an optional tensor; 0 if it is absent.
ptrdiff_t step_of(const Tensor* tensor, size_t d) { return tensor == nullptr ? 0 : byte_stride(*tensor, d); }

}  // namespace

Error native_layer_norm_backward_out(KernelContext&, const Tensor& grad_out, const Tensor& input,
                                     Span<const int64_t> normalized_shape, const Tensor& mean,
                                     const Tensor& rstd, const std::optional<Tensor>& weight,
                                     const std::optional<Tensor>&, Span<const bool> output_mask, Tensor& out0,
                                     Tensor& out1, Tensor& out2) {
  const size_t rank = input.sizes().size();
  RL_CHECK(!normalized_shape.empty() && normalized_shape.size() <= rank, Error::InvalidArgument,
           "normalized_shape: expected 1 to %lu sizes, got %lu", log_number(rank),
           log_number(normalized_shape.size()));
  const size_t first = rank - normalized_shape.size();
  Shape statistics;
  // Statistics have the rank of the input, with sizes of 1 for the normalized dimensions.
  for (size_t d = 0; d < rank; ++d) statistics.push(d < first ? input.sizes()[d] : 1);
  RL_TRY(check_parameter_shape(mean, statistics.span(), "mean"));
  RL_TRY(check_parameter_shape(rstd, statistics.span(), "rstd"));
  const Tensors tensors{grad_out, input, mean, rstd, weight, output_mask, {&out0, &out1, &out2}};
  Plan plan;
  RL_TRY(prepare(tensors, input.sizes().subspan(first, rank - first), &plan));
  for (size_t d = rank; d-- > 0;) {
    const bool inner = d >= first;
    const auto parameter = [&](const Tensor* tensor) { return inner ? step_of(tensor, d - first) : 0; };
    plan.add(input.sizes()[d], inner, inner,
             {byte_stride(grad_out, d), byte_stride(input, d), inner ? 0 : byte_stride(mean, d),
              inner ? 0 : byte_stride(rstd, d), parameter(weight ? &*weight : nullptr),
              output_mask[0] ? byte_stride(out0, d) : 0, parameter(output_mask[1] ? &out1 : nullptr),
              parameter(output_mask[2] ? &out2 : nullptr)});
  }
  return run(plan);
}

Error native_group_norm_backward_out(KernelContext&, const Tensor& grad_out, const Tensor& input,
                                     const Tensor& mean, const Tensor& rstd,
                                     const std::optional<Tensor>& weight, int64_t N, int64_t C, int64_t HxW,
                                     int64_t group, Span<const bool> output_mask, Tensor& out0, Tensor& out1,
                                     Tensor& out2) {
  RL_TRY(check_group_sizes(input, N, C, HxW, group));
  const SizesType channels = input.sizes()[1];
  const SizesType statistics[] = {input.sizes()[0], static_cast<SizesType>(group)};
  RL_TRY(check_parameter_shape(mean, {statistics, 2}, "mean"));
  RL_TRY(check_parameter_shape(rstd, {statistics, 2}, "rstd"));
  const Tensors tensors{grad_out, input, mean, rstd, weight, output_mask, {&out0, &out1, &out2}};
  Plan plan;
  RL_TRY(prepare(tensors, {&channels, 1}, &plan));
  const auto out0_step = [&](size_t d) { return output_mask[0] ? byte_stride(out0, d) : 0; };
  for (size_t d = input.sizes().size(); d-- > 2;) {
    plan.add(input.sizes()[d], true, false,
             {byte_stride(grad_out, d), byte_stride(input, d), 0, 0, 0, out0_step(d), 0, 0});
  }
  // The channels dimension splits in two: channels within a group, and groups.
  const ptrdiff_t parts[] = {channels / static_cast<ptrdiff_t>(group), static_cast<ptrdiff_t>(group)};
  for (size_t i = 0; i < 2; ++i) {
    const ptrdiff_t step = i == 0 ? 1 : parts[0];
    const auto parameter = [&](const Tensor* tensor) { return step * step_of(tensor, 0); };
    plan.add(
        parts[i], i == 0, true,
        {step * byte_stride(grad_out, 1), step * byte_stride(input, 1), i == 0 ? 0 : byte_stride(mean, 1),
         i == 0 ? 0 : byte_stride(rstd, 1), parameter(weight ? &*weight : nullptr), step * out0_step(1),
         parameter(output_mask[1] ? &out1 : nullptr), parameter(output_mask[2] ? &out2 : nullptr)});
  }
  plan.add(input.sizes()[0], false, false,
           {byte_stride(grad_out, 0), byte_stride(input, 0), byte_stride(mean, 0), byte_stride(rstd, 0), 0,
            out0_step(0), 0, 0});
  return run(plan);
}

}  // namespace rushlight::kernels
