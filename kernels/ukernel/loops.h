// SPDX-License-Identifier: BSD-3-Clause
// Loops of kernels that are not microkernels, compiled for the variant of variants.yaml with `target`:
//
//   template <class T>
//   RL_LOOPS void negate(size_t n, const T* x, T* out);
//
//   if (ukernel::runs_loops()) return negate(n, x, out);
//   ...a plain loop, for older processors
//
// A function in the loop is compiled for the variant if it is inlined. Multiply-adds are not fused: results
// equal the results of native code. Builds for boards, and builds with flags for one processor, compile
// RL_LOOPS for the processor's own flags, and need no plain loop.
#pragma once

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

#if defined(RL_LOOPS_TARGET) && !defined(__OPTIMIZE_SIZE__)
#define RL_LOOPS __attribute__((target(RL_LOOPS_TARGET)))
[[nodiscard]] inline bool runs_loops() { return variant() >= Variant::RL_LOOPS_VARIANT; }
#else
#define RL_LOOPS
[[nodiscard]] constexpr bool runs_loops() { return true; }
#endif

}  // namespace rushlight::ukernel
