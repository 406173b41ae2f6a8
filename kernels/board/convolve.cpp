// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/board/convolve.h"

#include <algorithm>

#include "kernels/board/fill.h"
#include "kernels/board/method.h"
#include "kernels/board/phases.h"
#include "kernels/checks/selection.h"
#include "kernels/geometry/convolution.h"
#include "kernels/ukernel/patch.h"

namespace rushlight::kernels::board {

namespace {

void convolve_planes(const ConvolutionGeometry& geometry, const ConvolutionData<float>& data) {
  const ConvolutionAxis* axes = geometry.axes;
  ukernel::PlaneConvolution plane;
  plane.in_stride = axes[1].in_stride;
  plane.kernel_row_stride = axes[1].kernel_stride;
  plane.kernel_column_stride = axes[2].kernel_stride;
  plane.out_stride = axes[1].out_stride;
  plane.rows = static_cast<size_t>(axes[1].out);
  plane.columns = static_cast<size_t>(axes[2].out);
  for_each_group(geometry, data, [&](const ConvolutionData<float>& group) {
    plane.in = group.in;
    plane.kernel = group.weight;
    plane.out = group.out;
    for (ptrdiff_t c = 0; c < geometry.out_channels; ++c) {
      plane.initial = group.bias == nullptr ? 0 : group.bias[c];
      ukernel::convolve_plane_3x3(plane);
      plane.kernel += geometry.weight_out_stride;
      plane.out += geometry.out_channel_stride;
    }
  });
}

// Each input channel is a shift of the image. The last columns overlap those before them.
void convolve_shifts(const ConvolutionGeometry& geometry, const ConvolutionData<float>& data) {
  constexpr size_t kRows = 24, kColumns = ukernel::kShiftColumns;
  ukernel::ShiftedTaps taps[std::max<size_t>(ukernel::kShiftDepth, 1)];
  float none[kRows] = {};
  ukernel::ShiftedSums sums;
  sums.taps = taps;
  sums.has_single_taps = true;
  sums.count = static_cast<size_t>(geometry.in_channels);
  for (size_t c = 0; c < sums.count; ++c) {
    taps[c] = {static_cast<int32_t>(c * sizeof(float)) * static_cast<int32_t>(geometry.in_channel_stride), 0};
  }
  sums.weight_stride = geometry.weight_out_stride;
  sums.out_stride = geometry.out_channel_stride;
  const auto columns = static_cast<size_t>(geometry.axes[2].out);
  const auto channels = static_cast<size_t>(geometry.out_channels);
  for_each_group(geometry, data, [&](const ConvolutionData<float>& group) {
    for (size_t c = 0; c < channels; c += kRows) {
      const auto first = static_cast<ptrdiff_t>(c);
      sums.rows = std::min(channels - c, kRows);
      sums.weight = group.weight + first * geometry.weight_out_stride;
      sums.initial = group.bias == nullptr ? none : group.bias + c;
      sums.in = group.in;
      sums.out = group.out + first * geometry.out_channel_stride;
      sums.columns = columns / kColumns * kColumns;
      ukernel::add_shifted(sums);
      if (sums.columns == columns) continue;
      sums.in += columns - kColumns;
      sums.out += columns - kColumns;
      sums.columns = kColumns;
      ukernel::add_shifted(sums);
    }
  });
}

// An output without products is the bias.
template <class T>
void fill_bias(const ConvolutionGeometry& geometry, const ConvolutionData<T>& data) {
  const ConvolutionAxis* axes = geometry.axes;
  for_each_group(geometry, data, [&](const ConvolutionData<T>& group) {
    for (ptrdiff_t c = 0; c < geometry.out_channels; ++c) {
      const T value = group.bias == nullptr ? T{0} : group.bias[c];
      for (ptrdiff_t z = 0; z < axes[0].out; ++z) {
        for (ptrdiff_t y = 0; y < axes[1].out; ++y) {
          fill(group.out + c * geometry.out_channel_stride + z * axes[0].out_stride + y * axes[1].out_stride,
               axes[2].out_stride, axes[2].out, value);
        }
      }
    }
  });
}

// Computes a convolution that is not transposed. Clears *is_rectified if relu is not applied.
Error convolve_ordinary(const ConvolutionGeometry& geometry, const ConvolutionData<float>& data,
                        bool* is_rectified) {
  const Method method = method_of(geometry);
  const bool rectify = *is_rectified && (method == Method::kChannels || method == Method::kPixels);
  *is_rectified = rectify;
  if (kReaches<Method::kChannels> && method == Method::kChannels) {
    for (ptrdiff_t n = 0; n < geometry.batch; ++n) {
      convolve_channels({&geometry, data.in + n * geometry.in_batch_stride, data.weight, data.bias,
                         data.out + n * geometry.out_batch_stride, rectify});
    }
  } else if (kReaches<Method::kPixels> && method == Method::kPixels) {
    for_each_group(geometry, data, [&](const ConvolutionData<float>& group) {
      convolve_pixels({&geometry, group.in, group.weight, group.bias, group.out, rectify});
    });
  } else if (kReaches<Method::kPlane> && method == Method::kPlane) {
    convolve_planes(geometry, data);
  } else if (kReaches<Method::kShifts> && method == Method::kShifts) {
    convolve_shifts(geometry, data);
  } else if (kReaches<Method::kPlanes> && method == Method::kPlanes) {
    convolve_by_planes(geometry, data);
  } else if (kReaches<Method::kPatches> && method == Method::kPatches) {
    convolve_patches(geometry, PatchPlan(geometry), data);
  } else if (kReaches<Method::kPanels> && method == Method::kPanels) {
    convolve_panels(geometry, data);
  } else if (kReaches<Method::kBias> && method == Method::kBias) {
    fill_bias(geometry, data);
  } else {
    return not_selected("convolution");
  }
  return Error::Ok;
}

template <class T>
ConvolutionData<T> data_of(const ConvolutionProblem& problem) {
  return {static_cast<const T*>(problem.input.const_data_ptr()),
          static_cast<const T*>(problem.weight.const_data_ptr()),
          problem.bias ? static_cast<const T*>(problem.bias->const_data_ptr()) : nullptr,
          static_cast<T*>(problem.out.mutable_data_ptr())};
}

// Calls convolve(geometry, data) for the convolution, or for each phase of a transposed convolution.
template <class T, class F>
Error for_each_ordinary(const ConvolutionProblem& problem, F convolve) {
  const ConvolutionGeometry geometry =
      convolution_geometry(problem.input, problem.weight, problem.arguments, problem.out);
  const ConvolutionData<T> data = data_of<T>(problem);
  if (!geometry.transposed) return convolve(geometry, data);
  if constexpr (!kReachesTransposed) return not_selected("convolution");
  ptrdiff_t first[kSpatial];
  const auto phases = [&](size_t d) { return std::min(geometry.axes[d].step, geometry.axes[d].out); };
  for (first[0] = 0; first[0] < phases(0); ++first[0]) {
    for (first[1] = 0; first[1] < phases(1); ++first[1]) {
      for (first[2] = 0; first[2] < phases(2); ++first[2]) {
        const Phase phase = phase_of(geometry, first);
        RL_TRY(convolve(phase.geometry, ConvolutionData<T>{data.in, data.weight + phase.weight, data.bias,
                                                           data.out + phase.out}));
      }
    }
  }
  return Error::Ok;
}

constexpr TypeSet kTypes = selected_types("aten::convolution.out") |
                           selected_types("rushlight::convolution_act.out") |
                           selected_types("rushlight::convolution_act.clamp_out");

// Float16 takes patches only; portable code takes kernels that are too large for them.
Error convolve_half(const ConvolutionProblem& problem) {
  bool all_fit = true;
  RL_TRY(for_each_ordinary<uint16_t>(problem, [&](const auto& geometry, const auto& data) {
    if (has_no_products(geometry)) {
      fill_bias(geometry, data);
      return Error::Ok;
    }
    const PatchPlan plan(geometry);
    all_fit = all_fit && plan.fits();
    if (plan.fits()) convolve_patches(geometry, plan, data);
    return Error::Ok;
  }));
  if (all_fit) return Error::Ok;
  return kernels::convolve(problem.input, problem.weight, problem.bias, problem.arguments, problem.out);
}

}  // namespace

Error convolve_small(const ConvolutionProblem& problem, bool rectify, bool* is_rectified) {
  *is_rectified = false;
  if constexpr (contains(kTypes, ScalarType::Half)) {
    if (problem.type() == ScalarType::Half) return convolve_half(problem);
  }
  if constexpr (contains(kTypes, ScalarType::Float)) {
    *is_rectified = rectify && ukernel::kPanelRectifies;
    return for_each_ordinary<float>(problem, [&](const auto& geometry, const auto& data) {
      return convolve_ordinary(geometry, data, is_rectified);
    });
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
