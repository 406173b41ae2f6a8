// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/places.h"

#include <cstring>

#include "kernels/shared/index.h"

namespace rushlight::kernels::optimized {

namespace {

// An index out of range, if there is one, is left in `wrong`.
template <class T>
bool add(const IndexRun& run, const char* at, size_t n, ptrdiff_t* places, int64_t* wrong) {
  for (size_t i = 0; i < n; ++i, at += run.stride) {
    T read;
    std::memcpy(&read, at, sizeof(T));
    const auto index = static_cast<int64_t>(read);
    const int64_t wrapped = run.wraps && index < 0 ? index + run.size : index;
    if (static_cast<uint64_t>(wrapped) >= static_cast<uint64_t>(run.size)) {
      *wrong = index;
      return false;
    }
    places[i] += static_cast<ptrdiff_t>(wrapped) * run.step;
  }
  return true;
}

struct Wide {
  uint64_t halves[2];
};

template <class T>
void copy(size_t n, const char* from, const ptrdiff_t* places, char* to, ptrdiff_t stride) {
  for (size_t i = 0; i < n; ++i, to += stride) {
    T value;
    std::memcpy(&value, from + places[i], sizeof(T));
    std::memcpy(to, &value, sizeof(T));
  }
}

}  // namespace

Error add_places(const IndexRun& run, size_t first, size_t n, ptrdiff_t* places) {
  const char* at = run.data + static_cast<ptrdiff_t>(first) * run.stride;
  int64_t wrong = 0;
  const bool all = run.type == ScalarType::Int ? add<int32_t>(run, at, n, places, &wrong)
                                               : add<int64_t>(run, at, n, places, &wrong);
  if (all) return Error::Ok;
  return run.wraps ? wrap_index(&wrong, run.size) : check_index(wrong, run.size);
}

void copy_places(size_t element, size_t n, const char* from, const ptrdiff_t* places, char* to,
                 ptrdiff_t stride) {
  switch (element) {
    case 1:
      return copy<uint8_t>(n, from, places, to, stride);
    case 2:
      return copy<uint16_t>(n, from, places, to, stride);
    case 4:
      return copy<uint32_t>(n, from, places, to, stride);
    case 8:
      return copy<uint64_t>(n, from, places, to, stride);
    default:
      return copy<Wide>(n, from, places, to, stride);
  }
}

}  // namespace rushlight::kernels::optimized
