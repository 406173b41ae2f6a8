// SPDX-License-Identifier: BSD-3-Clause
// The convolutions that a build was selected for, so that backs compile only the methods that they take.
#pragma once

#include <optional>

#include "kernels/checks/selected_calls.h"
#include "kernels/geometry/convolution_geometry.h"

namespace rushlight::kernels {

// The geometry of a selected call of aten::convolution or an operator with its arguments; nothing for calls
// that the operator refuses.
[[nodiscard]] constexpr std::optional<ConvolutionGeometry> convolution_geometry(const SelectedCall& call) {
  const size_t rank = call["input"].count;
  if (rank < 3 || rank > 2 + kSpatial || call["weight"].count != rank || call["out"].count != rank) return {};
  if (call["groups"].numbers[0] < 1) return {};
  for (const char* list : {"stride", "padding", "dilation"}) {
    if (call[list].count != 1 && call[list].count != rank - 2) return {};
  }
  const ConvolutionArguments arguments = {call["stride"].list(),         call["padding"].list(),
                                          call["dilation"].list(),       call["transposed"].numbers[0] != 0,
                                          call["output_padding"].list(), call["groups"].numbers[0]};
  return convolution_geometry(call["input"], call["weight"], arguments, call["out"]);
}

// True if the predicate holds for the geometry of a convolution that the build was selected for, with or
// without a fused activation, or if not all of these calls are known.
template <class Predicate>
constexpr bool reaches_convolution(Predicate predicate) {
  return is_reached({"convolution", "convolution_act", "convolution_act_clamp"},
                    [predicate](const SelectedCall& call) {
                      const std::optional<ConvolutionGeometry> geometry = convolution_geometry(call);
                      return geometry && predicate(*geometry);
                    });
}

}  // namespace rushlight::kernels
