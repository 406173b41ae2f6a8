// SPDX-License-Identifier: BSD-3-Clause
// Axes are added in the order of memory, innermost first, so that contiguous dimensions merge into one loop
// in any dim order.
#include "kernels/normalization/layer_norm.h"

namespace rushlight::kernels {

namespace {

ptrdiff_t parameter_stride(const std::optional<Tensor>& parameter, size_t d) {
  return parameter ? byte_stride(*parameter, d) : 0;
}

Error check_shapes(const Tensor& input, Span<const int64_t> normalized_shape,
                   const NormalizationParameters& parameters) {
  const size_t rank = input.sizes().size();
  RL_CHECK(!normalized_shape.empty() && normalized_shape.size() <= rank, Error::InvalidArgument,
           "normalized_shape: expected 1 to %lu sizes, got %lu", static_cast<unsigned long>(rank),
           static_cast<unsigned long>(normalized_shape.size()));
  // The normalized shape is the end of the input's shape.
  const size_t first = rank - normalized_shape.size();
  for (size_t i = 0; i < normalized_shape.size(); ++i) {
    RL_CHECK(input.sizes()[first + i] == normalized_shape[i], Error::InvalidArgument,
             "normalized_shape: expected the input's size %ld at %lu, got %ld",
             static_cast<long>(input.sizes()[first + i]), static_cast<unsigned long>(i),
             static_cast<long>(normalized_shape[i]));
  }
  const auto shape = input.sizes().subspan(first, normalized_shape.size());
  RL_TRY(check_parameter_shape(parameters.weight, shape, "weight"));
  return check_parameter_shape(parameters.bias, shape, "bias");
}

}  // namespace

Error plan_layer_norm(const Tensor& input, Span<const int64_t> normalized_shape,
                      const NormalizationParameters& parameters, const Tensor& out, const Tensor& mean,
                      const Tensor& rstd, LayerNormLayout* layout) {
  RL_TRY(check_shapes(input, normalized_shape, parameters));
  RL_TRY(check_normalization_types(input, parameters, out, mean, rstd));
  const size_t first = input.sizes().size() - normalized_shape.size();
  Shape statistics;
  // The statistics keep the rank of the input, with size 1 for normalized dimensions.
  for (size_t d = 0; d < input.sizes().size(); ++d) statistics.push(d < first ? input.sizes()[d] : 1);
  RL_TRY(resize_out(out, input.sizes()));
  RL_TRY(resize_out(mean, statistics.span()));
  RL_TRY(resize_out(rstd, statistics.span()));
  for (size_t i = input.sizes().size(); i-- > 0;) {
    const size_t d = input.dim_order()[i];
    const auto size = static_cast<size_t>(input.sizes()[d]);
    const ptrdiff_t from = byte_stride(input, d);
    const ptrdiff_t to = byte_stride(out, d);
    if (d < first) {
      layout->groups.add({size, {from, to, byte_stride(mean, d), byte_stride(rstd, d)}});
    } else {
      // All groups share weight and bias, whose dimensions are the normalized ones.
      layout->count *= size;
      layout->elements.add({size,
                            {from, to, parameter_stride(parameters.weight, d - first),
                             parameter_stride(parameters.bias, d - first)}});
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
