// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/upsample.h"

#include "kernels/shared/spatial.h"

namespace rushlight::kernels {

namespace {

Error read_size(const std::optional<Span<const int64_t>>& output_size, size_t i, Resampling* dimension) {
  const int64_t size = (*output_size)[i];
  RL_CHECK(size >= 1 && size <= kSpatialLimit, Error::InvalidArgument,
           "output_size: expected 1 at least, got %ld", static_cast<long>(size));
  dimension->factor = 0;
  dimension->out = static_cast<ptrdiff_t>(size);
  return Error::Ok;
}

Error read_factor(const std::optional<Span<const double>>& scale_factors, size_t i, Resampling* dimension) {
  dimension->factor = (*scale_factors)[i];
  const double size = static_cast<double>(dimension->in) * dimension->factor;
  RL_CHECK(size >= 1 && size <= static_cast<double>(kSpatialLimit), Error::InvalidArgument,
           "scale_factors: %f of %ld elements are not 1 at least", dimension->factor,
           static_cast<long>(dimension->in));
  dimension->out = static_cast<ptrdiff_t>(size);
  return Error::Ok;
}

}  // namespace

Error plan_upsample2d(const Tensor& input, const std::optional<Span<const int64_t>>& output_size,
                      const std::optional<Span<const double>>& scale_factors, const Tensor& out,
                      Resampling* dimensions) {
  RL_TRY(check_same_dtype(input, out, "input and out"));
  RL_CHECK(input.dim() == 4, Error::InvalidArgument, "input: expected rank 4, got %d",
           static_cast<int>(input.dim()));
  RL_CHECK(output_size.has_value() != scale_factors.has_value(), Error::InvalidArgument,
           "expected either output_size or scale_factors");
  const size_t given = output_size ? output_size->size() : scale_factors->size();
  RL_CHECK(given == 2, Error::InvalidArgument, "%s: expected 2 numbers, got %lu",
           output_size ? "output_size" : "scale_factors", static_cast<unsigned long>(given));
  for (ptrdiff_t d = 1; d < 4; ++d) {
    RL_CHECK(input.size(d) > 0, Error::InvalidArgument, "input: dimension %d is empty", static_cast<int>(d));
  }
  Shape shape;
  shape.push(input.size(0));
  shape.push(input.size(1));
  for (size_t i = 0; i < 2; ++i) {
    dimensions[i].in = input.size(static_cast<ptrdiff_t>(2 + i));
    RL_TRY(output_size ? read_size(output_size, i, &dimensions[i])
                       : read_factor(scale_factors, i, &dimensions[i]));
    shape.push(dimensions[i].out);
  }
  return resize_out(out, shape.span());
}

}  // namespace rushlight::kernels
