// SPDX-License-Identifier: BSD-3-Clause
// Presents several data maps as one, without allocating:
//
//   const NamedDataMap* maps[] = {&encoder, &decoder};
//   auto merged = MergedDataMap::merge(maps);
#pragma once

#include "runtime/program/named_data.h"

namespace rushlight {

// Lookup asks the maps in order.
class MergedDataMap final : public NamedDataMap {
 public:
  // Merges the maps. The array and its entries must outlive the result; null entries are skipped. Compares
  // all keys of each pair of maps. Errors: InvalidArgument (two maps share a key, which is logged), or the
  // maps' own.
  [[nodiscard]] static Result<MergedDataMap> merge(Span<const NamedDataMap* const> maps);

  // Indices of key() number the keys of the first map, then of the next.
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
