// SPDX-License-Identifier: BSD-3-Clause
// Storage of packed bits, without arithmetic: bits1x8 is a byte with 8 values of 1 bit, bits2x4 4 of 2 bits,
// bits4x2 2 of 4 bits. Kernels of rushlight compute with none of them. Each type is a struct with the integer
// in `val_`, of the same size.
#pragma once

#ifdef USE_ATEN_LIB
#include <c10/util/bits.h>
#else
#include "compat/detail/stored_type.h"
#endif

namespace executorch::runtime::etensor {

#ifdef USE_ATEN_LIB
using c10::bits16;
using c10::bits1x8;
using c10::bits2x4;
using c10::bits4x2;
using c10::bits8;
#else
RUSHLIGHT_STORED_AS(uint8_t, val_, bits1x8)
RUSHLIGHT_STORED_AS(uint8_t, val_, bits2x4)
RUSHLIGHT_STORED_AS(uint8_t, val_, bits4x2)
RUSHLIGHT_STORED_AS(uint8_t, val_, bits8)
RUSHLIGHT_STORED_AS(uint16_t, val_, bits16)
#endif

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::bits16;
using ::executorch::runtime::etensor::bits1x8;
using ::executorch::runtime::etensor::bits2x4;
using ::executorch::runtime::etensor::bits4x2;
using ::executorch::runtime::etensor::bits8;
}  // namespace torch::executor
