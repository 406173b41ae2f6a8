// SPDX-License-Identifier: BSD-3-Clause
// One loop over the pooled elements for all ranks and tilings; the extent of a dimension is computed only
// when its index changes.
#include "kernels/geometry/region.h"

#include <algorithm>

namespace rushlight::kernels {

Extent window_tiling(const Pool& pool, size_t d, const ptrdiff_t* at) {
  const Window& window = pool.windows[d];
  const ptrdiff_t index = at[2 + d];
  const auto [begin, end] = covered(window, index);
  // A window that ceil_mode adds may end beyond the padding; those positions do not count.
  const int64_t start = index * window.step - window.pad;
  const int64_t padded = std::min(start + window.kernel, window.in + window.pad) - start;
  return {begin, end > begin ? steps_up(end - begin, window.dilation) : 0, padded};
}

Extent adaptive_tiling(const Pool& pool, size_t d, const ptrdiff_t* at) {
  const Window& window = pool.windows[d];
  const int64_t index = at[2 + d];
  // [floor(index * in / out), ceil((index + 1) * in / out)): regions may overlap by one element, and cover
  // all.
  const int64_t begin = index * window.in / window.out;
  const int64_t end = ((index + 1) * window.in + window.out - 1) / window.out;
  return {begin, end - begin, end - begin};
}

size_t count_alike(const Window& window, ptrdiff_t x, const Extent& first) {
  // Complete windows follow each other until the last element of one exceeds the input.
  const int64_t last = first.begin + (first.count - 1) * window.dilation;
  if (first.count != window.kernel || last >= window.in) return 1;
  const int64_t fitting = (window.in - 1 - last) / window.step + 1;
  const int64_t left = window.out - x;
  return static_cast<size_t>(fitting < left ? fitting : left);
}

// Lines and images become volumes, so for_each_region() has one form of loops.
Pool make_pool(Tiling tiling, size_t spatial, const Window* windows, const Tensor& volume,
               const Tensor& pooled) {
  Pool pool{tiling, spatial, {}, as_volume(volume, spatial), as_volume(pooled, spatial)};
  for (size_t d = 0; d < kVolume; ++d) {
    // Leading dimensions get one window of one element.
    const bool is_given = d + spatial >= kVolume;
    pool.windows[d] = is_given ? windows[d + spatial - kVolume] : Window{1, 1, 1, 0, 1, 1};
  }
  return pool;
}

Error plan_adaptive(const Tensor& self, Span<const int64_t> output_size, size_t spatial, Window* windows) {
  const auto rank = static_cast<size_t>(self.dim());
  RL_CHECK(rank == spatial + 1 || rank == spatial + 2, Error::InvalidArgument,
           "self: expected rank %lu or %lu, got %lu", log_number(spatial + 1), log_number(spatial + 2),
           log_number(rank));
  RL_CHECK(output_size.size() == spatial, Error::InvalidArgument, "output_size: expected %lu values, got %lu",
           log_number(spatial), log_number(output_size.size()));
  RL_TRY(check_spatial_list(output_size, spatial, 0, "output_size"));
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t in = self.sizes()[rank - spatial + i];
    RL_CHECK(in > 0, Error::InvalidArgument, "self: dimension %lu is empty", log_number(rank - spatial + i));
    windows[i] = {in, 1, 1, 0, 1, output_size[i]};
  }
  return Error::Ok;
}

void for_each_region(const Pool& pool, PoolFunction f) {
  const View& volume = pool.volume;
  const View& pooled = pool.pooled;
  Region region;
  for (size_t d = 0; d < kVolume; ++d) {
    // Dilation is the distance of a window's elements, in every dimension.
    region.step[d] = static_cast<ptrdiff_t>(pool.windows[d].dilation);
    region.stride[d] = volume.strides[2 + d] * region.step[d];
  }
  int64_t padded[kVolume];
  ptrdiff_t at[kVolume + 2];
  const auto move_to = [&](size_t d) {
    const Extent extent = pool.tiling(pool, d, at);
    region.begin[d] = static_cast<ptrdiff_t>(extent.begin);
    region.count[d] = static_cast<ptrdiff_t>(extent.count);
    padded[d] = extent.padded;
  };
  for (at[0] = 0; at[0] < pooled.sizes[0]; ++at[0]) {
    for (at[1] = 0; at[1] < pooled.sizes[1]; ++at[1]) {
      for (at[2] = 0; at[2] < pooled.sizes[2]; ++at[2]) {
        move_to(0);
        for (at[3] = 0; at[3] < pooled.sizes[3]; ++at[3]) {
          move_to(1);
          for (at[4] = 0; at[4] < pooled.sizes[4]; ++at[4]) {
            move_to(2);
            region.padded = padded[0] * padded[1] * padded[2];
            region.data = volume_at(volume, at[0], region.begin[0], region.begin[1], region.begin[2]) +
                          at[1] * volume.strides[1];
            char* index = pool.indices.data == nullptr ? nullptr
                                                       : volume_at(pool.indices, at[0], at[2], at[3], at[4]) +
                                                             at[1] * pool.indices.strides[1];
            f(pool, region, volume_at(pooled, at[0], at[2], at[3], at[4]) + at[1] * pooled.strides[1], index);
          }
        }
      }
    }
  }
}

}  // namespace rushlight::kernels
