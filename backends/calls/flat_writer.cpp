// SPDX-License-Identifier: BSD-3-Clause
// Positions in the buffer change as it grows, so objects are addressed by offset, never by pointer.
#include "backends/calls/flat_writer.h"

#include <algorithm>
#include <cstring>

namespace rushlight {

template <class T>
void FlatWriter::append(T value) {
  bytes_.resize(bytes_.size() + sizeof value);
  std::memcpy(bytes_.data() + bytes_.size() - sizeof value, &value, sizeof value);
}

template <class T>
void FlatWriter::put(size_t at, T value) {
  std::memcpy(bytes_.data() + at, &value, sizeof value);
}

FlatWriter::FlatWriter(const char (&identifier)[5]) {
  append(uint32_t{0});
  bytes_.insert(bytes_.end(), identifier, identifier + 4);
}

// Pads so that the data after the next `lead` bytes is aligned.
void FlatWriter::align(size_t alignment, size_t lead) {
  while ((bytes_.size() + lead) % alignment != 0) bytes_.push_back(0);
}

// Writes the vtable, then the table. Fields are ordered by width, widest first, so that each is aligned. Each
// table has its own vtable; sharing, which the format allows, would need a search.
FlatWriter::Position FlatWriter::table(std::initializer_list<Field> fields) {
  unsigned slots = 0;
  uint16_t size = sizeof(int32_t);
  for (const Field& field : fields) slots = std::max(slots, field.slot + 1);
  std::vector<uint16_t> at(slots, 0);
  for (const uint8_t width : {uint8_t{8}, uint8_t{4}, uint8_t{1}}) {
    for (const Field& field : fields) {
      if (field.width != width) continue;
      at[field.slot] = size;
      size = static_cast<uint16_t>(size + width);
    }
  }
  align(2, 0);
  const auto description = static_cast<Position>(bytes_.size());
  append(static_cast<uint16_t>(4 + 2 * slots));
  append(size);
  for (const uint16_t offset : at) append(offset);
  // The first field follows the int32 at the start of the table.
  align(8, sizeof(int32_t));  // the widest fields come first
  const auto table = static_cast<Position>(bytes_.size());
  // The vtable lies before the table, so the offset is positive.
  append(static_cast<int32_t>(table - description));
  bytes_.resize(table + size);
  for (const Field& field : fields)
    std::memcpy(bytes_.data() + table + at[field.slot], &field.bits, field.width);
  return table;
}

FlatWriter::Position FlatWriter::vector(const void* items, size_t count, size_t width) {
  // The items are aligned, not the count in front of them.
  align(std::max(width, sizeof(uint32_t)), sizeof(uint32_t));
  const auto position = static_cast<Position>(bytes_.size());
  append(static_cast<uint32_t>(count));
  const auto* first = static_cast<const uint8_t*>(items);
  if (count != 0) bytes_.insert(bytes_.end(), first, first + count * width);
  return position;
}

FlatWriter::Position FlatWriter::string(std::string_view text) {
  const Position position = vector(text.data(), text.size(), 1);
  // The zero byte is not part of the length.
  bytes_.push_back(0);
  return position;
}

FlatWriter::Position FlatWriter::offsets(size_t count) { return scalars(std::vector<uint32_t>(count)); }

void FlatWriter::link(Position table, unsigned slot, Position target) {
  // Finds the field through the vtable, as a reader does. The target was written later, so the offset is
  // positive.
  int32_t back = 0;
  std::memcpy(&back, bytes_.data() + table, sizeof back);
  uint16_t offset = 0;
  std::memcpy(&offset, bytes_.data() + table - static_cast<size_t>(back) + 4 + 2 * slot, sizeof offset);
  put(table + offset, target - (table + offset));
}

void FlatWriter::link_item(Position vector, size_t index, Position target) {
  const auto field = static_cast<Position>(vector + sizeof(uint32_t) * (index + 1));
  put(field, target - field);
}

void FlatWriter::link_root(Position table) { put(0, table); }

}  // namespace rushlight
