// SPDX-License-Identifier: BSD-3-Clause
// Writes a FlatBuffers buffer into memory of fixed size, from its end towards its start: what is
// pointed at is written before what points at it. The free space between is also where lists of
// references wait, from the start upwards, until they become vectors.
//
// Nothing here checks the free memory: the caller compares free_bytes() with the most it can write.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"

namespace rushlight::etdump {

// Where something begins, counted back from the end of the buffer; 0 is nothing.
using Ref = uint32_t;

// One field of a table: a number of 1, 4 or 8 bytes, or a reference; of size 0 it is left out.
struct Field {
  uint16_t slot;
  uint8_t size;
  bool is_ref;
  uint64_t bits;  // or the Ref
};

template <class T>
constexpr Field number(uint16_t slot, T value) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8);
  return {slot, sizeof(T), false, static_cast<uint64_t>(value)};
}
// Left out when it is what a reader takes for an absent field.
template <class T>
constexpr Field number_unless(uint16_t slot, T value, T absent) {
  Field field = number(slot, value);
  if (value == absent) field.size = 0;
  return field;
}
constexpr Field reference(uint16_t slot, Ref ref) {
  return {slot, static_cast<uint8_t>(ref == 0 ? 0 : sizeof ref), true, ref};
}

class Builder {
 public:
  static constexpr size_t kMaxSlots = 8;

  // The most that things take, padding included; for tables also the description of their layout.
  static constexpr size_t table_bound(size_t fields) { return 16 + 8 * fields + 5 + 2 * kMaxSlots; }
  static constexpr size_t vector_bound(size_t bytes) { return 4 + bytes + 8; }
  static constexpr size_t string_bound(size_t length) { return 4 + length + 1 + 3; }
  static constexpr size_t kHeaderBound = 12 + 7;

  // Offsets are of 31 bits: what goes beyond that in `memory` is left alone.
  explicit Builder(Span<uint8_t> memory);

  void reset();

  // Bytes between the waiting references and what is written.
  [[nodiscard]] size_t free_bytes() const { return front_ - waiting_ * sizeof(Ref); }
  [[nodiscard]] size_t used_bytes() const { return size_ - free_bytes(); }

  // A string with its zero byte.
  Ref string(const char* text, size_t length);
  Ref bytes(Span<const uint8_t> data);
  // 64-bit numbers.
  Ref longs(Span<const int32_t> data);
  // At most kMaxSlots fields.
  Ref table(const Field* fields, size_t count);

  // References that wait for their number to be known; `position` counts them from the first one.
  void wait(Ref ref) { insert(waiting_, ref); }
  void insert(size_t position, Ref ref);
  [[nodiscard]] size_t waiting() const { return waiting_; }
  void drop_waiting(size_t count) { waiting_ -= count; }
  // The last `count` of them, as a vector; needs vector_bound(0) bytes beside their own.
  Ref vector_of_waiting(size_t count);

  // Adds the header: size, root, identifier. The result's length is a multiple of 8.
  Span<const uint8_t> finish(Ref root, const char (&identifier)[5]);

  // Whether `ref` is a string of this text.
  [[nodiscard]] bool is_string(Ref ref, const char* text, size_t length) const;

 private:
  static constexpr size_t kMaxLayouts = 16;

  // Takes `size` bytes, `alignment`-aligned after the first `lead`.
  uint8_t* open(size_t size, size_t alignment, size_t lead = 0);
  [[nodiscard]] Ref here() const { return static_cast<Ref>(size_ - front_); }
  Ref layout(const uint16_t* words, size_t count);

  uint8_t* memory_;
  size_t size_;
  size_t front_;        // index of the first byte written
  size_t waiting_ = 0;  // references at the start
  Ref layouts_[kMaxLayouts];
  size_t num_layouts_ = 0;
};

}  // namespace rushlight::etdump
