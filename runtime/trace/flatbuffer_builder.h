// SPDX-License-Identifier: BSD-3-Clause
// Writes a FlatBuffers buffer into memory of fixed size, from the end to the start: children before the
// tables that refer to them. The other end of the free memory holds a stack of references that will become
// vectors.
//
// Nothing is checked: the caller compares free_bytes() with the *_bound() functions before each write.
//
// Reference: https://flatbuffers.dev/internals/
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"

namespace rushlight::etdump {

// Position of an object, counted back from the end of the buffer; 0 is null.
using Ref = uint32_t;

// One field of a table: a number of 1, 4 or 8 bytes, or a reference. A field of size 0 is omitted.
struct Field {
  uint16_t slot;
  uint8_t size;
  bool is_ref;
  uint64_t bits;  // the number, or the Ref
};

// A field with a number.
template <class T>
constexpr Field number(uint16_t slot, T value) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8);
  return {slot, sizeof(T), false, static_cast<uint64_t>(value)};
}
// The same, omitted if it equals the default of the schema.
template <class T>
constexpr Field number_unless(uint16_t slot, T value, T absent) {
  Field field = number(slot, value);
  if (value == absent) field.size = 0;
  return field;
}
// A field with a reference, omitted if `ref` is null.
constexpr Field reference(uint16_t slot, Ref ref) {
  return {slot, static_cast<uint8_t>(ref == 0 ? 0 : sizeof ref), true, ref};
}

// The writer. It does not own its memory.
class Builder {
 public:
  static constexpr size_t kMaxSlots = 8;

  // Upper bounds in bytes, with padding; for tables including a new vtable.
  static constexpr size_t table_bound(size_t fields) { return 16 + 8 * fields + 5 + 2 * kMaxSlots; }
  static constexpr size_t vector_bound(size_t bytes) { return 4 + bytes + 8; }
  static constexpr size_t string_bound(size_t length) { return 4 + length + 1 + 3; }
  static constexpr size_t kHeaderBound = 12 + 7;

  // Uses at most the first INT32_MAX bytes of `memory`, because offsets have 31 bits.
  explicit Builder(Span<uint8_t> memory);

  // Discards everything.
  void reset();

  // Bytes between the stack of references and the written part.
  [[nodiscard]] size_t free_bytes() const { return front_ - waiting_ * sizeof(Ref); }
  [[nodiscard]] size_t used_bytes() const { return size_ - free_bytes(); }

  // Writes a string and its terminating zero byte.
  Ref string(const char* text, size_t length);
  Ref bytes(Span<const uint8_t> data);
  // Writes a vector of 64-bit integers.
  Ref longs(Span<const int32_t> data);
  // Writes a table with at most kMaxSlots fields.
  Ref table(const Field* fields, size_t count);

  // Push a reference on the stack. `position` counts from the bottom.
  void wait(Ref ref) { insert(waiting_, ref); }
  void insert(size_t position, Ref ref);
  [[nodiscard]] size_t waiting() const { return waiting_; }
  void drop_waiting(size_t count) { waiting_ -= count; }
  // Pops the last `count` references and writes them as a vector. Needs vector_bound(0) bytes beyond the
  // memory of the references.
  Ref vector_of_waiting(size_t count);

  // Writes the header (size prefix, root offset, identifier) and returns the file. Its length is a multiple
  // of 8.
  Span<const uint8_t> finish(Ref root, const char (&identifier)[5]);

  // Returns true if `ref` is a string with this text.
  [[nodiscard]] bool is_string(Ref ref, const char* text, size_t length) const;

 private:
  static constexpr size_t kMaxLayouts = 16;

  // Reserves `size` bytes; the part after the first `lead` bytes is aligned to `alignment`.
  uint8_t* open(size_t size, size_t alignment, size_t lead = 0);
  [[nodiscard]] Ref here() const { return static_cast<Ref>(size_ - front_); }
  Ref layout(const uint16_t* words, size_t count);

  uint8_t* memory_;
  size_t size_;
  size_t front_;        // index of the first written byte
  size_t waiting_ = 0;  // size of the stack of references
  Ref layouts_[kMaxLayouts];
  size_t num_layouts_ = 0;
};

}  // namespace rushlight::etdump
