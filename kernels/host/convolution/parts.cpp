// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/host/convolution/parts.h"

#include <algorithm>

namespace rushlight::kernels::host {

size_t items_for_thread(ptrdiff_t work, ptrdiff_t least) {
  return static_cast<size_t>(std::max<ptrdiff_t>(least / std::max<ptrdiff_t>(work, 1), 1));
}

ptrdiff_t even_parts(ptrdiff_t outer, ptrdiff_t least, ptrdiff_t most, size_t threads) {
  constexpr ptrdiff_t kManyItems = 4;
  const auto lanes = static_cast<ptrdiff_t>(threads);
  for (ptrdiff_t parts = least; parts <= most; ++parts) {
    if (outer * parts % lanes == 0 || outer * parts >= kManyItems * lanes) return parts;
  }
  return least;
}

}  // namespace rushlight::kernels::host
