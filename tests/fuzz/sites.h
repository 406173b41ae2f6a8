// SPDX-License-Identifier: BSD-3-Clause
// The positions and kinds of the scalars of a FlatBuffers file. The file may be damaged: unreadable parts are
// left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/program/flatbuffer.h"

namespace rushlight::fuzz {

enum class SiteKind : uint8_t {
  Header,        // a field of the extended header
  Offset,        // a u32, relative to itself
  VtableOffset,  // an i32, subtracted from its offset
  VtableEntry,   // a u16 of a vtable: its sizes, and the offsets of fields
  Count,         // a vector's
  Scalar,        // a table's field
  Tag,           // a union's kind
  Element,       // an element of a vector of scalars
  Text,          // the first byte of a string
};

struct Site {
  uint32_t at;
  uint8_t width;  // bytes
  SiteKind kind;
  uint16_t group;      // the same for the same field of the same type of table, wherever it is
  uint32_t at_vector;  // for elements and offsets in a vector: the offset of its count; else 0
};

// Finds the sites of a file whose tables `types` describes, at most some ten thousand.
std::vector<Site> find_sites(Span<const uint8_t> file, const flatbuffer::TableType* types);

// The little-endian integer at `at`, which may be unaligned. Bytes beyond the end are zero.
uint64_t read_number(Span<const uint8_t> file, size_t at, size_t width);

}  // namespace rushlight::fuzz
