// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/arm/int8_gemm_pairs.inl"
