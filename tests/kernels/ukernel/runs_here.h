// SPDX-License-Identifier: BSD-3-Clause
// The variants of a microkernel that this machine runs, for value-parameterized tests:
//
//   struct Functions { const char* name; decltype(&ukernel::native::gemm_tile) tile; };
//   RL_VARIANTS(Functions, all, gemm_tile)   // std::vector<Functions> all()
#pragma once

#include <vector>

#include "kernels/ukernel/variants.h"

// Of RL_UKERNEL_NATIVE; RL_EXACT_VARIANTS are those of RL_UKERNEL_EXACT.
#define RL_NATIVE_VARIANTS(type, all, ...) \
  std::vector<type> all() { return {{"native", RL_EACH(native, __VA_ARGS__)}}; }

#if RUSHLIGHT_X86_VARIANTS
#define RL_VARIANTS(type, all, ...)                                    \
  std::vector<type> all() {                                            \
    using ::rushlight::ukernel::Variant;                               \
    std::vector<type> found{{"native", RL_EACH(native, __VA_ARGS__)}}; \
    if (::rushlight::ukernel::variant() >= Variant::Avx2) {            \
      found.push_back({"avx2", RL_EACH(avx2, __VA_ARGS__)});           \
    }                                                                  \
    if (::rushlight::ukernel::variant() >= Variant::Avx512) {          \
      found.push_back({"avx512", RL_EACH(avx512, __VA_ARGS__)});       \
    }                                                                  \
    return found;                                                      \
  }
#define RL_EXACT_VARIANTS RL_VARIANTS
#else
#define RL_EXACT_VARIANTS RL_NATIVE_VARIANTS
#if RUSHLIGHT_ARM_VARIANTS
#define RL_VARIANTS(type, all, ...)                                               \
  std::vector<type> all() {                                                       \
    std::vector<type> found{{"native", RL_EACH(native, __VA_ARGS__)}};            \
    if (::rushlight::ukernel::variant() == ::rushlight::ukernel::Variant::Neon) { \
      found.push_back({"neon", RL_EACH(neon, __VA_ARGS__)});                      \
    }                                                                             \
    return found;                                                                 \
  }
#else
#define RL_VARIANTS RL_NATIVE_VARIANTS
#endif
#endif

// &variant::a, &variant::b, ... of up to eight names.
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
