// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/elements.h"

#include <cstring>

#include "kernels/shared/selection.h"

namespace rushlight::kernels::optimized {

namespace {

template <class T>
void load_as(float* to, const T* from, ptrdiff_t stride, size_t n) {
  if (stride == 1) {
    for (size_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
  } else {
    for (size_t i = 0; i < n; ++i, from += stride) to[i] = static_cast<float>(*from);
  }
}

template <class T>
void store_as(T* to, ptrdiff_t stride, const float* from, size_t n) {
  if (stride == 1) {
    for (size_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
  } else {
    for (size_t i = 0; i < n; ++i, to += stride) *to = static_cast<T>(from[i]);
  }
}

}  // namespace

void load_floats(float* to, ScalarType type, const void* from, ptrdiff_t stride, size_t n) {
  if constexpr (contains(kAnySelectedType, ScalarType::Half)) {
    if (type == ScalarType::Half) return load_as(to, static_cast<const Half*>(from), stride, n);
  }
  if constexpr (contains(kAnySelectedType, ScalarType::BFloat16)) {
    if (type == ScalarType::BFloat16) return load_as(to, static_cast<const BFloat16*>(from), stride, n);
  }
  load_as(to, static_cast<const float*>(from), stride, n);
}

void store_floats(void* to, ptrdiff_t stride, ScalarType type, const float* from, size_t n) {
  if constexpr (contains(kAnySelectedType, ScalarType::Half)) {
    if (type == ScalarType::Half) return store_as(static_cast<Half*>(to), stride, from, n);
  }
  if constexpr (contains(kAnySelectedType, ScalarType::BFloat16)) {
    if (type == ScalarType::BFloat16) return store_as(static_cast<BFloat16*>(to), stride, from, n);
  }
  store_as(static_cast<float*>(to), stride, from, n);
}

}  // namespace rushlight::kernels::optimized
