// SPDX-License-Identifier: BSD-3-Clause
// Sources for instruction sets share this text: a source itself, it would be empty there in source packages.
#include "kernels/ukernel/generic/convert.inl"
