// SPDX-License-Identifier: BSD-3-Clause
// Reader of data files (.ptd): tensors and other data by key, stored outside of a program.
#pragma once

#include "runtime/program/flatbuffer.h"
#include "runtime/program/named_data.h"

namespace rushlight {

// A verified .ptd file. Lookup is linear in the number of keys, or logarithmic after sort_keys().
class FlatTensor final : public NamedDataMap {
 public:
  // Reads the file's directory and verifies it: each key's segment lies in the file, and each tensor's layout
  // fits its segment and is aligned for its dtype. Data is loaded on request only. `loader` must outlive the
  // map. Errors: InvalidExternalData (damaged, or not a .ptd), NotSupported (unknown schema version), or the
  // loader's.
  [[nodiscard]] static Result<FlatTensor> load(DataLoader& loader);

  // Sorts the indices of all keys into `sorted`, which must have num_keys() entries and outlive the map.
  // Lookup is logarithmic from then on.
  void sort_keys(Span<uint32_t> sorted);

  [[nodiscard]] Result<TensorLayout> tensor_layout(std::string_view key) const override;
  [[nodiscard]] Result<FreeableBuffer> data(std::string_view key) const override;
  Error load_into(std::string_view key, void* buffer, size_t size) const override;
  [[nodiscard]] Result<uint32_t> num_keys() const override;
  [[nodiscard]] Result<bool> has(std::string_view key) const override;
  [[nodiscard]] Result<const char*> key(uint32_t index) const override;

 private:
  FlatTensor(DataLoader& loader, FreeableBuffer directory, size_t segment_base)
      : loader_(&loader), directory_(std::move(directory)), segment_base_(segment_base) {}

  // The checks of load(): of the whole directory, and of one entry.
  Error check(uint64_t data_size) const;
  Error check_entry(size_t index, uint64_t data_size) const;
  [[nodiscard]] flatbuffer::Table root() const;
  // The index of a key's entry; the number of keys if it has none. find() is the same as a table and logs a
  // missing key.
  [[nodiscard]] uint32_t index_of(std::string_view key) const;
  [[nodiscard]] Result<flatbuffer::Table> find(std::string_view key) const;
  [[nodiscard]] Result<FreeableBuffer> load_segment(flatbuffer::Table entry, size_t size) const;
  [[nodiscard]] flatbuffer::Table segment_of(flatbuffer::Table entry) const;

  DataLoader* loader_;
  FreeableBuffer directory_;
  size_t segment_base_;  // base of segment offsets
  Span<uint32_t> sorted_;
};

}  // namespace rushlight
