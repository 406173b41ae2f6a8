// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/selection.h"
#include "kernels/shared/spatial_gather.h"
#include "kernels/shared/upsample.h"
#include "kernels/shared/upsample_positions.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

ptrdiff_t nearest(const GatheredAxis& axis, ptrdiff_t index) {
  return nearest_position(axis, static_cast<float>(index));
}

ptrdiff_t nearest_exact(const GatheredAxis& axis, ptrdiff_t index) {
  return nearest_position(axis, static_cast<float>(index) + 0.5F);
}

Error upsample(TypeSet types, GatheredPosition position, const UpsampleArguments& arguments,
               const Tensor& self, const Tensor& out) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  Resampling dimensions[kVolume];
  RL_TRY(plan_upsample(self, arguments, out, dimensions));
  GatheredAxis axes[kVolume];
  const bool of_image = position == nearest && arguments.spatial == 2;
  for (size_t i = 0; i < kVolume; ++i) {
    axes[i] = nearest_axis(of_image ? nearest_of_image(dimensions[i]) : dimensions[i]);
  }
  gather_positions(self, out, arguments.spatial, axes, position);
  return Error::Ok;
}

}  // namespace

Error upsample_nearest1d_out(KernelContext&, const Tensor& self, Span<const int64_t> output_size,
                             std::optional<double> scales, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::upsample_nearest1d.out");
  return upsample(kTypes, nearest, {1, output_size, {scales}}, self, out);
}

Error upsample_nearest2d_out(KernelContext&, const Tensor& self, Span<const int64_t> output_size,
                             std::optional<double> scales_h, std::optional<double> scales_w, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::upsample_nearest2d.out");
  return upsample(kTypes, nearest, {2, output_size, {scales_h, scales_w}}, self, out);
}

Error upsample_nearest2d_vec_out(KernelContext&, const Tensor& input,
                                 std::optional<Span<const int64_t>> output_size,
                                 std::optional<Span<const double>> scale_factors, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::upsample_nearest2d.vec_out");
  FactorSizes sizes;
  RL_TRY(read_factors(input, output_size, scale_factors, &sizes));
  return upsample(kTypes, nearest, sizes.arguments, input, out);
}

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
