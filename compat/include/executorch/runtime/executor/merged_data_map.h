// SPDX-License-Identifier: BSD-3-Clause
// Presents two maps of named data as one, without heap: asks the first map, and the second if the first lacks
// the key. For any number of maps see extension/named_data_map/merged_data_map.h.
//
//   auto merged = MergedDataMap::load(&file_map, program_map);
//   auto weights = merged->get_data("linear.weight");
#pragma once

#include <array>
#include <type_traits>

#include <executorch/runtime/core/named_data_map.h>

namespace executorch::ET_RUNTIME_NAMESPACE::internal {

// A view of both maps; lookup costs as much as theirs.
class MergedDataMap final : public NamedDataMap {
 public:
  // The maps must outlive it. Asks the second map for each key of the first. A key in both is an error, but
  // cannot be noticed if the second map has no layouts (PteDataMap); get_data() then answers from the first.
  // Errors: InvalidArgument (a null map, a key in both), or the first map's.
  static Result<MergedDataMap> load(const NamedDataMap* first, const NamedDataMap* second) {
    const MergedDataMap merged(first, second);
    ET_CHECK_OK_OR_RETURN_ERROR(merged.check());
    return Result<MergedDataMap>(MergedDataMap(merged.maps_));
  }
  MergedDataMap(MergedDataMap&&) noexcept = default;

  // Errors: NotFound (in neither map), or the answering map's.
  ET_NODISCARD Result<const TensorLayout> get_tensor_layout(std::string_view key) const override {
    return ask([key](const NamedDataMap& map) { return map.get_tensor_layout(key); });
  }
  ET_NODISCARD Result<FreeableBuffer> get_data(std::string_view key) const override {
    return ask([key](const NamedDataMap& map) { return map.get_data(key); });
  }
  // Not implemented, as in ExecuTorch: load into memory from the map that has the key.
  ET_NODISCARD Error load_data_into(std::string_view, void*, size_t) const override {
    return Error::NotImplemented;
  }
  // Counts the first map's keys, then the second's.
  ET_NODISCARD Result<uint32_t> get_num_keys() const override {
    uint32_t total = 0;
    for (const NamedDataMap* map : maps_) {
      auto keys = map->get_num_keys();
      if (!keys.ok()) return keys;
      total += *keys;
    }
    return total;
  }
  // Keys of the first map in its order, then the second map's. Error: the second map's, for an index beyond
  // all keys.
  ET_NODISCARD Result<const char*> get_key(uint32_t index) const override {
    auto before = maps_.front()->get_num_keys();
    if (!before.ok()) return before.error();
    const bool in_first = index < *before;
    return maps_[in_first ? 0 : 1]->get_key(in_first ? index : index - *before);
  }

 private:
  // The first map, then the second; null only within load().
  using Maps = std::array<const NamedDataMap*, 2>;

  explicit MergedDataMap(const Maps& maps) : maps_(maps) {}
  MergedDataMap(const NamedDataMap* first, const NamedDataMap* second) : maps_{first, second} {}

  static Error error_of(Error error) { return error; }
  template <class T>
  static Error error_of(const Result<T>& result) {
    return result.error();
  }

  // Asks both maps in order; only NotFound leads to the second. Another error of the first map is the answer.
  template <class Question>
  std::invoke_result_t<Question, const NamedDataMap&> ask(Question question) const {
    auto answer = question(*maps_.front());
    if (error_of(answer) == Error::NotFound) return question(*maps_.back());
    return answer;
  }

  // Checks that both maps exist and that no key is in both. A map that cannot tell counts as lacking the key.
  Error check() const {
    for (const NamedDataMap* map : maps_) {
      ET_CHECK_OR_RETURN_ERROR(map != nullptr, InvalidArgument, "data map: expected two, got null");
    }
    auto keys = maps_.front()->get_num_keys();
    if (!keys.ok()) return keys.error();
    while (*keys > 0) {
      auto key = maps_.front()->get_key(--*keys);
      if (!key.ok()) return key.error();
      switch (maps_.back()->get_tensor_layout(*key).error()) {
        case Error::NotFound:
        case Error::NotImplemented:
          break;
        default:
          ET_LOG(Error, "data map: both have the key %s", *key);
          return Error::InvalidArgument;
      }
    }
    return Error::Ok;
  }

  Maps maps_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE::internal
