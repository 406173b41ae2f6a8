// SPDX-License-Identifier: BSD-3-Clause
// Adapters for data loaders and named data, in both directions. "Our" classes make an official object usable
// by rushlight, "official" ones the reverse. Adapters of objects refer to them; errors keep their values.
#pragma once

#include <utility>

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/named_data_map.h>

#include "compat/detail/convert.h"
#include "compat/detail/forwarding_data_map.h"
#include "compat/detail/tensor_mode.h"
#include "runtime/program/named_data.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

namespace et = executorch::ET_RUNTIME_NAMESPACE;

// Returns the bytes in a form that rushlight can use in place: copies them to aligned memory if the buffer is
// aligned to 4 bytes and not to 16, as a program inside of a bundle is, and frees the original. Other
// misaligned addresses are returned unchanged, and refused later. Error: MemoryAllocationFailed.
Result<FreeableBuffer> aligned(FreeableBuffer&& buffer);

// An official loader as a rushlight loader, which describes all parts as segments of kind `type`. For data
// files; programs use ProgramLoader (method_state.h).
class OurLoader final : public DataLoader {
 public:
  OurLoader(const et::DataLoader& loader, et::DataLoader::SegmentInfo::Type type)
      : loader_(&loader), info_(type) {}

  Result<FreeableBuffer> load(size_t offset, size_t size) override {
    auto loaded = loader_->load(offset, size, info_);
    if (!loaded.ok()) return ours(loaded.error());
    return aligned(loaded->release());
  }
  // 0 if the official loader reports an error.
  size_t size() const override {
    auto size = loader_->size();
    return size.ok() ? *size : 0;
  }

 private:
  const et::DataLoader* loader_;
  et::DataLoader::SegmentInfo info_;
};

// A rushlight buffer as an official one, which releases it. One small heap object holds it; a null buffer
// needs none.
et::FreeableBuffer official(FreeableBuffer&& buffer);
// The same layout; it refers to the same sizes and dim order. Error: InvalidArgument (an invalid layout).
et::Result<const et::TensorLayout> official(const TensorLayout& layout);

// A rushlight map under the official interface. Map is a map, which the adapter then owns, or a pointer to
// one. Errors are the map's; see runtime/program/named_data.h.
template <class Map>
class OfficialDataMap : public et::NamedDataMap {
 public:
  explicit OfficialDataMap(Map map) : map_(std::move(map)) {}
  OfficialDataMap(OfficialDataMap&&) noexcept = default;

  // The layout refers to the map's memory.
  et::Result<const et::TensorLayout> get_tensor_layout(std::string_view key) const override {
    auto layout = map().tensor_layout(key);
    if (!layout.ok()) return official(layout.error());
    return official(*layout);
  }
  // The data may be the loader's memory, so the buffer must not outlive loader and map.
  et::Result<et::FreeableBuffer> get_data(std::string_view key) const override {
    auto data = map().data(key);
    if (!data.ok()) return official(data.error());
    return official(std::move(*data));
  }
  // `buffer` has `size` bytes.
  et::Error load_data_into(std::string_view key, void* buffer, size_t size) const override {
    return official(map().load_into(key, buffer, size));
  }
  et::Result<uint32_t> get_num_keys() const override {
    auto count = map().num_keys();
    if (!count.ok()) return official(count.error());
    return *count;
  }
  et::Result<const char*> get_key(uint32_t index) const override {
    auto key = map().key(index);
    if (!key.ok()) return official(key.error());
    return *key;
  }

 private:
  // The map behind either form of Map.
  const rushlight::NamedDataMap& map() const {
    if constexpr (std::is_pointer_v<Map>) {
      return *map_;
    } else {
      return map_;
    }
  }

  Map map_;
};

// An official map as a rushlight map, for methods with external data. `map` must outlive the adapter. A map
// that returns a buffer with an integer instead of memory aborts.
#ifdef USE_ATEN_LIB
class OurDataMap final {
 public:
  explicit OurDataMap(const et::NamedDataMap& map);
  const NamedDataMap* get() const { return &map_; }

 private:
  ForwardingDataMap map_;
};
#else
class OurDataMap final : public NamedDataMap {
 public:
  explicit OurDataMap(const et::NamedDataMap& map) : map_(&map) {}
  const NamedDataMap* get() const { return this; }

  // As the official functions get_tensor_layout(), get_data(), load_data_into(), get_num_keys(), get_key().
  Result<TensorLayout> tensor_layout(std::string_view key) const override;
  // The official buffer's memory and release function, moved.
  Result<FreeableBuffer> data(std::string_view key) const override;
  Error load_into(std::string_view key, void* buffer, size_t size) const override {
    return ours(map_->load_data_into(key, buffer, size));
  }
  Result<uint32_t> num_keys() const override;
  Result<const char*> key(uint32_t index) const override;

 private:
  const et::NamedDataMap* map_;
};
#endif

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
