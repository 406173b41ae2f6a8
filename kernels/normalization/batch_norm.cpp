// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/normalization/batch_norm.h"

namespace rushlight::kernels {

namespace {

Error check_vector(const std::optional<Tensor>& vector, const Tensor& input, ScalarType type,
                   const char* name) {
  if (!vector) return Error::Ok;
  RL_CHECK(vector->dim() == 1 && vector->size(0) == input.size(1), Error::InvalidArgument,
           "%s: expected one element for each of %ld channels", name, static_cast<long>(input.size(1)));
  RL_CHECK(vector->scalar_type() == type, Error::InvalidType, "%s: expected dtype %s, got %s", name,
           to_string(type), to_string(vector->scalar_type()));
  return Error::Ok;
}

}  // namespace

Error check_batch_norm(const Tensor& input, const NormalizationParameters& parameters,
                       const std::optional<Tensor>& mean, const std::optional<Tensor>& var) {
  RL_CHECK(input.dim() >= 2, Error::InvalidArgument, "input: expected rank 2 at least, got %d",
           static_cast<int>(input.dim()));
  // The statistics set the dtype of all parameters; without them, in training, the first parameter does.
  const ScalarType of_input = input.scalar_type();
  const ScalarType type = mean ? mean->scalar_type() : parameters.type(of_input);
  // PyTorch's mixed precision: 16-bit inputs with float32 parameters.
  const bool widened = contains(types::kReducedFloat, of_input) && type == ScalarType::Float;
  RL_CHECK(type == of_input || widened, Error::InvalidType, "%s: dtype %s does not suit an input of %s",
           mean ? "running_mean" : "weight and bias", to_string(type), to_string(of_input));
  RL_TRY(check_vector(mean, input, type, "running_mean"));
  RL_TRY(check_vector(var, input, type, "running_var"));
  RL_TRY(check_vector(parameters.weight, input, type, "weight"));
  return check_vector(parameters.bias, input, type, "bias");
}

Error prepare_batch_norm_outs(const Tensor& input, SizesType saved, const Tensor& out,
                              const Tensor& save_mean, const Tensor& save_invstd) {
  RL_TRY(check_same_dtype(input, out, "input and out"));
  RL_TRY(resize_out(out, input.sizes()));
  // Inference saves no statistics: `saved` is 0 then.
  RL_TRY(resize_out(save_mean, {&saved, 1}));
  return resize_out(save_invstd, {&saved, 1});
}

}  // namespace rushlight::kernels
