// SPDX-License-Identifier: BSD-3-Clause
// Reading elements from memory that a program file may have filled. In C++ a bool other than 0 or 1 is
// undefined behavior, so kernels must not read one through a bool pointer.
#pragma once

#include <cstdint>
#include <type_traits>

namespace rushlight::kernels {

// Reads an element of a tensor. A bool from a program file may be any byte: every value except 0 is true.
// Other types are read as they are; `at` is aligned.
template <class T>
inline T load(const T* at) {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const uint8_t*>(at) != 0;
  } else {
    return *at;
  }
}

}  // namespace rushlight::kernels
