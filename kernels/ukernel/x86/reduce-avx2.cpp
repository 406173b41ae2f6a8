// SPDX-License-Identifier: BSD-3-Clause
#define RL_UKERNEL_VARIANT avx2
#include "kernels/ukernel/generic/reduce.cpp"
