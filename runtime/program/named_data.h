// SPDX-License-Identifier: BSD-3-Clause
// Data found by name: weights that a program leaves to another file, what a delegate put beside its blob.
// Maps: ProgramDataMap (the named data of a .pte), FlatTensor (a .ptd), MergedDataMap (several as one).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/base/result.h"
#include "runtime/program/data_loader.h"
#include "runtime/program/tensor_layout.h"

namespace rushlight {

// Outlives every method and delegate that was loaded with it. All errors are logged with the key.
class NamedDataMap {
 public:
  // Errors: NotFound (no such key), InvalidArgument (the data is no tensor).
  [[nodiscard]] virtual Result<TensorLayout> tensor_layout(std::string_view key) const = 0;

  // All bytes of the key: in place where the loader allows, then nothing is copied and nothing is given
  // back; otherwise they live as long as the buffer. Their address is as aligned as the file has them: a
  // caller that needs more checks. Errors: NotFound, or the loader's.
  [[nodiscard]] virtual Result<FreeableBuffer> data(std::string_view key) const = 0;

  // Copies the first `size` bytes of the key. Errors: NotFound, InvalidArgument (the key has fewer), or
  // the loader's.
  virtual Error load_into(std::string_view key, void* buffer, size_t size) const = 0;

  // As above, of a tensor that is laid out as `expected` says. They are virtual so that a program linked
  // without any map does not hold them. Error also: InvalidExternalData, with what differs.
  [[nodiscard]] virtual Result<FreeableBuffer> tensor_data(const char* key,
                                                           const TensorLayout& expected) const;
  virtual Error load_tensor(const char* key, const TensorLayout& expected, void* buffer) const;

  [[nodiscard]] virtual Result<uint32_t> num_keys() const = 0;

  // Whether there is such a key: nothing is logged if not. This one asks for all keys in turn.
  [[nodiscard]] virtual Result<bool> has(std::string_view key) const;

  // A zero-terminated string that lives as long as the map. Error: InvalidArgument (index).
  [[nodiscard]] virtual Result<const char*> key(uint32_t index) const = 0;

 protected:
  // Never deleted through the base: the runtime owns no map.
  ~NamedDataMap() = default;
};

}  // namespace rushlight
