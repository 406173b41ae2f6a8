// SPDX-License-Identifier: BSD-3-Clause
// Conversions of buffers keep the bytes where they are: the converted buffer frees the original one.
#include "compat/detail/data_map.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "runtime/base/checked.h"
#include "runtime/base/log.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

Result<FreeableBuffer> aligned(FreeableBuffer&& buffer) {
  constexpr size_t kAlignment = 16;
  // Writers of bundles intend to align the program to 32 bytes and miss by 4.
  constexpr size_t kAlignmentInBundles = 4;
  const bool is_copied =
      !is_aligned(buffer.data(), kAlignment) && is_aligned(buffer.data(), kAlignmentInBundles);
  // Aligned to 16, or to less than 4: the caller refuses the latter.
  if (!is_copied) return std::move(buffer);
  void* copy = nullptr;
  RL_CHECK(::posix_memalign(&copy, kAlignment, buffer.size()) == 0, Error::MemoryAllocationFailed,
           "out of memory: %lu bytes to align", log_number(buffer.size()));
  std::memcpy(copy, buffer.data(), buffer.size());
  return FreeableBuffer(copy, buffer.size(), [](void*, void* data, size_t) { std::free(data); }, nullptr);
}

et::FreeableBuffer official(FreeableBuffer&& buffer) {
  if (buffer.data() == nullptr) return {};
  const void* data = buffer.data();
  const size_t size = buffer.size();
  // The official buffer has one pointer for its owner: the original buffer moves to the heap.
  auto* kept = new FreeableBuffer(std::move(buffer));
  return et::FreeableBuffer(
      data, size, [](void* context, void*, size_t) { delete static_cast<FreeableBuffer*>(context); }, kept);
}

et::Result<const et::TensorLayout> official(const TensorLayout& layout) {
  return et::TensorLayout::create({layout.sizes.data(), layout.sizes.size()},
                                  {layout.dim_order.data(), layout.dim_order.size()},
                                  static_cast<executorch::aten::ScalarType>(layout.scalar_type));
}

#ifdef USE_ATEN_LIB

namespace {

const et::NamedDataMap& official_map(const void* map) { return *static_cast<const et::NamedDataMap*>(map); }

template <class T>
Result<T> our_result(et::Result<T> result) {
  if (!result.ok()) return ours(result.error());
  return *result;
}

constexpr ForwardingDataMap::Calls kCalls = {
    [](const void* map, std::string_view key) -> Result<TensorLayout> {
      auto layout = official_map(map).get_tensor_layout(key);
      if (!layout.ok()) return ours(layout.error());
      return TensorLayout{static_cast<ScalarType>(layout->scalar_type()), layout->sizes(),
                          layout->dim_order(), layout->nbytes()};
    },
    [](const void* map, std::string_view key) -> Result<FreeableBuffer> {
      auto data = official_map(map).get_data(key);
      if (!data.ok()) return ours(data.error());
      return data->release();
    },
    [](const void* map, std::string_view key, void* buffer, size_t size) {
      return ours(official_map(map).load_data_into(key, buffer, size));
    },
    [](const void* map) -> Result<uint32_t> { return our_result(official_map(map).get_num_keys()); },
    [](const void* map, uint32_t index) -> Result<const char*> {
      return our_result(official_map(map).get_key(index));
    },
};

}  // namespace

OurDataMap::OurDataMap(const et::NamedDataMap& map) : map_(&map, &kCalls) {}

#else

Result<TensorLayout> OurDataMap::tensor_layout(std::string_view key) const {
  auto layout = map_->get_tensor_layout(key);
  if (!layout.ok()) return ours(layout.error());
  return TensorLayout{static_cast<ScalarType>(layout->scalar_type()), layout->sizes(), layout->dim_order(),
                      layout->nbytes()};
}

Result<FreeableBuffer> OurDataMap::data(std::string_view key) const {
  auto data = map_->get_data(key);
  if (!data.ok()) return ours(data.error());
  // The official buffer's release function moves to rushlight's.
  return data->release();
}

Result<uint32_t> OurDataMap::num_keys() const {
  auto count = map_->get_num_keys();
  if (!count.ok()) return ours(count.error());
  return *count;
}

Result<const char*> OurDataMap::key(uint32_t index) const {
  auto key = map_->get_key(index);
  if (!key.ok()) return ours(key.error());
  return *key;
}

#endif

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
