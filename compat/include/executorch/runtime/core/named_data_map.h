// SPDX-License-Identifier: BSD-3-Clause
// Data by key: weights that are not constants of the program.
#pragma once

#include <string_view>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/core/tensor_layout.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

class NamedDataMap {
 public:
  virtual ~NamedDataMap() = default;
  // Error: NotFound (no such key).
  ET_NODISCARD virtual Result<const TensorLayout> get_tensor_layout(std::string_view key) const = 0;
  ET_NODISCARD virtual Result<FreeableBuffer> get_data(std::string_view key) const = 0;
  ET_NODISCARD virtual Error load_data_into(std::string_view key, void* buffer, size_t size) const = 0;
  ET_NODISCARD virtual Result<uint32_t> get_num_keys() const = 0;
  ET_NODISCARD virtual Result<const char*> get_key(uint32_t index) const = 0;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE
