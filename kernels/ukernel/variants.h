// SPDX-License-Identifier: BSD-3-Clause
// Which variants of a microkernel a build has, and how one is called. x86-64 has three, Armv7 two, of which
// the machine decides; everything else is compiled for one machine and has one, "native".
//
//   RL_UKERNEL(void, vexp, (size_t n, const float* x, float* y), (n, x, y))
//
// declares rushlight::ukernel::<variant>::vexp for each variant, and rushlight::ukernel::vexp, which calls
// the best that the machine runs. Variants are compiled from one source with RL_UKERNEL_VARIANT naming them.
//
// RL_UKERNEL_EXACT is for what has to know subnormal numbers from zero: Armv7's vectors do not, and there is
// no variant with them. RL_UKERNEL_NATIVE is for cores without wide vectors: one variant anywhere.
#pragma once

#include <cstddef>

#ifndef RL_UKERNEL_VARIANT
#define RL_UKERNEL_VARIANT native
#endif

// Set by the build where the x86 variants are compiled, too; and likewise the one for Armv7 with NEON.
#ifndef RUSHLIGHT_X86_VARIANTS
#define RUSHLIGHT_X86_VARIANTS 0
#endif
#ifndef RUSHLIGHT_ARM_VARIANTS
#define RUSHLIGHT_ARM_VARIANTS 0
#endif

namespace rushlight::ukernel {

#define RL_UKERNEL_NATIVE(result, name, parameters, arguments) \
  namespace native {                                           \
  result name parameters;                                      \
  }                                                            \
  inline result name parameters { return native::name arguments; }

#if RUSHLIGHT_X86_VARIANTS

enum class Variant { Native, Avx2, Avx512 };

// The best that this machine runs. The environment variable RUSHLIGHT_CPU (native, avx2 or avx512) asks for
// a lesser one.
[[nodiscard]] Variant variant();

#define RL_UKERNEL(result, name, parameters, arguments) \
  namespace native {                                    \
  result name parameters;                               \
  }                                                     \
  namespace avx2 {                                      \
  result name parameters;                               \
  }                                                     \
  namespace avx512 {                                    \
  result name parameters;                               \
  }                                                     \
  inline result name parameters {                       \
    switch (variant()) {                                \
      case Variant::Avx512:                             \
        return avx512::name arguments;                  \
      case Variant::Avx2:                               \
        return avx2::name arguments;                    \
      default:                                          \
        return native::name arguments;                  \
    }                                                   \
  }
#define RL_UKERNEL_EXACT RL_UKERNEL

#elif RUSHLIGHT_ARM_VARIANTS

enum class Variant { Native, Neon };

// The best that this machine runs; with RUSHLIGHT_CPU=native in the environment not NEON.
[[nodiscard]] Variant variant();

#define RL_UKERNEL(result, name, parameters, arguments)          \
  namespace native {                                             \
  result name parameters;                                        \
  }                                                              \
  namespace neon {                                               \
  result name parameters;                                        \
  }                                                              \
  inline result name parameters {                                \
    if (variant() == Variant::Neon) return neon::name arguments; \
    return native::name arguments;                               \
  }
#define RL_UKERNEL_EXACT RL_UKERNEL_NATIVE

#else

#define RL_UKERNEL RL_UKERNEL_NATIVE
#define RL_UKERNEL_EXACT RL_UKERNEL_NATIVE

#endif

}  // namespace rushlight::ukernel
