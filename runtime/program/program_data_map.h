// SPDX-License-Identifier: BSD-3-Clause
// The named data of a .pte file: data that its delegates load by key and may share.
#pragma once

#include "runtime/program/named_data.h"
#include "runtime/program/program.h"

namespace rushlight {

// A NamedDataMap over a program.
class ProgramDataMap final : public NamedDataMap {
 public:
  // `program` must outlive the map.
  explicit ProgramDataMap(const Program& program) : program_(&program) {}

  // Errors: as the interface, and InvalidProgram (the key's segment is outside of the file). Named data
  // has no tensor layout: tensor_layout() always returns an error.
  [[nodiscard]] Result<TensorLayout> tensor_layout(std::string_view key) const override;
  [[nodiscard]] Result<FreeableBuffer> data(std::string_view key) const override;
  Error load_into(std::string_view key, void* buffer, size_t size) const override;
  [[nodiscard]] Result<uint32_t> num_keys() const override;
  [[nodiscard]] Result<const char*> key(uint32_t index) const override;

 private:
  [[nodiscard]] Result<flatbuffer::Table> find(std::string_view key) const;

  const Program* program_;
};

}  // namespace rushlight
