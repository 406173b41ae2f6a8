// SPDX-License-Identifier: BSD-3-Clause
// Bilinear interpolation of integers: dequantize, upsample_bilinear2d and quantize fused. The exporter
// computes the source positions of rows and columns in fixed point, so that no target needs float arithmetic
// for them and all options of upsampling use the same operator.
//
// A weighted sum of four elements minus the zero point has 2 * kFraction fraction bits, 45 bits in all. The
// lowest kDropped bits are rounded off, half up, and the rest is requantized by 2^-22 * input scale / output
// scale.
#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/geometry/spatial.h"
#include "kernels/quantization/affine.h"
#include "kernels/quantization/one_scale.h"
#include "kernels/quantization/requantization.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::quantized_interpolate2d.out") & kByteTypes;
constexpr int kFraction = 18;  // fraction bits of a position
constexpr int kDropped = 14;
constexpr size_t kWeights = size_t{1} << (2 * kFraction - kDropped);  // sum of the four weights
constexpr size_t kSpatial = 2;

// InvalidType or InvalidArgument unless these are fixed-point positions on an axis of `size` elements.
Error check_positions(const Tensor& positions, SizesType size, const char* name) {
  RL_CHECK(positions.scalar_type() == ScalarType::Int, Error::InvalidType, "%s: expected dtype int32, got %s",
           name, to_string(positions.scalar_type()));
  RL_CHECK(positions.dim() == 1, Error::InvalidArgument, "%s: expected rank 1, got %d", name,
           static_cast<int>(positions.dim()));
  const int64_t last = (static_cast<int64_t>(size) - 1) << kFraction;
  const auto* numbers = positions.const_data_ptr<int32_t>();
  for (size_t i = 0; i < positions.numel(); ++i) {
    RL_CHECK(numbers[i] >= 0 && numbers[i] <= last, Error::InvalidArgument, "%s: expected 0 to %ld, got %ld",
             name, static_cast<long>(last), static_cast<long>(numbers[i]));
  }
  return Error::Ok;
}

// The two elements around a position and the weight of the second, as byte offsets and a fraction. Clamps
// positions again, since `out` may alias the checked tensor.
struct Between {
  ptrdiff_t first;
  ptrdiff_t second;
  int32_t share;

  Between(int32_t position, ptrdiff_t size, ptrdiff_t stride) {
    const ptrdiff_t index = std::clamp<ptrdiff_t>(position >> kFraction, 0, size - 1);
    first = index * stride;
    second = std::min(index + 1, size - 1) * stride;
    share = position & ((1 << kFraction) - 1);
  }
};

// The weighted sum of four elements: along both rows first (27 bits), then across (45 bits).
template <class T>
int32_t blend(const char* from, const Between& row, const Between& column, int32_t zero_point) {
  const auto along = [&](ptrdiff_t offset) {
    const int32_t a = *reinterpret_cast<const T*>(from + offset + column.first) - zero_point;
    const int32_t b = *reinterpret_cast<const T*>(from + offset + column.second) - zero_point;
    return a * (1 << kFraction) + (b - a) * column.share;
  };
  const int64_t above = along(row.first), below = along(row.second);
  const int64_t sum = above * (1 << kFraction) + (below - above) * row.share;
  return static_cast<int32_t>((sum + (1 << (kDropped - 1))) >> kDropped);
}

// Offsets and shares are computed once for each output row and column pair, for all channels. OneScale copies
// the scale, which `out` may overwrite.
template <class T>
void interpolate(const Tensor& input, int32_t zero_point, const Tensor& rows, const Tensor& columns,
                 const ukernel::Requantization& to, const Tensor& out) {
  const View source = as_volume(input, kSpatial), target = as_volume(out, kSpatial);
  const OneScale scale(to);
  const auto* row_positions = rows.const_data_ptr<int32_t>();
  const auto* column_positions = columns.const_data_ptr<int32_t>();
  for (ptrdiff_t n = 0; n < target.sizes[0]; ++n) {
    for (ptrdiff_t y = 0; y < target.sizes[3]; ++y) {
      const Between row(row_positions[y], source.sizes[3], source.strides[3]);
      for (ptrdiff_t x = 0; x < target.sizes[4]; ++x) {
        const Between column(column_positions[x], source.sizes[4], source.strides[4]);
        const char* from = volume_at(source, n, 0, 0, 0);
        char* result = volume_at(target, n, 0, y, x);
        for (ptrdiff_t c = 0; c < target.sizes[1]; ++c) {
          const int32_t sum = blend<T>(from, row, column, zero_point);
          *reinterpret_cast<T*>(result) = static_cast<T>(ukernel::requantize(scale.get(), sum, 0));
          from += source.strides[1];
          result += target.strides[1];
        }
      }
    }
  }
}

}  // namespace

Error quantized_interpolate2d_out(KernelContext&, const Tensor& input, int64_t input_zero_point,
                                  const Tensor& rows, const Tensor& columns, const Tensor& multipliers,
                                  const std::optional<Tensor>& shifts, std::string_view rounding,
                                  int64_t output_zero_point, int64_t output_min, int64_t output_max,
                                  Tensor& out) {
  RL_TRY(check_type(input, kTypes, "input"));
  RL_TRY(check_same_dtype(input, out, "input and out"));
  RL_TRY(check_zero_point(input_zero_point, input.scalar_type(), "input_zero_point"));
  RL_TRY(check_spatial_tensor(input, kSpatial, "input"));
  const size_t outer = input.sizes().size() - kSpatial;  // dimensions before those
  RL_TRY(check_positions(rows, input.sizes()[outer], "rows"));
  RL_TRY(check_positions(columns, input.sizes()[outer + 1], "columns"));
  Shape shape = Shape::of(input, kSpatial);
  shape.push(static_cast<ptrdiff_t>(rows.numel()));
  shape.push(static_cast<ptrdiff_t>(columns.numel()));
  RL_TRY(resize_out(out, shape.span()));
  // kWeights stands for as many elements in a sum: the weights of an output add up to it.
  ukernel::Requantization to;
  RL_TRY(make_requantization_of_sums(
      {std::nullopt, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}}, out,
      kWeights, &to));
  if (out.numel() == 0) return Error::Ok;
  return dispatch<kTypes>(input.scalar_type(), [&](auto type) {
    interpolate<typename decltype(type)::Element>(input, static_cast<int32_t>(input_zero_point), rows,
                                                  columns, to, out);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
