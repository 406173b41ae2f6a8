// SPDX-License-Identifier: BSD-3-Clause
// Data outside of programs: the header of .ptd files, a file as a map, and several maps as one.
#include <cstring>

#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/named_data_map/merged_data_map.h>

namespace executorch::extension {

using runtime::Error;
using runtime::Result;

#ifndef USE_ATEN_LIB  // the same in both modes
Result<FlatTensorHeader> FlatTensorHeader::Parse(const void* data, size_t size) {
  ET_CHECK_OR_RETURN_ERROR(size >= kNumHeadBytes, InvalidArgument, "head: got %zu bytes, expected %zu", size,
                           kNumHeadBytes);
  // Behind the root offset and the identifier. A copy, since `data` may have any alignment.
  alignas(8) uint8_t head[kNumHeadBytes - kHeaderOffset];
  std::memcpy(head, static_cast<const uint8_t*>(data) + kHeaderOffset, sizeof head);
  if (std::memcmp(head, kMagic, kMagicSize) != 0) return Error::NotFound;
  const auto length = rushlight::flatbuffer::read<uint32_t>(head + kMagicSize);
  ET_CHECK_OR_RETURN_ERROR(length >= kHeaderExpectedLength, InvalidExternalData,
                           "header: got %u bytes, expected at least %u", static_cast<unsigned>(length),
                           static_cast<unsigned>(kHeaderExpectedLength));
  const auto number = [&head](size_t index) {
    return rushlight::flatbuffer::read<uint64_t>(head + 8 + 8 * index);
  };
  return FlatTensorHeader{number(0), number(1), number(2), number(3)};
}
#endif

}  // namespace executorch::extension

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

using rushlight::compat::official;

Result<FlatTensorDataMap> FlatTensorDataMap::load(runtime::DataLoader* loader) {
  ET_CHECK_OR_RETURN_ERROR(loader != nullptr, InvalidArgument, "the data loader is null");
  // On the heap, as are the sorted keys: the map points to both, and stays valid when its holder moves.
  auto ours = std::make_unique<rushlight::compat::OurLoader>(
      *loader, runtime::DataLoader::SegmentInfo::Type::External);
  auto map = rushlight::FlatTensor::load(*ours);
  if (!map.ok()) return official(map.error());
  auto keys = map->num_keys();
  if (!keys.ok()) return official(keys.error());
  // Sorted once, because a method looks up each external tensor.
  std::vector<uint32_t> sorted(*keys);
  map->sort_keys({sorted.data(), sorted.size()});
  return FlatTensorDataMap(std::move(ours), std::move(*map), std::move(sorted));
}

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE

namespace executorch::extension::ET_MERGED_DATA_MAP_NAMESPACE {

// One table of all keys: lookup does not depend on the number of maps.
Result<MergedDataMap> MergedDataMap::load(runtime::Span<const Map*> named_data_maps) {
  MergedDataMap merged;
  for (const Map* map : named_data_maps) {
    if (map == nullptr) continue;
    auto count = map->get_num_keys();
    if (!count.ok()) return count.error();
    for (uint32_t i = 0; i < *count; ++i) {
      auto key = map->get_key(i);
      if (!key.ok()) return key.error();
      // A second map with the key would make the result depend on the order of the maps.
      const bool added = merged.map_of_key_.emplace(*key, map).second;
      ET_CHECK_OR_RETURN_ERROR(added, InvalidArgument, "key %s: in two data maps", *key);
    }
    merged.maps_.push_back(map);
  }
  ET_CHECK_OR_RETURN_ERROR(!merged.maps_.empty(), InvalidArgument,
                           "data maps: expected at least one, got none");
  return Result<MergedDataMap>(std::move(merged));
}

const MergedDataMap::Map* MergedDataMap::find(std::string_view key) const {
  const auto found = map_of_key_.find(std::string(key));
  return found == map_of_key_.end() ? nullptr : found->second;
}

Result<const executorch::ET_RUNTIME_NAMESPACE::TensorLayout> MergedDataMap::get_tensor_layout(
    std::string_view key) const {
  const Map* map = find(key);
  if (map == nullptr) return Error::NotFound;
  return map->get_tensor_layout(key);
}

Result<runtime::FreeableBuffer> MergedDataMap::get_data(std::string_view key) const {
  const Map* map = find(key);
  if (map == nullptr) return Error::NotFound;
  return map->get_data(key);
}

Error MergedDataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  const Map* map = find(key);
  return map == nullptr ? Error::NotFound : map->load_data_into(key, buffer, size);
}

Result<uint32_t> MergedDataMap::get_num_keys() const { return static_cast<uint32_t>(map_of_key_.size()); }

// Subtracts the counts of the maps before.
Result<const char*> MergedDataMap::get_key(uint32_t index) const {
  for (const Map* map : maps_) {
    const uint32_t count = map->get_num_keys().get();
    if (index < count) return map->get_key(index);
    index -= count;
  }
  return Error::InvalidArgument;
}

}  // namespace executorch::extension::ET_MERGED_DATA_MAP_NAMESPACE
