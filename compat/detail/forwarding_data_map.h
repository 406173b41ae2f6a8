// SPDX-License-Identifier: BSD-3-Clause
// A map that calls functions. For ATen mode: the runtime has no run-time type information, which a class
// derived from NamedDataMap would need where PyTorch's headers are included.
#pragma once

#include "runtime/program/named_data.h"

namespace rushlight::compat {

class ForwardingDataMap final : public NamedDataMap {
 public:
  // The functions of NamedDataMap, with the map that they read.
  struct Calls {
    Result<TensorLayout> (*tensor_layout)(const void* map, std::string_view key);
    Result<FreeableBuffer> (*data)(const void* map, std::string_view key);
    Error (*load_into)(const void* map, std::string_view key, void* buffer, size_t size);
    Result<uint32_t> (*num_keys)(const void* map);
    Result<const char*> (*key)(const void* map, uint32_t index);
  };
  // Both must outlive the object.
  ForwardingDataMap(const void* map, const Calls* calls) : map_(map), calls_(calls) {}

  Result<TensorLayout> tensor_layout(std::string_view key) const override;
  Result<FreeableBuffer> data(std::string_view key) const override;
  Error load_into(std::string_view key, void* buffer, size_t size) const override;
  Result<uint32_t> num_keys() const override;
  Result<const char*> key(uint32_t index) const override;

 private:
  const void* map_;
  const Calls* calls_;
};

}  // namespace rushlight::compat
