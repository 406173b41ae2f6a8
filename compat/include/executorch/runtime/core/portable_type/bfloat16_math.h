// SPDX-License-Identifier: BSD-3-Clause
// std::exp() and similar for Half and BFloat16.
#pragma once

#include <c10/util/BFloat16-math.h>
#include <executorch/runtime/core/portable_type/bfloat16.h>
#include <executorch/runtime/core/portable_type/half.h>
