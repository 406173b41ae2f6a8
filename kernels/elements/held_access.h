// SPDX-License-Identifier: BSD-3-Clause
// Elements through functions that convert, for kernels where a call for each element is better than a
// loop for each dtype.
#pragma once

#include <cstdint>

#include "kernels/checks/selection.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

template <class C>
struct Access {
  C (*load)(const char* at);
  void (*store)(char* at, C value);  // rounds to the element type, or wraps
};

// How elements of `type` are reached that are computed in float (integers, 16-bit floats and float), double
// or int64. `type` is one of them, and in the build.
template <class C>
Access<C> access_as(ScalarType type);

// Elements of a type that is computed in itself, and those of any type that is held in C: what a loop is a
// template of that is to be quick for the first, and one for all others.
template <class C>
struct DirectElements {
  using Held = C;
  [[nodiscard]] C load(const char* at) const { return *reinterpret_cast<const C*>(at); }
  void store(char* at, C value) const { *reinterpret_cast<C*>(at) = value; }
};
template <class C>
struct HeldElements {
  using Held = C;
  Access<C> access;
  explicit HeldElements(ScalarType type) : access(access_as<C>(type)) {}
  [[nodiscard]] C load(const char* at) const { return access.load(at); }
  void store(char* at, C value) const { access.store(at, value); }
};

// The compute types that numbers and images of `types` need.
constexpr TypeSet floating_compute_types(TypeSet types) {
  const TypeSet wide = types & type_set(ScalarType::Double);
  return wide | ((types & ~wide) != 0 ? type_set(ScalarType::Float) : 0);
}
constexpr ScalarType floating_compute_type(ScalarType type) {
  return type == ScalarType::Double ? ScalarType::Double : ScalarType::Float;
}

}  // namespace rushlight::kernels
