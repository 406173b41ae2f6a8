// SPDX-License-Identifier: BSD-3-Clause
// Access to elements through converting functions, for kernels in which a call for each element costs less
// than the code of a loop for each dtype.
#pragma once

#include <cstdint>

#include "kernels/checks/selection.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// Load and store functions of one dtype. Each access is one indirect call; the functions keep no state.
template <class C>
struct Access {
  C (*load)(const char* at);
  void (*store)(char* at, C value);  // rounds to the element type, or wraps
};

// The functions for elements of `type` as C: float (integers, 16-bit floats and float), double (double only),
// or int64 (integers). Precondition: `type` is one of these and selected in this build; otherwise the
// pointers are null.
template <class C>
Access<C> access_as(ScalarType type);

// Accessors for a loop template: DirectElements inlines a dtype that is its own compute type C, HeldElements
// calls functions for any dtype held in C. A loop instantiated for both is fast for C and small for the
// others.
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

// The types, float or double, that floating-point computations on `types` need: double for double, float for
// the rest.
constexpr TypeSet floating_compute_types(TypeSet types) {
  const TypeSet wide = types & type_set(ScalarType::Double);
  return wide | ((types & ~wide) != 0 ? type_set(ScalarType::Float) : 0);
}
// The type, float or double, in which elements of `type` compute.
constexpr ScalarType floating_compute_type(ScalarType type) {
  return type == ScalarType::Double ? ScalarType::Double : ScalarType::Float;
}

}  // namespace rushlight::kernels
