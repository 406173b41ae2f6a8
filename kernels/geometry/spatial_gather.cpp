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
  // All channels of a position move together: one contiguous copy if the layout is channels-last. In dense
  // rows, adjacent positions of a channel do.
  const auto step = static_cast<ptrdiff_t>(element);
  const bool is_dense = source.strides[4] == step && target.strides[4] == step;
  // Positions of a part of the last axis are held. Positions of the outer axes are computed for each row.
  constexpr ptrdiff_t kHeld = 64;
  ptrdiff_t from_x[kHeld];
  for (ptrdiff_t first = 0; first < axes[2].out; first += kHeld) {
    const ptrdiff_t count = axes[2].out - first < kHeld ? axes[2].out - first : kHeld;
    for (ptrdiff_t x = 0; x < count; ++x) from_x[x] = position(axes[2], first + x);
    const auto copy_row = [&](char* to_row, const char* from_row) {
      for (ptrdiff_t x = 0, run = 0; x < count; x += run) {
        char* to = to_row + (first + x) * target.strides[4];
        const char* from = from_row + from_x[x] * source.strides[4];
        run = 1;
        while (is_dense && x + run < count && from_x[x + run] == from_x[x] + run) ++run;
        if (run == 1) {
          copy_elements(to, target.strides[1], from, source.strides[1], channels, element);
          continue;
        }
        for (size_t c = 0; c < channels; ++c, to += target.strides[1], from += source.strides[1]) {
          copy_elements(to, step, from, step, static_cast<size_t>(run), element);
        }
      }
    };
    for (ptrdiff_t n = 0; n < source.sizes[0]; ++n) {
      for (ptrdiff_t z = 0; z < axes[0].out; ++z) {
        const ptrdiff_t from_z = position(axes[0], z);
        for (ptrdiff_t y = 0; y < axes[1].out; ++y) {
          copy_row(volume_at(target, n, z, y, 0), volume_at(source, n, from_z, position(axes[1], y), 0));
        }
      }
    }
  }
}

}  // namespace rushlight::kernels
