// SPDX-License-Identifier: BSD-3-Clause
// Declares a microkernel once for all variants of a build. variants.yaml lists the variants; variant_table.h
// is generated from it; README.md has the rules.
//
//   RL_UKERNEL(void, vexp, (size_t n, const float* x, float* y), (n, x, y))
//
// declares rushlight::ukernel::<variant>::vexp for each variant, and rushlight::ukernel::vexp, which calls
// the best variant that the processor supports, at one comparison for each variant that can be chosen at run
// time. All variants are compiled from one source, whose namespace is RL_UKERNEL_VARIANT.
//
// The macro selects the rows of the table for which a family is compiled:
//   RL_UKERNEL         float: float32; vectors may flush subnormals to zero
//   RL_UKERNEL_EXACT   exact: subnormals are kept, which Armv7's vectors cannot do
//   RL_UKERNEL_INTEGER integer: products of int8
//   RL_UKERNEL_BFLOAT16 bfloat16: products of bfloat16
//   RL_UKERNEL_HALF    half: products of float16
//   RL_UKERNEL_NATIVE  none: for cores without wide vectors
#pragma once

#include <cstddef>

// The build sets 1 if it compiles variants that are chosen at run time.
#ifndef RUSHLIGHT_UKERNEL_VARIANTS
#define RUSHLIGHT_UKERNEL_VARIANTS 0
#endif

#include "kernels/ukernel/variant_table.h"

#ifndef RL_UKERNEL_VARIANT
#define RL_UKERNEL_VARIANT native
#endif

namespace rushlight::ukernel {

// Declares a function of the native variant only and calls it directly: no comparison and no table.
#define RL_UKERNEL_NATIVE(result, name, parameters, arguments) \
  namespace native {                                           \
  result name parameters;                                      \
  }                                                            \
  inline result name parameters { return native::name arguments; }

#if RUSHLIGHT_UKERNEL_VARIANTS
// The best variant that this processor supports, or the one that the environment variable RUSHLIGHT_CPU
// names, if the processor supports it. Later variants are better. Detected at the first call and cached; safe
// to call from several threads. Later changes of the variable have no effect.
[[nodiscard]] Variant variant();
// Its name, as for RUSHLIGHT_CPU.
[[nodiscard]] inline const char* variant_name() { return kVariantNames[static_cast<int>(variant())]; }
#endif

// RL_UKERNEL_FOR(rows, ...): `rows` is a generated X-macro that applies its first argument to each variant of
// a family, best first. The inline function tests them in this order, so that a variant for which a family is
// not compiled falls through to the next lesser one, and in the end to native.
#define RL_DECLARE_VARIANT(variant, Name, result, name, parameters) \
  namespace variant {                                               \
  result name parameters;                                           \
  }
#define RL_CALL_VARIANT(variant, Name, name, arguments) \
  if (best_variant >= Variant::Name) return variant::name arguments;
#define RL_UKERNEL_FOR(rows, result, name, parameters, arguments)                    \
  namespace native {                                                                 \
  result name parameters;                                                            \
  }                                                                                  \
  rows(RL_DECLARE_VARIANT, result, name, parameters) inline result name parameters { \
    const Variant best_variant = variant();                                          \
    rows(RL_CALL_VARIANT, name, arguments) return native::name arguments;            \
  }

#if RL_HAS_FLOAT
#define RL_UKERNEL(...) RL_UKERNEL_FOR(RL_FOR_FLOAT, __VA_ARGS__)
#else
#define RL_UKERNEL RL_UKERNEL_NATIVE
#endif
#if RL_HAS_EXACT
#define RL_UKERNEL_EXACT(...) RL_UKERNEL_FOR(RL_FOR_EXACT, __VA_ARGS__)
#else
#define RL_UKERNEL_EXACT RL_UKERNEL_NATIVE
#endif
#if RL_HAS_INTEGER
#define RL_UKERNEL_INTEGER(...) RL_UKERNEL_FOR(RL_FOR_INTEGER, __VA_ARGS__)
#else
#define RL_UKERNEL_INTEGER RL_UKERNEL_NATIVE
#endif
#if RL_HAS_BFLOAT16
#define RL_UKERNEL_BFLOAT16(...) RL_UKERNEL_FOR(RL_FOR_BFLOAT16, __VA_ARGS__)
#else
#define RL_UKERNEL_BFLOAT16 RL_UKERNEL_NATIVE
#endif
#if RL_HAS_HALF
#define RL_UKERNEL_HALF(...) RL_UKERNEL_FOR(RL_FOR_HALF, __VA_ARGS__)
#else
#define RL_UKERNEL_HALF RL_UKERNEL_NATIVE
#endif

}  // namespace rushlight::ukernel
