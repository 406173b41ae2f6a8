// SPDX-License-Identifier: BSD-3-Clause
// Presents several maps as one: for methods whose weights are in several data files. Lookup by key is a hash
// table. A program's own named data needs no merging: methods add it for their backends.
//
//   const NamedDataMap* maps[] = {&*base, &*adapter};
//   auto merged = MergedDataMap::load(maps);
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <executorch/runtime/core/named_data_map.h>

#ifdef USE_ATEN_LIB
#define ET_MERGED_DATA_MAP_NAMESPACE merged_data_map::aten
#else
#define ET_MERGED_DATA_MAP_NAMESPACE merged_data_map
#endif

namespace executorch::extension::ET_MERGED_DATA_MAP_NAMESPACE {

class MergedDataMap final : public executorch::ET_RUNTIME_NAMESPACE::NamedDataMap {
 public:
  // The maps must outlive it; null ones are skipped. Reads all keys once. Errors: InvalidArgument (no map, a
  // key that two maps have), or a map's.
  static executorch::runtime::Result<MergedDataMap> load(
      executorch::runtime::Span<const executorch::ET_RUNTIME_NAMESPACE::NamedDataMap*> named_data_maps);

  // Answers of the map that has the key. Error: NotFound (no such key), or the map's.
  ET_NODISCARD executorch::runtime::Result<const executorch::ET_RUNTIME_NAMESPACE::TensorLayout>
  get_tensor_layout(std::string_view key) const override;
  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> get_data(
      std::string_view key) const override;
  ET_NODISCARD executorch::runtime::Error load_data_into(std::string_view key, void* buffer,
                                                         size_t size) const override;
  // Keys are numbered by map, in load()'s order. get_key() returns InvalidArgument beyond the last.
  ET_NODISCARD executorch::runtime::Result<uint32_t> get_num_keys() const override;
  ET_NODISCARD executorch::runtime::Result<const char*> get_key(uint32_t index) const override;

  // The moved-from map must not be used.
  MergedDataMap(MergedDataMap&&) noexcept = default;

 private:
  using Map = executorch::ET_RUNTIME_NAMESPACE::NamedDataMap;

  MergedDataMap() = default;
  // Copies the key for the lookup.
  const Map* find(std::string_view key) const;  // null if no map has it

  // The maps in load()'s order, and the map that has each key.
  std::vector<const Map*> maps_;
  std::unordered_map<std::string, const Map*> map_of_key_;
};

}  // namespace executorch::extension::ET_MERGED_DATA_MAP_NAMESPACE
