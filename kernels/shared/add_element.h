// SPDX-License-Identifier: BSD-3-Clause
// Adding one element to another in memory, rounded each time as PyTorch does.
#pragma once

#include <type_traits>

#include "kernels/shared/element.h"
#include "runtime/base/error.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

using ElementPair = void (*)(char* target, const char* source);

template <class T>
void add_element(char* target, const char* source) {
  T& sum = *reinterpret_cast<T*>(target);
  const T term = load(reinterpret_cast<const T*>(source));
  if constexpr (std::is_same_v<T, bool>) {
    sum = load(&sum) || term;
  } else if constexpr (std::is_arithmetic_v<T>) {
    sum += term;
  } else {
    sum = static_cast<T>(static_cast<float>(sum) + static_cast<float>(term));
  }
}

// The function for elements of `type`. InvalidType for one outside of kTypes.
template <TypeSet kTypes>
Error find_adder(ScalarType type, ElementPair* add) {
  return dispatch<kTypes>(type, [add](auto element) {
    *add = add_element<typename decltype(element)::Element>;
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
