// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/spatial.h"

#include "runtime/base/log.h"

namespace rushlight::kernels {

Error check_spatial_list(Span<const int64_t> list, size_t spatial, int64_t least, const char* name) {
  RL_CHECK(list.size() == 1 || list.size() == spatial, Error::InvalidArgument,
           "%s: expected 1 or %lu numbers, got %lu", name, static_cast<unsigned long>(spatial),
           static_cast<unsigned long>(list.size()));
  for (const int64_t value : list) {
    RL_CHECK(value >= least && value <= kSpatialLimit, Error::InvalidArgument,
             "%s: expected %ld at least, got %ld", name, static_cast<long>(least), static_cast<long>(value));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
