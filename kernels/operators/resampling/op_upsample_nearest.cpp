// SPDX-License-Identifier: BSD-3-Clause
// Nearest-neighbor resampling as a gather along each axis. upsample_nearest maps the left edge of an output
// to the input, floor(i * scale), upsample_nearest_exact its center, floor((i + 0.5) * scale); both compute
// positions in float32, as PyTorch does. Elements are copied by size, without arithmetic.
#include "kernels/backs/backs.h"
#include "kernels/geometry/spatial_gather.h"
#include "kernels/geometry/upsample.h"
#include "kernels/geometry/upsample_positions.h"

namespace rushlight::kernels {

namespace {

ptrdiff_t nearest(const GatheredAxis& axis, ptrdiff_t index) {
  return nearest_position(axis, static_cast<float>(index));
}

ptrdiff_t nearest_exact(const GatheredAxis& axis, ptrdiff_t index) {
  return nearest_position(axis, static_cast<float>(index) + 0.5F);
}

// of_image: applies PyTorch's rule for images, which ignores the factor if the size stays or doubles.
Error plan(TypeSet types, const UpsampleArguments& arguments, const Tensor& self, const Tensor& out,
           bool of_image, GatheredAxis* axes) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  Resampling dimensions[kVolume];
  RL_TRY(plan_upsample(self, arguments, out, dimensions));
  for (size_t i = 0; i < kVolume; ++i) {
    axes[i] = nearest_axis(of_image ? nearest_of_image(dimensions[i]) : dimensions[i]);
  }
  return Error::Ok;
}

// The portable form of all operators without a back.
Error upsample(TypeSet types, GatheredPosition position, const UpsampleArguments& arguments,
               const Tensor& self, const Tensor& out) {
  GatheredAxis axes[kVolume];
  RL_TRY(plan(types, arguments, self, out, false, axes));
  gather_positions(self, out, arguments.spatial, axes, position);
  return Error::Ok;
}

}  // namespace

Error upsample_nearest1d_out(KernelContext&, const Tensor& self, Span<const int64_t> output_size,
                             std::optional<double> scales, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::upsample_nearest1d.out");
  return upsample(kTypes, nearest, {1, output_size, {scales}}, self, out);
}

Error upsample_nearest2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                             std::optional<double> scales_h, std::optional<double> scales_w, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::upsample_nearest2d.out");
  GatheredAxis axes[kVolume];
  RL_TRY(plan(kTypes, {2, output_size, {scales_h, scales_w}}, self, out, true, axes));
  return backs::upsample_nearest2d_out(context, NearestProblem{{self, out}, axes}, [&] {
    gather_positions(self, out, 2, axes, nearest);
    return Error::Ok;
  });
}

Error upsample_nearest2d_vec_out(KernelContext& context, const Tensor& input,
                                 std::optional<Span<const int64_t>> output_size,
                                 std::optional<Span<const double>> scale_factors, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::upsample_nearest2d.vec_out");
  FactorSizes sizes;
  RL_TRY(read_factors(input, output_size, scale_factors, &sizes));
  GatheredAxis axes[kVolume];
  RL_TRY(plan(kTypes, sizes.arguments, input, out, true, axes));
  return backs::upsample_nearest2d_vec_out(context, NearestProblem{{input, out}, axes}, [&] {
    gather_positions(input, out, 2, axes, nearest);
    return Error::Ok;
  });
}

// Unlike images, lines and volumes always use the factor if one is given.
Error upsample_nearest3d_out(KernelContext&, const Tensor& self, Span<const int64_t> output_size,
                             std::optional<double> scales_d, std::optional<double> scales_h,
                             std::optional<double> scales_w, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::upsample_nearest3d.out");
  return upsample(kTypes, nearest, {3, output_size, {scales_d, scales_h, scales_w}}, self, out);
}

Error _upsample_nearest_exact1d_out(KernelContext&, const Tensor& self, Span<const int64_t> output_size,
                                    std::optional<double> scales, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_upsample_nearest_exact1d.out");
  return upsample(kTypes, nearest_exact, {1, output_size, {scales}}, self, out);
}

Error _upsample_nearest_exact2d_out(KernelContext&, const Tensor& self, Span<const int64_t> output_size,
                                    std::optional<double> scales_h, std::optional<double> scales_w,
                                    Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_upsample_nearest_exact2d.out");
  return upsample(kTypes, nearest_exact, {2, output_size, {scales_h, scales_w}}, self, out);
}

Error _upsample_nearest_exact3d_out(KernelContext&, const Tensor& self, Span<const int64_t> output_size,
                                    std::optional<double> scales_d, std::optional<double> scales_h,
                                    std::optional<double> scales_w, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_upsample_nearest_exact3d.out");
  return upsample(kTypes, nearest_exact, {3, output_size, {scales_d, scales_h, scales_w}}, self, out);
}

}  // namespace rushlight::kernels
