// SPDX-License-Identifier: BSD-3-Clause
// Lookup asks each map in turn: there are a few maps, and an index would need memory. Duplicate keys are an
// error, so the order of the maps does not matter.
#include "runtime/program/merged_data_map.h"

namespace rushlight {

namespace {

// Compares all keys of one map with the other: the product of their sizes, or n log n if the second map is
// sorted.
Error refuse_shared_keys(const NamedDataMap& a, const NamedDataMap& b) {
  RL_TRY_ASSIGN(const uint32_t count, a.num_keys());
  for (uint32_t i = 0; i < count; ++i) {
    RL_TRY_ASSIGN(const char* key, a.key(i));
    RL_TRY_ASSIGN(const bool shared, b.has(key));
    RL_CHECK(!shared, Error::InvalidArgument, "%s: two data maps have this key", key);
  }
  return Error::Ok;
}

}  // namespace

Result<MergedDataMap> MergedDataMap::merge(Span<const NamedDataMap* const> maps) {
  for (size_t i = 0; i < maps.size(); ++i) {
    for (size_t j = i + 1; j < maps.size(); ++j) {
      if (maps[i] != nullptr && maps[j] != nullptr) RL_TRY(refuse_shared_keys(*maps[i], *maps[j]));
    }
  }
  return MergedDataMap(maps);
}

Result<const NamedDataMap*> MergedDataMap::find(std::string_view key) const {
  // Maps are asked through has(), which logs nothing for a missing key.
  for (const NamedDataMap* map : maps_) {
    if (map == nullptr) continue;
    RL_TRY_ASSIGN(const bool has, map->has(key));
    if (has) return map;
  }
  RL_LOG(Error, "%.*s: not in any of %lu data maps", static_cast<int>(key.size()), key.data(),
         log_number(maps_.size()));
  return Error::NotFound;
}

Result<TensorLayout> MergedDataMap::tensor_layout(std::string_view key) const {
  RL_TRY_ASSIGN(const NamedDataMap* map, find(key));
  return map->tensor_layout(key);
}

Result<FreeableBuffer> MergedDataMap::data(std::string_view key) const {
  RL_TRY_ASSIGN(const NamedDataMap* map, find(key));
  return map->data(key);
}

Error MergedDataMap::load_into(std::string_view key, void* buffer, size_t size) const {
  RL_TRY_ASSIGN(const NamedDataMap* map, find(key));
  return map->load_into(key, buffer, size);
}

Result<uint32_t> MergedDataMap::num_keys() const {
  uint32_t sum = 0;
  for (const NamedDataMap* map : maps_) {
    if (map == nullptr) continue;
    RL_TRY_ASSIGN(const uint32_t count, map->num_keys());
    RL_CHECK(checked_add(sum, count, &sum), Error::InvalidArgument, "data maps: too many keys");
  }
  return sum;
}

// `index` is unsigned, so an index before a map's first key wraps and fails the comparison.
Result<const char*> MergedDataMap::key(uint32_t index) const {
  uint32_t before = 0;
  for (const NamedDataMap* map : maps_) {
    if (map == nullptr) continue;
    RL_TRY_ASSIGN(const uint32_t count, map->num_keys());
    if (index - before < count) return map->key(index - before);
    before += count;
  }
  RL_LOG(Error, "data maps: key %lu of %lu", log_number(index), log_number(before));
  return Error::InvalidArgument;
}

}  // namespace rushlight
