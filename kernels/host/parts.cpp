// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/host/parts.h"

#include <algorithm>

namespace rushlight::kernels::host {

size_t items_for_thread(ptrdiff_t work, ptrdiff_t least) {
  return static_cast<size_t>(std::max<ptrdiff_t>(least / std::max<ptrdiff_t>(work, 1), 1));
}

ptrdiff_t even_parts(ptrdiff_t outer, ptrdiff_t least, ptrdiff_t most, size_t threads) {
  constexpr ptrdiff_t kManyItems = 4;
  const auto lanes = static_cast<ptrdiff_t>(threads);
  ptrdiff_t items = outer * least;
  for (; least < most && items < kManyItems * lanes && items % lanes != 0; ++least) items += outer;
  return least;
}

}  // namespace rushlight::kernels::host
