// SPDX-License-Identifier: BSD-3-Clause
// The named data of a program file, as listed in its tables: each entry has a key and the index of a segment.
// Program::get_named_data_map() returns such a map.
//
//   named_data[i]  ->  key, segment index k
//   segments[k]    ->  offset, size      bytes at segment_base_offset + offset of the file
#pragma once

#include <algorithm>

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/schema/program_generated.h>

#include "runtime/base/checked.h"

namespace flatbuffers {
// Names that the official header gives to the types of the two tables.
using FlatbufferNamedData = Vector<Offset<executorch_flatbuffer::NamedData>>;
using FlatbufferDataSegment = Vector<Offset<executorch_flatbuffer::DataSegment>>;
}  // namespace flatbuffers

namespace executorch::ET_RUNTIME_NAMESPACE::internal {

// A view of the tables; loads data on request and caches nothing. Lookup costs O(keys): for many keys load
// each once.
class PteDataMap final : public NamedDataMap {
 public:
  // `segment_base_offset` is the position of the segments in the loader's data, in bytes. All arguments must
  // outlive the map. Error: InvalidArgument for null.
  static Result<PteDataMap> create(DataLoader* loader, size_t segment_base_offset,
                                   const flatbuffers::FlatbufferNamedData* named_data,
                                   const flatbuffers::FlatbufferDataSegment* segments) {
    ET_CHECK_OR_RETURN_ERROR(loader != nullptr && named_data != nullptr && segments != nullptr,
                             InvalidArgument, "named data: expected a loader and two lists, got null");
    return PteDataMap(loader, segment_base_offset, named_data, segments);
  }
  PteDataMap(PteDataMap&&) noexcept = default;
  ~PteDataMap() override = default;

  // Loads the segment of the first entry with this key; keys are compared one by one. Loading twice gives two
  // buffers. Errors: NotFound (key), InvalidArgument (its segment is invalid), or the loader's.
  ET_NODISCARD Result<FreeableBuffer> get_data(std::string_view key) const override {
    const auto entry = std::find_if(names_->begin(), names_->end(), [key](const auto* one) {
      return one->key() != nullptr && std::string_view(one->key()->c_str(), one->key()->size()) == key;
    });
    ET_CHECK_OR_RETURN_ERROR(entry != names_->end(), NotFound, "named data: %.*s not found among %zu keys",
                             static_cast<int>(key.size()), key.data(), size_t{names_->size()});
    const uint32_t index = (*entry)->segment_index();
    ET_CHECK_OR_RETURN_ERROR(index < segments_->size(), InvalidArgument,
                             "named data: segment %" PRIu32 " of %zu", index, size_t{segments_->size()});
    const auto* segment = segments_->Get(index);
    uint64_t offset = 0;
    ET_CHECK_OR_RETURN_ERROR(rushlight::checked_add(uint64_t{base_}, segment->offset(), &offset) &&
                                 offset <= SIZE_MAX && segment->size() <= SIZE_MAX,
                             InvalidArgument, "named data: segment %" PRIu32 " exceeds the address space",
                             index);
    return loader_->load(static_cast<size_t>(offset), static_cast<size_t>(segment->size()),
                         DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Constant, index));
  }
  // Not implemented, as in ExecuTorch: the format stores no layouts, and no state is loaded from here.
  ET_NODISCARD Result<const TensorLayout> get_tensor_layout(std::string_view) const override {
    return Error::NotImplemented;
  }
  ET_NODISCARD Error load_data_into(std::string_view, void*, size_t) const override {
    return Error::NotImplemented;
  }

  // Keys in the order of the file.
  ET_NODISCARD Result<uint32_t> get_num_keys() const override { return names_->size(); }
  // The key ends with a zero byte and lives as long as the program. Error: InvalidArgument (index).
  ET_NODISCARD Result<const char*> get_key(uint32_t index) const override {
    ET_CHECK_OR_RETURN_ERROR(index < names_->size() && names_->Get(index)->key() != nullptr, InvalidArgument,
                             "named data: key %" PRIu32 " of %zu", index, size_t{names_->size()});
    return names_->Get(index)->key()->c_str();
  }

 private:
  PteDataMap(DataLoader* loader, size_t base, const flatbuffers::FlatbufferNamedData* names,
             const flatbuffers::FlatbufferDataSegment* segments)
      : loader_(loader), base_(base), names_(names), segments_(segments) {}

  // Not owned: the program's loader, and tables in the program.
  DataLoader* loader_;
  size_t base_;  // offset of the segments in the loader's data
  const flatbuffers::FlatbufferNamedData* names_;
  const flatbuffers::FlatbufferDataSegment* segments_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE::internal
