// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/normalization/normalization.h"

namespace rushlight::kernels {

namespace {

// Parameters have the dtype of the input, or are float32 for 16-bit inputs.
bool goes_with(ScalarType parameter, ScalarType input) {
  return parameter == input || (parameter == ScalarType::Float && contains(types::kReducedFloat, input));
}

Error check_goes_with(const Tensor& tensor, const Tensor& input, const char* name) {
  RL_CHECK(goes_with(tensor.scalar_type(), input.scalar_type()), Error::InvalidType,
           "%s: dtype %s does not suit an input of %s", name, to_string(tensor.scalar_type()),
           to_string(input.scalar_type()));
  return check_convertible(tensor.scalar_type());
}

}  // namespace

Error check_parameter_shape(const std::optional<Tensor>& parameter, Span<const SizesType> shape,
                            const char* name) {
  if (!parameter) return Error::Ok;
  const auto sizes = parameter->sizes();
  // No broadcasting: parameters have the normalized shape.
  bool same = sizes.size() == shape.size();
  for (size_t d = 0; same && d < shape.size(); ++d) same = sizes[d] == shape[d];
  RL_CHECK(same, Error::InvalidArgument, "%s: expected the normalized shape", name);
  return Error::Ok;
}

Error check_group_sizes(const Tensor& input, int64_t samples, int64_t channels, int64_t positions,
                        int64_t group) {
  RL_CHECK(input.dim() >= 2, Error::InvalidArgument, "input: expected rank 2 at least, got %d",
           static_cast<int>(input.dim()));
  // The schema repeats the sizes of the input; kernels rely on their agreement.
  int64_t found = 1;
  for (ptrdiff_t d = 2; d < input.dim(); ++d) found *= input.size(d);
  RL_CHECK(input.size(0) == samples && input.size(1) == channels && found == positions,
           Error::InvalidArgument, "N, C, HxW: expected the input's %ld, %ld and %ld",
           static_cast<long>(input.size(0)), static_cast<long>(input.size(1)), static_cast<long>(found));
  // Each group has channels / group channels, so that must be an integer.
  RL_CHECK(group >= 1 && group <= INT32_MAX && channels % group == 0, Error::InvalidArgument,
           "group: expected a divisor of %ld channels, got %ld", static_cast<long>(channels),
           static_cast<long>(group));
  return Error::Ok;
}

Error check_normalization_types(const Tensor& input, const NormalizationParameters& parameters,
                                const Tensor& out, const Tensor& mean, const Tensor& rstd) {
  RL_TRY(check_same_dtype(input, out, "input and out0"));
  RL_TRY(check_convertible(computed_type(input.scalar_type())));
  RL_TRY(check_goes_with(mean, input, "out1"));
  RL_TRY(check_goes_with(rstd, input, "out2"));
  if (parameters.weight) RL_TRY(check_goes_with(*parameters.weight, input, "weight"));
  if (parameters.bias) RL_TRY(check_goes_with(*parameters.bias, input, "bias"));
  // One loop reads both, so they need one dtype.
  if (parameters.weight && parameters.bias) {
    return check_same_dtype(*parameters.weight, *parameters.bias, "weight and bias");
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
