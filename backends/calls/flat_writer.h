// SPDX-License-Identifier: BSD-3-Clause
// Writes FlatBuffers data from its start to its end: a table or a vector of offsets first, then what they
// lead to, which link() connects. (runtime/trace has a writer for memory of fixed size, which works from the
// end.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace rushlight {

class FlatWriter {
 public:
  using Position = uint32_t;

  // A field of a table: a number of 1, 4 or 8 bytes. An offset is one of 4 bytes that link() fills in.
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

  // Starts a file whose root link_root() names.
  explicit FlatWriter(const char (&identifier)[5]);

  [[nodiscard]] Position table(std::initializer_list<Field> fields);
  [[nodiscard]] Position string(std::string_view text);
  // Of offsets that are linked later.
  [[nodiscard]] Position offsets(size_t count);
  template <class T>
  [[nodiscard]] Position numbers(const std::vector<T>& values) {
    return vector(values.data(), values.size(), sizeof(T));
  }

  void link(Position table, unsigned slot, Position target);
  void link_item(Position vector, size_t index, Position target);
  void link_root(Position table);

  // Whether offsets still reach: files of more than 2 GiB are none.
  [[nodiscard]] bool fits() const { return bytes_.size() <= INT32_MAX; }
  [[nodiscard]] std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  [[nodiscard]] Position vector(const void* items, size_t count, size_t width);
  void align(size_t alignment, size_t lead);
  template <class T>
  void append(T value);
  template <class T>
  void put(size_t at, T value);

  std::vector<uint8_t> bytes_;
};

}  // namespace rushlight
