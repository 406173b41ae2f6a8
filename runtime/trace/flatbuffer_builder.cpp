// SPDX-License-Identifier: BSD-3-Clause
// FlatBuffers are written back to front, because offsets point forward to objects that must already have a
// position.
#include "runtime/trace/flatbuffer_builder.h"

#include <cstring>

#include "runtime/base/assert.h"

namespace rushlight::etdump {

namespace {

// Fields of 4 bytes come first: they follow the 4-byte offset to the vtable without a gap.
constexpr size_t kWidths[] = {4, 8, 1};

void store32(uint8_t* at, size_t value) {
  const auto word = static_cast<uint32_t>(value);
  std::memcpy(at, &word, sizeof word);
}

}  // namespace

Builder::Builder(Span<uint8_t> memory)
    : memory_(memory.data()), size_(memory.size() < INT32_MAX ? memory.size() : INT32_MAX), front_(size_) {}

void Builder::reset() {
  front_ = size_;
  waiting_ = 0;
  num_layouts_ = 0;
}

uint8_t* Builder::open(size_t size, size_t alignment, size_t lead) {
  // Positions count from the end of the buffer, which is a multiple of 8 in the finished file.
  const size_t aligned = here() + size - lead;
  // Padding follows the object, because writing proceeds to the front.
  const size_t padding = (alignment - aligned % alignment) % alignment;
  RL_DCHECK(free_bytes() >= size + padding);
  front_ -= padding;
  std::memset(memory_ + front_, 0, padding);
  front_ -= size;
  return memory_ + front_;
}

Ref Builder::string(const char* text, size_t length) {
  uint8_t* at = open(4 + length + 1, 4);
  store32(at, length);
  std::memcpy(at + 4, text, length);
  at[4 + length] = 0;
  return here();
}

bool Builder::is_string(Ref ref, const char* text, size_t length) const {
  const uint8_t* at = memory_ + size_ - ref;
  uint32_t stored;
  std::memcpy(&stored, at, sizeof stored);
  return stored == length && std::memcmp(at + 4, text, length) == 0;
}

Ref Builder::bytes(Span<const uint8_t> data) {
  uint8_t* at = open(4 + data.size(), 4);
  store32(at, data.size());
  if (!data.empty()) std::memcpy(at + 4, data.data(), data.size());
  return here();
}

Ref Builder::longs(Span<const int32_t> data) {
  uint8_t* at = open(4 + data.size() * sizeof(int64_t), sizeof(int64_t), 4);
  store32(at, data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    const int64_t wide = data[i];
    std::memcpy(at + 4 + i * sizeof wide, &wide, sizeof wide);
  }
  return here();
}

// Tables with the same layout share one vtable, as the format allows.
Ref Builder::layout(const uint16_t* words, size_t count) {
  const size_t size = count * sizeof(uint16_t);
  for (size_t i = 0; i < num_layouts_; ++i) {
    const uint8_t* known = memory_ + size_ - layouts_[i];  // its first word is its size
    // The size is compared first, because a shorter vtable near the end of the memory has fewer than `size`
    // bytes.
    if (std::memcmp(known, words, sizeof *words) == 0 && std::memcmp(known, words, size) == 0) {
      return layouts_[i];
    }
  }
  std::memcpy(open(size, sizeof(uint16_t)), words, size);
  // Later layouts are not remembered: they are written again.
  if (num_layouts_ < kMaxLayouts) layouts_[num_layouts_++] = here();
  return here();
}

// Lays out the fields by width, then reuses an equal vtable if one was written before.
Ref Builder::table(const Field* fields, size_t count) {
  uint16_t words[2 + kMaxSlots] = {};
  size_t num_words = 2;
  size_t position = sizeof(int32_t);
  size_t alignment = sizeof(int32_t);
  for (const size_t width : kWidths) {
    for (size_t i = 0; i < count; ++i) {
      const Field& field = fields[i];
      if (field.size != width) continue;
      RL_DCHECK(field.slot < kMaxSlots);
      // position is relative to the table, which starts at a multiple of 8 if it has fields of 8 bytes.
      if (width == 8) {
        position = (position + 7) & ~size_t{7};
        alignment = 8;
      }
      words[2 + field.slot] = static_cast<uint16_t>(position);
      // The vtable ends with the last slot that is present.
      if (num_words < size_t{3} + field.slot) num_words = size_t{3} + field.slot;
      position += width;
    }
  }
  words[0] = static_cast<uint16_t>(num_words * sizeof(uint16_t));
  words[1] = static_cast<uint16_t>(position);
  const Ref description = layout(words, num_words);
  uint8_t* at = open(position, alignment);
  const Ref start = here();
  std::memset(at, 0, position);
  // The reader computes vtable = table - offset. The vtable lies behind the table, so the offset is negative
  // (modulo 2^32).
  store32(at, description - start);
  for (size_t i = 0; i < count; ++i) {
    const Field& field = fields[i];
    const uint16_t offset = words[2 + field.slot];
    if (field.size == 0) continue;
    // Positions count from the end, so an offset to an object further back is a difference of the two, field
    // minus target. Bits are stored little-endian, as the host is.
    const uint64_t bits = field.is_ref ? start - offset - field.bits : field.bits;
    std::memcpy(at + offset, &bits, field.size);
  }
  return start;
}

void Builder::insert(size_t position, Ref ref) {
  RL_DCHECK(position <= waiting_ && free_bytes() >= sizeof ref);
  uint8_t* at = memory_ + position * sizeof ref;
  // The stack grows from the start of the memory; an insertion moves the references above it.
  std::memmove(at + sizeof ref, at, (waiting_ - position) * sizeof ref);
  std::memcpy(at, &ref, sizeof ref);
  ++waiting_;
}

Ref Builder::vector_of_waiting(size_t count) {
  RL_DCHECK(count <= waiting_);
  waiting_ -= count;
  uint8_t* at = open(4 + count * sizeof(Ref), 4);
  // The vector may overlap the list that it is built from; copying from the last entry reads each reference
  // before it is overwritten.
  for (size_t i = count; i-- > 0;) {
    Ref ref;
    std::memcpy(&ref, memory_ + (waiting_ + i) * sizeof ref, sizeof ref);
    // Entry i is at here() - 4 - 4 i; offsets count from the entry.
    store32(at + 4 + i * sizeof ref, here() - 4 - i * sizeof ref - ref);
  }
  store32(at, count);
  return here();
}

Span<const uint8_t> Builder::finish(Ref root, const char (&identifier)[5]) {
  constexpr size_t kHeader = 12;
  uint8_t* at = open(kHeader, 8);
  store32(at, here() - 4);
  store32(at + 4, here() - 4 - root);
  std::memcpy(at + 8, identifier, 4);
  return {at, here()};
}

}  // namespace rushlight::etdump
