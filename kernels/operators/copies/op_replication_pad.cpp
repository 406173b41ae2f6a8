// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/geometry/mirror_pad.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Pads with copies of the nearest element of the border.
Error replication_pad1d_out(KernelContext&, const Tensor& self, Span<const int64_t> padding, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::replication_pad1d.out");
  return pad_spatial(kTypes, Padding::kReplication, 1, self, padding, out);
}

Error replication_pad2d_out(KernelContext&, const Tensor& self, Span<const int64_t> padding, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::replication_pad2d.out");
  return pad_spatial(kTypes, Padding::kReplication, 2, self, padding, out);
}

Error replication_pad3d_out(KernelContext&, const Tensor& self, Span<const int64_t> padding, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::replication_pad3d.out");
  return pad_spatial(kTypes, Padding::kReplication, 3, self, padding, out);
}

}  // namespace rushlight::kernels
