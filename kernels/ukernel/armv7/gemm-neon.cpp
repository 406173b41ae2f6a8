// SPDX-License-Identifier: BSD-3-Clause
#define RL_UKERNEL_VARIANT neon
#include "kernels/ukernel/generic/gemm.cpp"
