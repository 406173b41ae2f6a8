// SPDX-License-Identifier: BSD-3-Clause
// Python numbers (int, float, bool) for the prim operators. Shape arithmetic runs on values whose kind is
// known only at run time, so every kernel checks its operands before it reads them.
#pragma once

#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/tensor/evalue.h"

namespace rushlight::kernels {

// InvalidType, naming the argument, unless `value` is an int, float or bool.
Error check_number(const EValue& value, const char* name);

// InvalidType unless `value` is an int or bool.
Error check_integer(const EValue& value, const char* name);

// Overwrites the number in `out`. Its kind may change: programs declare such values as int regardless of what
// a call writes. InvalidType if `out` holds no number.
Error write_number(EValue& out, const EValue& value);

// Writes a float that the caller has rounded to an integer as an int. InvalidArgument if it is NaN or exceeds
// int64.
Error write_integral(EValue& out, double value);

// Sets *order to negative, 0 or positive as a < b, a == b or a > b. Exact even between int and float. Returns
// false, without an order, if one is NaN.
bool compare_numbers(const EValue& a, const EValue& b, int* order);

}  // namespace rushlight::kernels
