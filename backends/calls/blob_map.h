// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "runtime/program/named_data.h"

namespace rushlight {

// Data by key in memory, for payloads that are read outside of a program, as in tools and tests. Keys are
// listed in byte order. The blobs must outlive the map and the buffers that it returns.
class BlobMap final : public NamedDataMap {
 public:
  // Adds a key, or replaces its bytes. The bytes are not copied.
  void add(std::string key, Span<const uint8_t> bytes) { blobs_[std::move(key)] = bytes; }

  // See NamedDataMap. No blob is a tensor, so tensor_layout() always fails. data() returns the blob in place.
  [[nodiscard]] Result<TensorLayout> tensor_layout(std::string_view key) const override;
  [[nodiscard]] Result<FreeableBuffer> data(std::string_view key) const override;
  Error load_into(std::string_view key, void* buffer, size_t size) const override;
  [[nodiscard]] Result<uint32_t> num_keys() const override;
  [[nodiscard]] Result<const char*> key(uint32_t index) const override;

 private:
  std::map<std::string, Span<const uint8_t>, std::less<>> blobs_;
};

}  // namespace rushlight
