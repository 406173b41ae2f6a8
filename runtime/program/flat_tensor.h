// SPDX-License-Identifier: BSD-3-Clause
// A .ptd file: tensors and other data by name, outside of any program.
#pragma once

#include "runtime/program/flatbuffer.h"
#include "runtime/program/named_data.h"

namespace rushlight {

class FlatTensor final : public NamedDataMap {
 public:
  // Reads the directory of the file and proves all of it: every key's segment lies in the file, and a
  // tensor's layout in its segment, aligned for its dtype. The data stays where the loader has it until it
  // is asked for. `loader` outlives the map.
  // Errors: InvalidExternalData (damaged, or no .ptd), NotSupported (a schema version this runtime does not
  // know), or the loader's.
  [[nodiscard]] static Result<FlatTensor> load(DataLoader& loader);

  // Sorts the numbers of all keys into `sorted`, num_keys() of them, which outlives the map. A key is found
  // in logarithmic time from then on; without it all keys are compared in turn.
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

  Error check(uint64_t data_size) const;
  Error check_entry(size_t index, uint64_t data_size) const;
  [[nodiscard]] flatbuffer::Table root() const;
  [[nodiscard]] uint32_t place_of(std::string_view key) const;
  [[nodiscard]] Result<flatbuffer::Table> find(std::string_view key) const;
  [[nodiscard]] Result<FreeableBuffer> load_segment(flatbuffer::Table entry, size_t size) const;
  [[nodiscard]] flatbuffer::Table segment_of(flatbuffer::Table entry) const;

  DataLoader* loader_;
  FreeableBuffer directory_;
  size_t segment_base_;  // where segment offsets count from
  Span<uint32_t> sorted_;
};

}  // namespace rushlight
