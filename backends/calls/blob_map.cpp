// SPDX-License-Identifier: BSD-3-Clause
// A sorted map suffices: it serves tools that convert payloads, not execution.
#include "backends/calls/blob_map.h"

#include <cstring>
#include <iterator>

#include "runtime/base/log.h"

namespace rushlight {

Result<TensorLayout> BlobMap::tensor_layout(std::string_view) const { return Error::InvalidArgument; }

Result<FreeableBuffer> BlobMap::data(std::string_view key) const {
  const auto found = blobs_.find(key);
  RL_CHECK(found != blobs_.end(), Error::NotFound, "named data: no key %.*s", static_cast<int>(key.size()),
           key.data());
  return FreeableBuffer(found->second.data(), found->second.size());
}

Error BlobMap::load_into(std::string_view key, void* buffer, size_t size) const {
  RL_TRY_ASSIGN(const FreeableBuffer blob, data(key));
  if (size > blob.size()) return Error::InvalidArgument;
  std::memcpy(buffer, blob.data(), size);
  return Error::Ok;
}

Result<uint32_t> BlobMap::num_keys() const { return static_cast<uint32_t>(blobs_.size()); }

Result<const char*> BlobMap::key(uint32_t index) const {
  if (index >= blobs_.size()) return Error::InvalidArgument;
  // Linear in the index.
  return std::next(blobs_.begin(), index)->first.c_str();
}

}  // namespace rushlight
