// SPDX-License-Identifier: BSD-3-Clause
// Several maps as one, without memory of its own:
//
//   const NamedDataMap* maps[] = {&encoder, &decoder};
//   auto merged = MergedDataMap::merge(maps);
#pragma once

#include "runtime/program/named_data.h"

namespace rushlight {

class MergedDataMap final : public NamedDataMap {
 public:
  // Keeps `maps`: the array and what it points to outlive the merged map. Null entries are left out.
  // Errors: InvalidArgument (a key that two maps have, which the message names), or the maps' own.
  [[nodiscard]] static Result<MergedDataMap> merge(Span<const NamedDataMap* const> maps);

  // Keys count through the maps in their order.
  [[nodiscard]] Result<TensorLayout> tensor_layout(std::string_view key) const override;
  [[nodiscard]] Result<FreeableBuffer> data(std::string_view key) const override;
  Error load_into(std::string_view key, void* buffer, size_t size) const override;
  [[nodiscard]] Result<uint32_t> num_keys() const override;
  [[nodiscard]] Result<const char*> key(uint32_t index) const override;

 private:
  explicit MergedDataMap(Span<const NamedDataMap* const> maps) : maps_(maps) {}
  [[nodiscard]] Result<const NamedDataMap*> find(std::string_view key) const;

  Span<const NamedDataMap* const> maps_;
};

}  // namespace rushlight
