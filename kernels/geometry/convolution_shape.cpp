// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/geometry/convolution_shape.h"

#include <algorithm>

namespace rushlight::kernels {

namespace {

// Size of the result in spatial dimension `index`. The limits keep every position within 32 bits.
Error result_size(const ConvolutionArguments& arguments, size_t index, int64_t in, int64_t kernel,
                  int64_t* out) {
  const int64_t step = spatial_item(arguments.stride, index);
  const int64_t pad = spatial_item(arguments.padding, index);
  RL_CHECK(kernel >= 1, Error::InvalidArgument, "weight: its spatial dimension %lu is empty",
           static_cast<unsigned long>(index));
  const int64_t dilation = spatial_item(arguments.dilation, index);
  // Factors are below 2^31, so products of two fit in 64 bits.
  const int64_t reach = dilation * (kernel - 1) + 1;
  // Without transposition: out = (in + 2 pad - reach) / step + 1. Transposed: out = (in - 1) step + reach +
  // output_padding - 2 pad.
  int64_t padded = 0;  // larger of the two sizes, with padding
  if (arguments.transposed) {
    const int64_t extra = spatial_item(arguments.output_padding, index);
    RL_CHECK(extra < std::max(step, dilation), Error::InvalidArgument,
             "output_padding: expected less than stride or dilation, got %ld", static_cast<long>(extra));
    padded = (in - 1) * step + reach + extra;
    *out = padded - 2 * pad;
  } else {
    padded = in + 2 * pad;
    // 32-bit division: a 64-bit one links a function of 750 bytes on most boards.
    const bool fits = padded >= reach && padded <= kSpatialLimit;
    *out = fits ? static_cast<int32_t>(padded - reach) / static_cast<int32_t>(step) + 1 : 0;
  }
  RL_CHECK(*out >= 1 && padded <= kSpatialLimit, Error::InvalidArgument,
           "input: spatial dimension %lu of size %ld would become %ld", static_cast<unsigned long>(index),
           static_cast<long>(in), static_cast<long>(*out));
  return Error::Ok;
}

// Weights are [out, in / groups, ...], transposed ones [in, out / groups, ...].
Error check_tensors(const Tensor& input, const Tensor& weight, bool transposed, int64_t groups) {
  RL_CHECK(input.dim() >= 3 && input.dim() <= 5 && weight.dim() == input.dim(), Error::InvalidArgument,
           "input and weight: expected equal ranks from 3 to 5, got %d and %d", static_cast<int>(input.dim()),
           static_cast<int>(weight.dim()));
  RL_CHECK(groups >= 1 && groups <= kSpatialLimit, Error::InvalidArgument,
           "groups: expected 1 at least, got %ld", static_cast<long>(groups));
  const int64_t channels = transposed ? weight.size(0) : weight.size(1) * groups;
  RL_CHECK(input.size(1) == channels && weight.size(0) % static_cast<ptrdiff_t>(groups) == 0,
           Error::InvalidArgument,
           "weight: [%ld, %ld, ...] in %ld groups does not fit an input of %ld channels",
           static_cast<long>(weight.size(0)), static_cast<long>(weight.size(1)), static_cast<long>(groups),
           static_cast<long>(input.size(1)));
  const int64_t out_channels = transposed ? weight.size(1) * groups : weight.size(0);
  RL_CHECK(out_channels <= kSpatialLimit, Error::InvalidArgument, "weight: too many output channels");
  return Error::Ok;
}

}  // namespace

Error convolution_shape(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                        const ConvolutionArguments& arguments, Shape* shape) {
  RL_TRY(check_same_dtype(input, weight, "input and weight"));
  if (bias) RL_TRY(check_same_dtype(input, *bias, "input and bias"));
  RL_TRY(convolution_sizes(input, weight, arguments, shape));
  const SizesType channels = shape->sizes[1];
  RL_CHECK(!bias || (bias->dim() == 1 && bias->size(0) == channels), Error::InvalidArgument,
           "bias: expected one element for each of %ld output channels", static_cast<long>(channels));
  return Error::Ok;
}

Error convolution_sizes(const Tensor& input, const Tensor& weight, const ConvolutionArguments& arguments,
                        Shape* shape) {
  RL_TRY(check_tensors(input, weight, arguments.transposed, arguments.groups));
  const size_t spatial = input.sizes().size() - 2;
  RL_TRY(check_spatial_list(arguments.stride, spatial, 1, "stride"));
  RL_TRY(check_spatial_list(arguments.padding, spatial, 0, "padding"));
  RL_TRY(check_spatial_list(arguments.dilation, spatial, 1, "dilation"));
  RL_TRY(check_spatial_list(arguments.output_padding, spatial, 0, "output_padding"));
  shape->push(input.size(0));
  const auto groups = static_cast<ptrdiff_t>(arguments.groups);
  shape->push(arguments.transposed ? weight.size(1) * groups : weight.size(0));
  for (size_t i = 0; i < spatial; ++i) {
    int64_t size = 0;
    RL_TRY(result_size(arguments, i, input.sizes()[i + 2], weight.sizes()[i + 2], &size));
    shape->push(static_cast<ptrdiff_t>(size));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
