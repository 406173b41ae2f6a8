// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/geometry/mirror_pad.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Pads with the elements inside the border in reverse, without the border itself: each amount is below the
// size.
Error reflection_pad1d_out(KernelContext&, const Tensor& self, Span<const int64_t> padding, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::reflection_pad1d.out");
  return pad_spatial(kTypes, Padding::kReflection, 1, self, padding, out);
}

Error reflection_pad2d_out(KernelContext&, const Tensor& self, Span<const int64_t> padding, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::reflection_pad2d.out");
  return pad_spatial(kTypes, Padding::kReflection, 2, self, padding, out);
}

Error reflection_pad3d_out(KernelContext&, const Tensor& self, Span<const int64_t> padding, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::reflection_pad3d.out");
  return pad_spatial(kTypes, Padding::kReflection, 3, self, padding, out);
}

}  // namespace rushlight::kernels
