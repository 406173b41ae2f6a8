// SPDX-License-Identifier: BSD-3-Clause
// Reinterprets the bytes of a value, where a cast of pointers would break C++'s aliasing rules.
#pragma once

#include <cstring>
#include <type_traits>

#include <torch/headeronly/macros/Macros.h>

namespace torch::headeronly {

// std::bit_cast for C++17: the same bytes as another type of the same size, so bit_cast<uint32_t>(1.0f) is
// 0x3f800000. Compilers reduce the copy to a register move. Not constexpr; To needs a trivial default
// constructor.
template <class To, class From>
std::enable_if_t<sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<From> &&
                     std::is_trivially_copyable_v<To> && std::is_trivially_default_constructible_v<To>,
                 To>
bit_cast(const From& source) noexcept {
  To target;
  std::memcpy(&target, &source, sizeof(To));
  return target;
}

}  // namespace torch::headeronly

namespace c10 {
using torch::headeronly::bit_cast;
}
