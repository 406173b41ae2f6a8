// SPDX-License-Identifier: BSD-3-Clause
// All dtypes, with their values in programs. Rushlight computes only with dtypes that its ScalarType names
// (runtime/tensor/scalar_type.h); the others exist so that code that lists all of them compiles.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/portable_type/bfloat16.h>
#include <executorch/runtime/core/portable_type/bits_types.h>
#include <executorch/runtime/core/portable_type/complex.h>
#include <executorch/runtime/core/portable_type/half.h>
#include <executorch/runtime/core/portable_type/qint_types.h>
#include <rushlight/dtype_macros.h>

#ifdef USE_ATEN_LIB
#include <c10/core/ScalarType.h>
#else
#include "compat/detail/stored_type.h"
#endif

namespace executorch::runtime::etensor {

// 8-bit floating-point formats: storage without arithmetic.
namespace unused_dtype {
#ifdef USE_ATEN_LIB
using c10::Float8_e4m3fn;
using c10::Float8_e4m3fnuz;
using c10::Float8_e5m2;
using c10::Float8_e5m2fnuz;
#else
RUSHLIGHT_STORED_AS(uint8_t, x, Float8_e5m2)
RUSHLIGHT_STORED_AS(uint8_t, x, Float8_e4m3fn)
RUSHLIGHT_STORED_AS(uint8_t, x, Float8_e5m2fnuz)
RUSHLIGHT_STORED_AS(uint8_t, x, Float8_e4m3fnuz)
#endif
}  // namespace unused_dtype

// In the order of their values, from 0; PyTorch has the same values. Undefined is no dtype; NumOptions is the
// number of enumerators before it.
//
//    0 Byte   1 Char   2 Short   3 Int   4 Long   5 Half   6 Float   7 Double
//    8 ComplexHalf   9 ComplexFloat   10 ComplexDouble   11 Bool   12 QInt8   13 QUInt8   14 QInt32
//   15 BFloat16   16 QUInt4x2   17 QUInt2x4   18 to 22 Bits1x8, Bits2x4, Bits4x2, Bits8, Bits16
//   23 to 26 Float8_e5m2, Float8_e4m3fn, Float8_e5m2fnuz, Float8_e4m3fnuz   27 to 29 UInt16, UInt32, UInt64
enum class ScalarType : int8_t {
#define RUSHLIGHT_ENUMERATOR(unused, name) name,
  ET_FORALL_SCALAR_TYPES(RUSHLIGHT_ENUMERATOR)
#undef RUSHLIGHT_ENUMERATOR
      Undefined,
  NumOptions,
};

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::ScalarType;
}
