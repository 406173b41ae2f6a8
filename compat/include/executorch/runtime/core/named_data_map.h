// SPDX-License-Identifier: BSD-3-Clause
// Data by key: weights that are not constants of the program, for external tensors and for backends.
// Implementations: extension/flat_tensor (a .ptd file), executor/pte_data_map.h (a program's own), and maps
// that join others.
//
//   auto weights = FlatTensorDataMap::load(&loader);
//   auto method = program->load_method("forward", &memory, nullptr, &weights.get());
#pragma once

#include <string_view>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/core/tensor_layout.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

// Must outlive the methods and delegates that were loaded with it. Keys need no zero byte. Functions are
// const, but may read from the data loader.
class NamedDataMap {
 public:
  virtual ~NamedDataMap() = default;
  // Dtype, sizes and dim order of a tensor. Errors: NotFound (no such key), InvalidArgument (the data is not
  // a tensor), NotImplemented (the map stores no layouts).
  ET_NODISCARD virtual Result<const TensorLayout> get_tensor_layout(std::string_view key) const = 0;
  // All bytes of the key: in place if the loader permits, otherwise a copy that the buffer owns. Errors:
  // NotFound (no such key), or the loader's.
  ET_NODISCARD virtual Result<FreeableBuffer> get_data(std::string_view key) const = 0;
  // Copies the first `size` bytes of the key to `buffer`. Errors: NotFound, InvalidArgument (the key has
  // fewer), NotImplemented, or the loader's.
  ET_NODISCARD virtual Error load_data_into(std::string_view key, void* buffer, size_t size) const = 0;
  // The number of keys, and the key at an index below it, which ends with a zero byte and lives as long as
  // the map. Error: InvalidArgument (index).
  ET_NODISCARD virtual Result<uint32_t> get_num_keys() const = 0;
  ET_NODISCARD virtual Result<const char*> get_key(uint32_t index) const = 0;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE
