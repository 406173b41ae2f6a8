// SPDX-License-Identifier: BSD-3-Clause
// A pair of function pointers for each dtype and compute type of the build; the lookup is one dispatch.
#include "kernels/elements/held_access.h"

#include "kernels/elements/convert.h"
#include "runtime/base/assert.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

template <class C, class T>
C load_one(const char* at) {
  return static_cast<C>(*reinterpret_cast<const T*>(at));
}

template <class C, class T>
void store_one(char* at, C value) {
  *reinterpret_cast<T*>(at) = convert<T>(value);
}

// An unselected dtype has null functions; callers have checked it.
template <class C, TypeSet kTypes>
Access<C> find(ScalarType type) {
  Access<C> access{};
  const Error error = dispatch<(kTypes & kAnySelectedType)>(type, [&](auto element) {
    using T = typename decltype(element)::Element;
    access = {load_one<C, T>, store_one<C, T>};
    return Error::Ok;
  });
  RL_DCHECK(error == Error::Ok);
  static_cast<void>(error);
  return access;
}

}  // namespace

template <>
Access<float> access_as(ScalarType type) {
  // Double would lose bits in float, and has its own access.
  return find<float, (types::kReal & ~type_set(ScalarType::Double))>(type);
}

template <>
Access<double> access_as(ScalarType) {
  return {load_one<double, double>, store_one<double, double>};
}

template <>
Access<int64_t> access_as(ScalarType type) {
  return find<int64_t, types::kIntegral>(type);
}

}  // namespace rushlight::kernels
