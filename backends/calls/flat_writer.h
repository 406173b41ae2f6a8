// SPDX-License-Identifier: BSD-3-Clause
// Writes FlatBuffers data front to back: a table or a vector of offsets first, then the objects that it
// refers to, connected by link(). (runtime/trace/ has a writer for memory of fixed size, which works back to
// front.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace rushlight {

// Reference: https://flatbuffers.dev/internals/. Numbers are copied as they are in memory, so the machine
// must be little-endian, like the format. Equal strings and tables are not shared.
class FlatWriter {
 public:
  // Offset of an object from the start of the file.
  using Position = uint32_t;

  // A field of a table: a number of 1, 4 or 8 bytes. An offset is a 4-byte field that link() fills in.
  struct Field {
    unsigned slot;
    uint8_t width;
    uint64_t bits = 0;
  };
  static Field offset(unsigned slot) { return {slot, 4}; }
  template <class T>
  static Field number(unsigned slot, T value) {
    return {slot, sizeof(T), static_cast<uint64_t>(value)};
  }

  // Starts a file with this identifier. Set its root with link_root().
  explicit FlatWriter(const char (&identifier)[5]);

  // Append an object and return its position.
  [[nodiscard]] Position table(std::initializer_list<Field> fields);
  [[nodiscard]] Position string(std::string_view text);
  // A vector of offsets; set each with link_item().
  [[nodiscard]] Position offsets(size_t count);
  template <class T>
  [[nodiscard]] Position scalars(const std::vector<T>& values) {
    return vector(values.data(), values.size(), sizeof(T));
  }

  // Set an offset: of a table's field, of a vector's item, of the file's root.
  void link(Position table, unsigned slot, Position target);
  void link_item(Position vector, size_t index, Position target);
  void link_root(Position table);

  // Returns false if offsets overflow: a file has at most 2 GiB. Check it before take().
  [[nodiscard]] bool fits() const { return bytes_.size() <= INT32_MAX; }
  // Returns the file and leaves the writer empty.
  [[nodiscard]] std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  // A vector of `count` items of `width` bytes each.
  [[nodiscard]] Position vector(const void* items, size_t count, size_t width);
  void align(size_t alignment, size_t lead);
  template <class T>
  void append(T value);
  template <class T>
  void put(size_t at, T value);

  std::vector<uint8_t> bytes_;
};

}  // namespace rushlight
