// SPDX-License-Identifier: BSD-3-Clause
// Storage for the bytes of logged tensors; applications may implement it. The dump itself holds only shapes,
// dtypes and offsets into the sink.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>

namespace executorch::etdump {

class DataSinkBase {
 public:
  virtual ~DataSinkBase() = default;
  // Stores a copy and returns its offset, which the dump records. An error is passed to the caller of
  // log_evalue(), and the value is left out.
  virtual ::executorch::runtime::Result<size_t> write(const void* ptr, size_t length) = 0;
  // Bytes from offset 0 to the end of the last value.
  virtual size_t get_used_bytes() const = 0;
};

}  // namespace executorch::etdump
