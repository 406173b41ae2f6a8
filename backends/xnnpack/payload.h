// SPDX-License-Identifier: BSD-3-Clause
// What the exporter hands to XNNPACK: a graph as FlatBuffers data and its constants, which lie behind it, in
// it, or in named data of the program. Bytes of a file, proven when they are read.
//
// Layout, if it begins with a header: 4 bytes, "XH00", uint16 length of the header, uint32 offset and size of
// the graph, uint32 offset and uint64 size of the constants. (executorch 1.5.1,
// backends/xnnpack/serialization.)
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/calls/constant_pool.h"
#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/program/data_loader.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/program/named_data.h"

namespace rushlight::xnnpack {

class Payload {
 public:
  // `bytes` outlives the pool of constants, and so does what `named` (may be null) has in place. Errors:
  // InvalidProgram, NotFound (named data), or the map's.
  [[nodiscard]] static Result<Payload> read(
      Span<const uint8_t> bytes, const NamedDataMap* named,
      std::shared_ptr<ConstantPool> pool = std::make_shared<ConstantPool>());

  Payload(Payload&&) = default;

  // The table of the graph, all of it as runtime/program/schema_tables.h has it.
  [[nodiscard]] flatbuffer::Table graph() const;
  // The bytes of constant `index`, from 1. Error: InvalidProgram.
  [[nodiscard]] Result<Span<const uint8_t>> constant(uint32_t index) const;
  [[nodiscard]] const std::shared_ptr<ConstantPool>& pool() const { return pool_; }

 private:
  explicit Payload(std::shared_ptr<ConstantPool> pool) : pool_(std::move(pool)) {}

  Error find_graph(Span<const uint8_t> bytes);
  Error find_constants(Span<const uint8_t> behind, const NamedDataMap* named);
  Error find_constant(flatbuffer::Table entry, Span<const uint8_t> behind, const NamedDataMap* named);

  Span<const uint8_t> graph_;
  Span<const uint8_t> behind_;
  std::vector<Span<const uint8_t>> constants_;
  std::shared_ptr<ConstantPool> pool_;
};

}  // namespace rushlight::xnnpack
