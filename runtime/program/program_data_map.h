// SPDX-License-Identifier: BSD-3-Clause
// The named data of a .pte: what its delegates share and load by name.
#pragma once

#include "runtime/program/named_data.h"
#include "runtime/program/program.h"

namespace rushlight {

class ProgramDataMap final : public NamedDataMap {
 public:
  // `program` outlives the map.
  explicit ProgramDataMap(const Program& program) : program_(&program) {}

  // Errors as the interface says, and InvalidProgram for a key whose segment leaves the file. The data of
  // a program has no layout: tensor_layout() finds none.
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
