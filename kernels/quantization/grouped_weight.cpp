// SPDX-License-Identifier: BSD-3-Clause
// Checks every size and stride once, so that packing and products need no further tests.
#include "kernels/quantization/grouped_weight.h"

#include "kernels/checks/checks.h"

namespace rushlight::kernels {

namespace {

Error check_elements(const Tensor& weight, size_t depth) {
  const ScalarType type = weight.scalar_type();
  RL_CHECK(type == ScalarType::Char || type == ScalarType::Byte, Error::InvalidType,
           "weight: expected dtype int8, or uint8 with two values a byte, got %s", to_string(type));
  RL_CHECK(weight.dim() == 2, Error::InvalidArgument, "weight: expected rank 2, got %d",
           static_cast<int>(weight.dim()));
  // Two weights in a byte; with an odd depth the last byte has one.
  const size_t columns = type == ScalarType::Byte ? (depth + 1) / 2 : depth;
  RL_CHECK(static_cast<size_t>(weight.size(1)) == columns, Error::InvalidArgument,
           "weight: expected %lu columns for %lu input features, got %ld",
           static_cast<unsigned long>(columns), static_cast<unsigned long>(depth),
           static_cast<long>(weight.size(1)));
  RL_CHECK(weight.size(1) <= 1 || weight.strides()[1] == 1, Error::InvalidArgument,
           "weight: expected contiguous rows");
  return Error::Ok;
}

// Scales [1], [features] or [features, groups]; a group has depth / groups consecutive inputs.
Error find_groups(const Tensor& scales, size_t depth, GroupedWeight* made) {
  RL_CHECK(scales.scalar_type() == ScalarType::Float, Error::InvalidType,
           "weight_scales: expected dtype float32, got %s", to_string(scales.scalar_type()));
  // One scale for all features needs no stride.
  const bool is_one = scales.dim() <= 1 && scales.numel() == 1;
  if (is_one) return Error::Ok;
  RL_CHECK(scales.dim() >= 1 && scales.dim() <= 2 && static_cast<size_t>(scales.size(0)) == made->features,
           Error::InvalidArgument, "weight_scales: expected one, or a row for each of %lu features",
           static_cast<unsigned long>(made->features));
  made->scale_stride = scales.strides()[0];
  if (scales.dim() == 1) return Error::Ok;
  made->form.groups = static_cast<size_t>(scales.size(1));
  RL_CHECK(made->form.groups <= 1 || scales.strides()[1] == 1, Error::InvalidArgument,
           "weight_scales: expected contiguous rows");
  RL_CHECK(made->form.groups > 0 && depth % made->form.groups == 0, Error::InvalidArgument,
           "weight_scales: expected groups that divide %lu input features, got %lu",
           static_cast<unsigned long>(depth), static_cast<unsigned long>(made->form.groups));
  made->form.group = depth / made->form.groups;
  // Groups of packed weights must not share a byte.
  RL_CHECK(made->form.groups == 1 ||
               (made->form.group > 0 && (!made->form.is_packed || made->form.group % 2 == 0)),
           Error::InvalidArgument, "weight_scales: expected groups of %s, got one of %lu",
           made->form.is_packed ? "an even number of weights" : "at least one weight",
           static_cast<unsigned long>(made->form.group));
  return Error::Ok;
}

Error make_grouped_weight(const Tensor& weight, const Tensor& scales, size_t depth, GroupedWeight* made) {
  RL_TRY(check_elements(weight, depth));
  made->data = weight.const_data_ptr<char>();
  made->stride = weight.strides()[0];
  made->form.is_packed = weight.scalar_type() == ScalarType::Byte;
  made->features = static_cast<size_t>(weight.size(0));
  // One group, unless the scales have more.
  made->form.group = depth;
  made->scales = scales.const_data_ptr<float>();
  return find_groups(scales, depth, made);
}

// In float32, since results are: sums are dequantized before the bias is added.
Error check_bias(const Tensor& bias, size_t features) {
  RL_CHECK(bias.scalar_type() == ScalarType::Float, Error::InvalidType,
           "bias: expected dtype float32, got %s", to_string(bias.scalar_type()));
  RL_CHECK(bias.dim() == 1 && bias.numel() == features, Error::InvalidArgument,
           "bias: expected %lu elements, got %lu in rank %d", static_cast<unsigned long>(features),
           static_cast<unsigned long>(bias.numel()), static_cast<int>(bias.dim()));
  return Error::Ok;
}

}  // namespace

Error plan_grouped_linear(TypeSet types, const Tensor& input, const Tensor& weight, const Tensor& scales,
                          const std::optional<Tensor>& bias, GroupedWeight* made, Shape* shape) {
  if (!contains(types & type_set(ScalarType::Float), input.scalar_type())) {
    return unsupported_type(input.scalar_type());
  }
  RL_CHECK(input.dim() >= 1, Error::InvalidArgument, "input: expected rank 1 at least, got 0");
  // [..., depth] becomes [..., features].
  const auto depth = static_cast<size_t>(input.sizes()[input.sizes().size() - 1]);
  RL_TRY(make_grouped_weight(weight, scales, depth, made));
  if (bias) RL_TRY(check_bias(*bias, made->features));
  *shape = Shape::of(input, 1);
  shape->push(static_cast<ptrdiff_t>(made->features));
  return Error::Ok;
}

}  // namespace rushlight::kernels
