// SPDX-License-Identifier: BSD-3-Clause
// Storage of quantized integers; scale and zero point are stored elsewhere. quint4x2 is a byte with 2 values
// of 4 bits, quint2x4 one with 4 of 2 bits. rushlight's quantized operators use tensors of plain integers.
// Each type is a struct with the integer in `val_`, of the same size.
#pragma once

#include "compat/detail/stored_type.h"

namespace executorch::runtime::etensor {

RUSHLIGHT_STORED_AS(int8_t, val_, qint8)
RUSHLIGHT_STORED_AS(uint8_t, val_, quint8)
RUSHLIGHT_STORED_AS(int32_t, val_, qint32)
RUSHLIGHT_STORED_AS(uint8_t, val_, quint4x2)
RUSHLIGHT_STORED_AS(uint8_t, val_, quint2x4)

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::qint32;
using ::executorch::runtime::etensor::qint8;
using ::executorch::runtime::etensor::quint2x4;
using ::executorch::runtime::etensor::quint4x2;
using ::executorch::runtime::etensor::quint8;
}  // namespace torch::executor
