// SPDX-License-Identifier: BSD-3-Clause
#define RL_UKERNEL_VARIANT avx512
#include "kernels/ukernel/generic/lstm.cpp"
