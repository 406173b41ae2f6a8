// SPDX-License-Identifier: BSD-3-Clause
// Storage for the bytes of logged tensors.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>

namespace executorch::etdump {

class DataSinkBase {
 public:
  virtual ~DataSinkBase() = default;
  // Stores a copy and returns its offset.
  virtual ::executorch::runtime::Result<size_t> write(const void* ptr, size_t length) = 0;
  virtual size_t get_used_bytes() const = 0;
};

}  // namespace executorch::etdump
