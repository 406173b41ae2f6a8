// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

namespace rushlight::kernels {

// Reads an element of a tensor. Where a program says that booleans are there may be any bytes: what is
// not 0 is true.
template <class T>
inline T load(const T* at) {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const uint8_t*>(at) != 0;
  } else {
    return *at;
  }
}

}  // namespace rushlight::kernels
