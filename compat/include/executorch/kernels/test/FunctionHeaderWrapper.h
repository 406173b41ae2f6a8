// SPDX-License-Identifier: BSD-3-Clause
// The operators that a kernel test calls, as torch::executor::aten::add_outf(context, ...).
#pragma once

#include <executorch/kernels/portable/Functions.h>
