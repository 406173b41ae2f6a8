// SPDX-License-Identifier: BSD-3-Clause
// Lists the variants of a microkernel that this machine supports, for value-parameterized tests:
//
//   struct Functions { const char* name; decltype(&ukernel::native::gemm_tile) tile; };
//   RL_VARIANTS(Functions, all, gemm_tile)   // std::vector<Functions> all()
//
// RL_VARIANTS is for families of RL_UKERNEL, RL_EXACT_VARIANTS of RL_UKERNEL_EXACT, RL_INTEGER_VARIANTS of
// RL_UKERNEL_INTEGER, RL_BFLOAT16_VARIANTS of RL_UKERNEL_BFLOAT16, RL_HALF_VARIANTS of RL_UKERNEL_HALF,
// RL_NATIVE_VARIANTS of RL_UKERNEL_NATIVE.
#pragma once

#include <utility>
#include <vector>

#include "kernels/ukernel/variants.h"

#if RUSHLIGHT_UKERNEL_VARIANTS
#include "kernels/ukernel/detect.h"

namespace rushlight::testing {

// True if this machine supports a variant and RUSHLIGHT_CPU does not ask for a lesser one.
inline bool runs(ukernel::Variant variant) {
  const uint32_t runnable = ukernel::runnable_variants(ukernel::Cpu{});
  return variant <= ukernel::variant() && (runnable >> static_cast<int>(variant) & 1) != 0;
}

}  // namespace rushlight::testing
#endif

namespace rushlight::testing {

// Selects the values of supported variants.
template <class T>
std::vector<T> running(const std::vector<std::pair<bool, T>>& all) {
  std::vector<T> found;
  for (const auto& [runs, value] : all) {
    if (runs) found.push_back(value);
  }
  return found;
}

}  // namespace rushlight::testing

// The list of a family that has only the compiler's own code: one entry on every machine.
#define RL_NATIVE_VARIANTS(type, all, ...) \
  std::vector<type> all() { return {{"native", RL_EACH(native, __VA_ARGS__)}}; }

// "native" first, then the variants of `rows` that this machine supports, with their names.
#define RL_VARIANTS_OF(rows, type, all, ...)                                                   \
  std::vector<type> all() {                                                                    \
    return ::rushlight::testing::running<type>(                                                \
        {{true, {"native", RL_EACH(native, __VA_ARGS__)}} rows(RL_AND_VARIANT, __VA_ARGS__)}); \
  }
#define RL_AND_VARIANT(variant, Name, ...)                     \
  , {                                                          \
    RL_RUNS(Name), { #variant, RL_EACH(variant, __VA_ARGS__) } \
  }
#define RL_RUNS(Name) ::rushlight::testing::runs(::rushlight::ukernel::Variant::Name)
#define RL_VARIANTS(type, all, ...) RL_VARIANTS_OF(RL_FOR_FLOAT, type, all, __VA_ARGS__)
#define RL_EXACT_VARIANTS(type, all, ...) RL_VARIANTS_OF(RL_FOR_EXACT, type, all, __VA_ARGS__)
#define RL_INTEGER_VARIANTS(type, all, ...) RL_VARIANTS_OF(RL_FOR_INTEGER, type, all, __VA_ARGS__)
#define RL_BFLOAT16_VARIANTS(type, all, ...) RL_VARIANTS_OF(RL_FOR_BFLOAT16, type, all, __VA_ARGS__)
#define RL_HALF_VARIANTS(type, all, ...) RL_VARIANTS_OF(RL_FOR_HALF, type, all, __VA_ARGS__)

// The functions `name` of the variants of RL_UKERNEL_EXACT: a std::vector in the order of RL_EXACT_VARIANTS.
#define RL_EXACT_FUNCTIONS(name)                                \
  ::rushlight::testing::running<decltype(RL_AT(native, name))>( \
      {{true, RL_AT(native, name)} RL_FOR_EXACT(RL_AND_FUNCTION, name)})
#define RL_AND_FUNCTION(variant, Name, name) \
  , { RL_RUNS(Name), RL_AT(variant, name) }

// &variant::a, &variant::b, ... for up to eight names.
#define RL_AT(variant, name) &::rushlight::ukernel::variant::name
#define RL_EACH(variant, ...) RL_EACH_OF(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1)(variant, __VA_ARGS__)
#define RL_EACH_OF(a, b, c, d, e, f, g, h, count, ...) RL_EACH_##count
#define RL_EACH_1(v, a) RL_AT(v, a)
#define RL_EACH_2(v, a, ...) RL_AT(v, a), RL_EACH_1(v, __VA_ARGS__)
#define RL_EACH_3(v, a, ...) RL_AT(v, a), RL_EACH_2(v, __VA_ARGS__)
#define RL_EACH_4(v, a, ...) RL_AT(v, a), RL_EACH_3(v, __VA_ARGS__)
#define RL_EACH_5(v, a, ...) RL_AT(v, a), RL_EACH_4(v, __VA_ARGS__)
#define RL_EACH_6(v, a, ...) RL_AT(v, a), RL_EACH_5(v, __VA_ARGS__)
#define RL_EACH_7(v, a, ...) RL_AT(v, a), RL_EACH_6(v, __VA_ARGS__)
#define RL_EACH_8(v, a, ...) RL_AT(v, a), RL_EACH_7(v, __VA_ARGS__)
