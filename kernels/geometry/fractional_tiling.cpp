// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/geometry/fractional_tiling.h"

#include <algorithm>

#include "kernels/elements/held_access.h"

namespace rushlight::kernels {

namespace {

// Start of fractional window `index`, with PyTorch's arithmetic and rounding in each dtype. The start is
// floor((index + u) distance) - floor(u distance), with distance = (in - kernel) / (out - 1) and the sample
// u; the last window ends at the border.
template <class W>
int64_t fractional_begin(const Window& window, int64_t index, const char* sample, ScalarType type) {
  const int64_t last = window.in - window.kernel;
  if (index + 1 >= window.out) return last;
  const Access<W> access = access_as<W>(type);
  // Rounds to the dtype of the samples after each step, since W may be wider.
  const auto rounded = [&](W value) {
    alignas(8) char stored[8];
    access.store(stored, value);
    return access.load(stored);
  };
  const W most = static_cast<W>(last);
  const auto whole = [&](W value) {
    // The clamp keeps the conversion defined, whatever the samples are.
    if (value != value) return int64_t{0};
    const W limit = 2 * most + 1;
    return static_cast<int64_t>(std::min(std::max(value, -limit), limit));
  };
  const W u = access.load(sample);
  const W distance = rounded(rounded(most) / rounded(static_cast<W>(window.out - 1)));
  const W at = rounded(rounded(rounded(static_cast<W>(index)) + u) * distance);
  return std::min(std::max<int64_t>(whole(at) - whole(rounded(u * distance)), 0), last);
}

}  // namespace

Extent fractional_tiling(const Pool& pool, size_t d, const ptrdiff_t* at) {
  const Window& window = pool.windows[d];
  const int64_t index = at[2 + d];
  // A dimension that the tensor does not have.
  if (d + pool.spatial < kVolume) return {0, 1, 1};
  // The order of the samples, as in PyTorch: for images the last dimension comes first, for volumes the
  // first.
  const size_t order = pool.spatial == 2 ? kVolume - 1 - d : d;
  const View& samples = pool.samples;
  const char* sample = samples.data + at[0] * samples.strides[0] + at[1] * samples.strides[1] +
                       static_cast<ptrdiff_t>(order) * samples.strides[2];
  const int64_t begin = samples.type == ScalarType::Double
                            ? fractional_begin<double>(window, index, sample, samples.type)
                            : fractional_begin<float>(window, index, sample, samples.type);
  return {begin, window.kernel, window.kernel};
}

}  // namespace rushlight::kernels
