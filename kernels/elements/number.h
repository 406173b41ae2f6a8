// SPDX-License-Identifier: BSD-3-Clause
// Python numbers for the prim operators. A program's shape arithmetic runs on values whose kind (int,
// float or bool) is known only when it runs, so every kernel checks its operands before it reads them.
#pragma once

#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/tensor/evalue.h"

namespace rushlight::kernels {

// InvalidType naming the argument when `value` is no int, float or bool.
Error check_number(const EValue& value, const char* name);

// InvalidType when `value` is no int or bool.
Error check_integer(const EValue& value, const char* name);

// Makes `out`, which holds some number already, the new one. The kind may change: programs declare
// such values as ints whatever comes to stand there. InvalidType when `out` holds no number.
Error write_number(EValue& out, const EValue& value);

// The nearest integer below, above or around has been taken: writes the float as an int.
// InvalidArgument for NaN and what int64 cannot hold.
Error write_integral(EValue& out, double value);

// Negative, 0 or positive as a < b, a == b or a > b, exactly, whatever their kinds; false for NaN.
bool compare_numbers(const EValue& a, const EValue& b, int* order);

}  // namespace rushlight::kernels
