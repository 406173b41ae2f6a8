// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/arm/block_gemm_pairs.inl"
