// SPDX-License-Identifier: BSD-3-Clause
// Storage of quantized integers; scale and zero point are stored elsewhere. quint4x2 is a byte with 2 values
// of 4 bits, quint2x4 one with 4 of 2 bits; in ATen mode the types are PyTorch's. rushlight's quantized
// operators use tensors of plain integers. Each type is a struct with the integer in `val_`, of the same
// size.
#pragma once

#ifdef USE_ATEN_LIB
#include <c10/util/qint32.h>
#include <c10/util/qint8.h>
#include <c10/util/quint2x4.h>
#include <c10/util/quint4x2.h>
#include <c10/util/quint8.h>
#else
#include "compat/detail/stored_type.h"
#endif

namespace executorch::runtime::etensor {

#ifdef USE_ATEN_LIB
using c10::qint32;
using c10::qint8;
using c10::quint2x4;
using c10::quint4x2;
using c10::quint8;
#else
RUSHLIGHT_STORED_AS(int8_t, val_, qint8)
RUSHLIGHT_STORED_AS(uint8_t, val_, quint8)
RUSHLIGHT_STORED_AS(int32_t, val_, qint32)
RUSHLIGHT_STORED_AS(uint8_t, val_, quint4x2)
RUSHLIGHT_STORED_AS(uint8_t, val_, quint2x4)
#endif

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::qint32;
using ::executorch::runtime::etensor::qint8;
using ::executorch::runtime::etensor::quint2x4;
using ::executorch::runtime::etensor::quint4x2;
using ::executorch::runtime::etensor::quint8;
}  // namespace torch::executor
