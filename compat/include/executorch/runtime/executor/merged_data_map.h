// SPDX-License-Identifier: BSD-3-Clause
// Two maps as one.
#pragma once

#include <executorch/runtime/core/named_data_map.h>

namespace executorch::ET_RUNTIME_NAMESPACE::internal {

class MergedDataMap final : public NamedDataMap {
 public:
  // The maps outlive it. Error: InvalidArgument (a map that is null, a key that both have).
  static Result<MergedDataMap> load(const NamedDataMap* first, const NamedDataMap* second) {
    ET_CHECK_OR_RETURN_ERROR(first != nullptr && second != nullptr, InvalidArgument, "a data map is null");
    auto count = first->get_num_keys();
    if (!count.ok()) return count.error();
    for (uint32_t i = 0; i < *count; ++i) {
      auto key = first->get_key(i);
      if (!key.ok()) return key.error();
      const Error error = second->get_tensor_layout(*key).error();
      ET_CHECK_OR_RETURN_ERROR(error == Error::NotFound || error == Error::NotImplemented, InvalidArgument,
                               "both data maps have the key %s", *key);
    }
    return MergedDataMap(first, second);
  }

  ET_NODISCARD Result<const TensorLayout> get_tensor_layout(std::string_view key) const override {
    auto layout = first_->get_tensor_layout(key);
    if (layout.error() != Error::NotFound) return layout;
    return second_->get_tensor_layout(key);
  }
  ET_NODISCARD Result<FreeableBuffer> get_data(std::string_view key) const override {
    auto data = first_->get_data(key);
    if (data.error() != Error::NotFound) return data;
    return second_->get_data(key);
  }
  ET_NODISCARD Error load_data_into(std::string_view key, void* buffer, size_t size) const override {
    const Error error = first_->load_data_into(key, buffer, size);
    return error == Error::NotFound ? second_->load_data_into(key, buffer, size) : error;
  }
  ET_NODISCARD Result<uint32_t> get_num_keys() const override {
    return first_->get_num_keys().get() + second_->get_num_keys().get();
  }
  ET_NODISCARD Result<const char*> get_key(uint32_t index) const override {
    const uint32_t count = first_->get_num_keys().get();
    return index < count ? first_->get_key(index) : second_->get_key(index - count);
  }

  MergedDataMap(MergedDataMap&&) noexcept = default;

 private:
  MergedDataMap(const NamedDataMap* first, const NamedDataMap* second) : first_(first), second_(second) {}

  const NamedDataMap* first_;
  const NamedDataMap* second_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE::internal
