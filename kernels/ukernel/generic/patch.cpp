// SPDX-License-Identifier: BSD-3-Clause
// The code is in patch_planes.inl, which sources for instruction sets include too. In source packages this
// file is compiled only where no such source replaces it.
#include "kernels/ukernel/generic/patch_planes.inl"
