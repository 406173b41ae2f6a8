// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/geometry/spatial_gather.h"

#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

void gather_positions(const Tensor& self, const Tensor& out, size_t spatial, const GatheredAxis* axes,
                      GatheredPosition position) {
  const View source = as_volume(self, spatial);
  const View target = as_volume(out, spatial);
  const auto channels = static_cast<size_t>(source.sizes[1]);
  const size_t element = self.element_size();
  // All channels of a position move together: one contiguous copy if the layout is channels-last.
  for (ptrdiff_t n = 0; n < source.sizes[0]; ++n) {
    for (ptrdiff_t z = 0; z < axes[0].out; ++z) {
      // Positions of the outer axes are computed once for all positions inside.
      const ptrdiff_t from_z = position(axes[0], z);
      for (ptrdiff_t y = 0; y < axes[1].out; ++y) {
        const ptrdiff_t from_y = position(axes[1], y);
        for (ptrdiff_t x = 0; x < axes[2].out; ++x) {
          copy_elements(volume_at(target, n, z, y, x), target.strides[1],
                        volume_at(source, n, from_z, from_y, position(axes[2], x)), source.strides[1],
                        channels, element);
        }
      }
    }
  }
}

}  // namespace rushlight::kernels
