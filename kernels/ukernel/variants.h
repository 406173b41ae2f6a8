// SPDX-License-Identifier: BSD-3-Clause
// Which variants of a microkernel a build has, and how one is called. x86-64 has three, of which the machine
// decides; everything else is compiled for one machine and has one, "native".
//
//   RL_UKERNEL(void, vexp, (size_t n, const float* x, float* y), (n, x, y))
//
// declares rushlight::ukernel::<variant>::vexp for each variant, and rushlight::ukernel::vexp, which calls
// the best that the machine runs. Variants are compiled from one source with RL_UKERNEL_VARIANT naming them.
#pragma once

#include <cstddef>

#ifndef RL_UKERNEL_VARIANT
#define RL_UKERNEL_VARIANT native
#endif

// Set by the build where the x86 variants are compiled, too.
#ifndef RUSHLIGHT_X86_VARIANTS
#define RUSHLIGHT_X86_VARIANTS 0
#endif

namespace rushlight::ukernel {

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

#else

#define RL_UKERNEL(result, name, parameters, arguments) \
  namespace native {                                    \
  result name parameters;                               \
  }                                                     \
  inline result name parameters { return native::name arguments; }

#endif

}  // namespace rushlight::ukernel
