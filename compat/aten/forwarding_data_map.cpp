// SPDX-License-Identifier: BSD-3-Clause
// Compiled like the runtime, without run-time type information.
#include "compat/detail/forwarding_data_map.h"

namespace rushlight::compat {

Result<TensorLayout> ForwardingDataMap::tensor_layout(std::string_view key) const {
  return calls_->tensor_layout(map_, key);
}
Result<FreeableBuffer> ForwardingDataMap::data(std::string_view key) const { return calls_->data(map_, key); }
Error ForwardingDataMap::load_into(std::string_view key, void* buffer, size_t size) const {
  return calls_->load_into(map_, key, buffer, size);
}
Result<uint32_t> ForwardingDataMap::num_keys() const { return calls_->num_keys(map_); }
Result<const char*> ForwardingDataMap::key(uint32_t index) const { return calls_->key(map_, index); }

}  // namespace rushlight::compat
