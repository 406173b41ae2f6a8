// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/generic/lstm.inl"
