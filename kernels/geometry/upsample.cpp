// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/geometry/upsample.h"

namespace rushlight::kernels {

// Batch and channels stay; axes of the volume that the input does not have get size 1.
Error plan_upsample(const Tensor& self, const UpsampleArguments& arguments, const Tensor& out,
                    Resampling* dimensions) {
  const size_t spatial = arguments.spatial;
  RL_TRY(check_same_dtype(self, out, "input and out"));
  RL_CHECK(static_cast<size_t>(self.dim()) == spatial + 2, Error::InvalidArgument,
           "input: expected rank %lu, got %d", log_number(spatial + 2), static_cast<int>(self.dim()));
  RL_CHECK(arguments.output_size.size() == spatial, Error::InvalidArgument,
           "output_size: expected %lu values, got %lu", log_number(spatial),
           log_number(arguments.output_size.size()));
  // No spatial dimension may be empty: positions are clamped to the last element.
  RL_TRY(check_spatial_tensor(self, spatial, "input"));
  RL_TRY(check_spatial_list(arguments.output_size, spatial, 1, "output_size"));
  Shape shape;
  shape.push(self.size(0));
  shape.push(self.size(1));
  // Dimensions that the tensor does not have keep their one position.
  for (size_t i = 0; i < kVolume; ++i) dimensions[i] = {1, 1, 0};
  for (size_t i = 0; i < spatial; ++i) {
    // A factor that the caller gave sets the scale, not the quotient of the sizes, as in PyTorch; 0 means
    // none.
    dimensions[kVolume - spatial + i] = {self.sizes()[2 + i],
                                         static_cast<ptrdiff_t>(arguments.output_size[i]),
                                         arguments.factors[i].value_or(0)};
    shape.push(static_cast<ptrdiff_t>(arguments.output_size[i]));
  }
  return resize_out(out, shape.span());
}

Error read_factors(const Tensor& input, const std::optional<Span<const int64_t>>& output_size,
                   const std::optional<Span<const double>>& scale_factors, FactorSizes* read) {
  constexpr size_t kDims = 2;
  RL_CHECK(output_size.has_value() != scale_factors.has_value(), Error::InvalidArgument,
           "expected either output_size or scale_factors");
  read->arguments = {kDims, {read->sizes, kDims}, {}};
  if (output_size) {
    read->arguments.output_size = *output_size;
    return Error::Ok;
  }
  RL_CHECK(input.dim() == kDims + 2, Error::InvalidArgument, "input: expected rank 4, got %d",
           static_cast<int>(input.dim()));
  RL_CHECK(scale_factors->size() == kDims, Error::InvalidArgument,
           "scale_factors: expected 2 values, got %lu", log_number(scale_factors->size()));
  for (size_t i = 0; i < kDims; ++i) {
    const double factor = (*scale_factors)[i];
    // Rounded down below, as in PyTorch.
    const double size = static_cast<double>(input.sizes()[2 + i]) * factor;
    // The comparison also refuses NaN.
    RL_CHECK(size >= 1 && size <= static_cast<double>(kSpatialLimit), Error::InvalidArgument,
             "scale_factors: %f times %ld elements is below 1", factor,
             static_cast<long>(input.sizes()[2 + i]));
    read->sizes[i] = static_cast<int64_t>(size);
    read->arguments.factors[i] = factor;
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
