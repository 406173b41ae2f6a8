// SPDX-License-Identifier: BSD-3-Clause
#if RUSHLIGHT_UKERNEL_VARIANTS && !defined(RL_UKERNEL_VARIANT)  // chosen at run time; otherwise native
#define RL_UKERNEL_VARIANT avx2
#endif
#include "kernels/ukernel/x86/lookup.inl"
