// SPDX-License-Identifier: BSD-3-Clause
// Quantized operators are part of the single operator table.
#pragma once

#include <executorch/kernels/portable/Functions.h>
