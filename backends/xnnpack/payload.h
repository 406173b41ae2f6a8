// SPDX-License-Identifier: BSD-3-Clause
// Parses the payload of an XNNPACK delegate: a graph as FlatBuffers data, and constants, which follow it, are
// inside it, or are named data of the program. The bytes come from a file and are verified when parsed.
//
// Layout if there is a header: 4 bytes, "XH00", uint16 length of the header, uint32 offset and size of the
// graph, uint32 offset and uint64 size of the constants. Reference: executorch 1.5.1,
// backends/xnnpack/serialization.
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

// A verified payload. Movable.
class Payload {
 public:
  // Parses `bytes`, which must outlive the pool of constants, as must data that `named` (may be null) serves
  // in place. Errors: InvalidProgram, NotFound (named data), or the map's.
  [[nodiscard]] static Result<Payload> read(
      Span<const uint8_t> bytes, const NamedDataMap* named,
      std::shared_ptr<ConstantPool> pool = std::make_shared<ConstantPool>());

  Payload(Payload&&) = default;

  // The graph's table; schema in runtime/program/schema_tables.h.
  [[nodiscard]] flatbuffer::Table graph() const;
  // The bytes of constant `index`, counted from 1. Error: InvalidProgram.
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
