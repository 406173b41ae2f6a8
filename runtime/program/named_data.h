// SPDX-License-Identifier: BSD-3-Clause
// Data by key: weights that a program stores in another file, and data that delegates store beside their
// payload. Implementations: ProgramDataMap (named data of a .pte), FlatTensor (a .ptd), MergedDataMap
// (several maps as one).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/base/result.h"
#include "runtime/program/data_loader.h"
#include "runtime/program/tensor_layout.h"

namespace rushlight {

// The interface. A map must outlive every method and delegate that was loaded with it. Errors are logged with
// the key.
class NamedDataMap {
 public:
  // The layout of a tensor. Errors: NotFound (no such key), InvalidArgument (the data is not a tensor).
  [[nodiscard]] virtual Result<TensorLayout> tensor_layout(std::string_view key) const = 0;

  // Returns all bytes of the key: in place if the loader permits, otherwise a copy that lives as long as the
  // buffer. The address has the alignment of the file; check it if you need more. Errors: NotFound, or the
  // loader's.
  [[nodiscard]] virtual Result<FreeableBuffer> data(std::string_view key) const = 0;

  // Copies the first `size` bytes of the key to `buffer`. Errors: NotFound, InvalidArgument (the key has
  // fewer), or the loader's.
  virtual Error load_into(std::string_view key, void* buffer, size_t size) const = 0;

  // Like data() and load_into(), for a tensor that must have the layout `expected`. Error also:
  // InvalidExternalData (logs the difference). Virtual, so that a program without any map does not link them.
  [[nodiscard]] virtual Result<FreeableBuffer> tensor_data(const char* key,
                                                           const TensorLayout& expected) const;
  virtual Error load_tensor(const char* key, const TensorLayout& expected, void* buffer) const;

  // Number of keys.
  [[nodiscard]] virtual Result<uint32_t> num_keys() const = 0;

  // Returns true if the key exists; logs nothing if not. The default compares all keys.
  [[nodiscard]] virtual Result<bool> has(std::string_view key) const;

  // The key at `index`, a string that ends with a zero byte and lives as long as the map. Error:
  // InvalidArgument (index).
  [[nodiscard]] virtual Result<const char*> key(uint32_t index) const = 0;

 protected:
  // Not deleted through the base class: the runtime owns no map.
  ~NamedDataMap() = default;
};

}  // namespace rushlight
