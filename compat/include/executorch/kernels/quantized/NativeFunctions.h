// SPDX-License-Identifier: BSD-3-Clause
// The quantized operators are in the one table.
#pragma once

#include <executorch/kernels/portable/NativeFunctions.h>
