// SPDX-License-Identifier: BSD-3-Clause
// Converts a tensor's device between its official form and rushlight's six bits:
//
//   bit 5 4 3 2 1 | 0
//   index (two's complement, -16 to 15) | type (0 CPU, 1 CUDA)
//
// TensorImpl keeps them beside its shape dynamism in one byte. 0 is the CPU with index 0, rushlight's kHost.
#pragma once

#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/platform/assert.h>

namespace rushlight::compat {

// The sign bit of the five-bit index.
constexpr uint8_t kSignOfIndex = 16;

// Aborts if the index does not fit: an application's devices are trusted; tensor_parser.cpp refuses a
// program's.
inline uint8_t our_device(executorch::runtime::etensor::Device device) {
  const int index = device.index();
  ET_CHECK_MSG(index >= -kSignOfIndex && index < kSignOfIndex, "device index: expected -16 to 15, got %d",
               index);
  const auto kind = static_cast<unsigned>(device.type());
  return static_cast<uint8_t>((static_cast<unsigned>(index) << 1 | kind) & 63u);
}

inline executorch::runtime::etensor::Device official_device(uint8_t device) {
  const int index = ((device >> 1) ^ kSignOfIndex) - kSignOfIndex;  // sign-extends the index
  return {static_cast<executorch::runtime::etensor::DeviceType>(device & 1),
          static_cast<executorch::runtime::etensor::DeviceIndex>(index)};
}

}  // namespace rushlight::compat
