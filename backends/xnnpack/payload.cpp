// SPDX-License-Identifier: BSD-3-Clause
// Constants are stored in one of three forms, depending on the exporter's version: in the graph, in a block
// after the graph, or as named data of the program.
#include "backends/xnnpack/payload.h"

#include <cstring>
#include <utility>

#include "runtime/base/checked.h"
#include "runtime/base/log.h"
#include "runtime/program/schema.h"
#include "runtime/program/xnn_tables.inc"

namespace rushlight::xnnpack {

namespace {

using flatbuffer::Table;
using flatbuffer::TableVector;

// Byte offsets in the header; see payload.h. Fields are not aligned, so they are read by memcpy.
constexpr size_t kMagicAt = 4, kGraphAt = 10, kConstantsAt = 18, kHeaderBytes = 30;
constexpr size_t kIdentifierAt = 4, kLeastGraph = 8;
// The offset of a constant that is named data.
constexpr uint64_t kNamed = UINT64_MAX;

template <class T>
T number_at(Span<const uint8_t> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool has_text(Span<const uint8_t> bytes, size_t at, const char (&text)[5]) {
  return bytes.size() >= at + 4 && std::memcmp(bytes.data() + at, text, 4) == 0;
}

}  // namespace

Result<Payload> Payload::read(Span<const uint8_t> bytes, const NamedDataMap* named,
                              std::shared_ptr<ConstantPool> pool) {
  Payload payload(std::move(pool));
  RL_TRY(payload.find_graph(bytes));
  RL_TRY(flatbuffer::verify(payload.graph_, schema::kXnnpackGraphTables));
  RL_TRY(payload.find_constants(payload.behind_, named));
  return payload;
}

// A graph that is not aligned to 8 bytes is copied, because the FlatBuffers reader requires alignment.
Error Payload::find_graph(Span<const uint8_t> bytes) {
  // Payloads from before the header are the graph alone.
  if (!has_text(bytes, kMagicAt, "XH00")) {
    graph_ = bytes;
  } else {
    RL_CHECK(bytes.size() >= kHeaderBytes, Error::InvalidProgram,
             "XNNPACK payload: expected a header of %lu bytes, got %lu", log_number(kHeaderBytes),
             log_number(bytes.size()));
    const auto offset = number_at<uint32_t>(bytes, kGraphAt), size = number_at<uint32_t>(bytes, kGraphAt + 4);
    const auto first = number_at<uint32_t>(bytes, kConstantsAt);
    const auto length = number_at<uint64_t>(bytes, kConstantsAt + 4);
    RL_CHECK(range_fits(offset, size, bytes.size()) && range_fits(first, length, bytes.size()),
             Error::InvalidProgram, "XNNPACK payload: its parts exceed its %lu bytes",
             log_number(bytes.size()));
    graph_ = {bytes.data() + offset, size};
    behind_ = {bytes.data() + first, static_cast<size_t>(length)};
  }
  RL_CHECK(graph_.size() >= kLeastGraph &&
               (has_text(graph_, kIdentifierAt, "XN00") || has_text(graph_, kIdentifierAt, "XN01")),
           Error::InvalidProgram, "XNNPACK payload: expected a graph with the identifier XN00 or XN01");
  // The pool owns the copy, because constants inside the graph may be used as long as the pool lives.
  if (is_aligned(graph_.data(), sizeof(uint64_t))) return Error::Ok;
  graph_ = pool_->keep(std::vector<uint8_t>(graph_.begin(), graph_.end()));
  return Error::Ok;
}

Table Payload::graph() const { return Table::referred_by(graph_.data()); }

Error Payload::find_constants(Span<const uint8_t> behind, const NamedDataMap* named) {
  namespace slot = schema::xnn::xnngraph_table;
  const TableVector entries = graph().tables(slot::kConstantData);
  for (size_t i = 0; i < entries.size(); ++i) RL_TRY(find_constant(entries[i], behind, named));
  // The newer form is complete if it is present at all.
  if (entries.size() != 0) return Error::Ok;
  const TableVector buffers = graph().tables(slot::kConstantBuffer);  // before executorch 0.4
  for (size_t i = 0; i < buffers.size(); ++i)
    constants_.push_back(buffers[i].vector<uint8_t>(schema::xnn::buffer_table::kStorage));
  return Error::Ok;
}

Error Payload::find_constant(Table entry, Span<const uint8_t> behind, const NamedDataMap* named) {
  namespace slot = schema::xnn::constant_data_offset_table;
  const auto offset = entry.scalar<uint64_t>(slot::kOffset), size = entry.scalar<uint64_t>(slot::kSize);
  const size_t index = constants_.size();
  if (offset != kNamed) {
    RL_CHECK(range_fits(offset, size, behind.size()), Error::InvalidProgram,
             "XNNPACK payload: constant %lu exceeds the %lu bytes after the graph", log_number(index),
             log_number(behind.size()));
    constants_.emplace_back(behind.data() + offset, static_cast<size_t>(size));
    return Error::Ok;
  }
  const char* key = entry.string(slot::kNamedKey);
  if (index == 0 && *key == '\0') {  // a placeholder for "no constant"
    constants_.emplace_back();
    return Error::Ok;
  }
  RL_CHECK(named != nullptr, Error::NotFound, "XNNPACK payload: constant %lu needs named data, got none",
           log_number(index));
  RL_TRY_ASSIGN(FreeableBuffer data, named->data({key, entry.string_length(slot::kNamedKey)}));
  // Named data may be longer than the constant.
  RL_CHECK(size <= data.size(), Error::InvalidProgram,
           "XNNPACK payload: constant %lu: expected %llu bytes of named data, got %lu", log_number(index),
           static_cast<unsigned long long>(size), log_number(data.size()));
  constants_.push_back(pool_->keep(std::move(data)).subspan(0, static_cast<size_t>(size)));
  return Error::Ok;
}

Result<Span<const uint8_t>> Payload::constant(uint32_t index) const {
  RL_CHECK(index != 0 && index < constants_.size(), Error::InvalidProgram,
           "XNNPACK payload: expected one of %lu constants, got %lu", log_number(constants_.size()),
           log_number(index));
  return constants_[index];
}

}  // namespace rushlight::xnnpack
