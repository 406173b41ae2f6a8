// SPDX-License-Identifier: BSD-3-Clause
// Reads FlatBuffers data without generated code, in two steps. verify() walks a buffer once against a
// description of its tables and checks every offset, length and alignment. Table and the vectors then read
// fields without further checks. Fields are checked against the bounds of the buffer, not of their table;
// they may overlap, so the buffer must never be written. Little-endian hosts only, like the format.
//
// Reference: https://flatbuffers.dev/internals/
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/base/span.h"

namespace rushlight::flatbuffer {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

// Reads a T at an aligned address.
template <class T>
inline T read(const uint8_t* at) {
  return *reinterpret_cast<const T*>(at);
}

class Table;

// A vector of tables; empty if absent.
class TableVector {
 public:
  TableVector() = default;
  explicit TableVector(const uint8_t* at) : at_(at) {}
  [[nodiscard]] size_t size() const { return at_ == nullptr ? 0 : read<uint32_t>(at_); }
  Table operator[](size_t i) const;

 private:
  const uint8_t* at_ = nullptr;
};

// A table, or null for an absent field; then every field has its default.
class Table {
 public:
  Table() = default;
  explicit Table(const uint8_t* at) : at_(at) {}

  // The table that the offset stored at `field` refers to.
  static Table referred_by(const uint8_t* field) { return Table(field + read<uint32_t>(field)); }

  // Returns true if the table exists.
  explicit operator bool() const { return at_ != nullptr; }
  [[nodiscard]] const uint8_t* address() const { return at_; }

  // Fields by `slot`: the index in the schema, from 0. A union takes two slots, its kind and its table. The
  // type must match the verified description.
  template <class T>
  [[nodiscard]] T scalar(unsigned slot, T absent = 0) const {
    const uint8_t* field = find(slot);
    return field == nullptr ? absent : read<T>(field);
  }
  // The table or the vector that a field refers to; null or empty if absent.
  [[nodiscard]] Table table(unsigned slot) const { return Table(follow(slot)); }
  [[nodiscard]] TableVector tables(unsigned slot) const { return TableVector(follow(slot)); }
  // A string that ends with a zero byte; "" if absent.
  [[nodiscard]] const char* string(unsigned slot) const;
  // Bytes of a string without the zero byte; 0 if absent.
  [[nodiscard]] uint32_t string_length(unsigned slot) const;
  // A vector of scalars, in place; empty if absent.
  template <class T>
  [[nodiscard]] Span<const T> vector(unsigned slot) const {
    const uint8_t* at = follow(slot);
    if (at == nullptr) return {};
    return {reinterpret_cast<const T*>(at + sizeof(uint32_t)), read<uint32_t>(at)};
  }

  // The address of a field, and the address to which its offset refers; null if absent.
 private:
  [[nodiscard]] const uint8_t* find(unsigned slot) const;
  [[nodiscard]] const uint8_t* follow(unsigned slot) const;

  const uint8_t* at_ = nullptr;
};

// Inlined on hosts, where a call costs more time than the code; not where size counts.
#ifdef __OPTIMIZE_SIZE__
#define RL_FLATBUFFER_READ __attribute__((noinline)) inline
#else
#define RL_FLATBUFFER_READ inline
#endif

RL_FLATBUFFER_READ const uint8_t* Table::find(unsigned slot) const {
  if (at_ == nullptr) return nullptr;
  const uint8_t* vtable = at_ - read<int32_t>(at_);
  const unsigned entry = 4 + 2 * slot;
  if (entry >= read<uint16_t>(vtable)) return nullptr;
  const uint16_t offset = read<uint16_t>(vtable + entry);
  return offset == 0 ? nullptr : at_ + offset;
}

RL_FLATBUFFER_READ const uint8_t* Table::follow(unsigned slot) const {
  const uint8_t* field = find(slot);
  return field == nullptr ? nullptr : field + read<uint32_t>(field);
}

#undef RL_FLATBUFFER_READ

// Finds two fields in many tables. Tables with the same layout share their vtable, so the lookup is cached by
// vtable: hot loops over instructions mostly skip it.
class FieldPair {
 public:
  FieldPair(unsigned first, unsigned second) : slots_{first, second} {}

  // Locates the fields of `table`, which is not null. first() and second() then return their addresses, or
  // null if absent.
  void find(Table table) {
    at_ = table.address();
    const uint8_t* vtable = at_ - read<int32_t>(at_);
    if (vtable == vtable_) return;
    vtable_ = vtable;
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned entry = 4 + 2 * slots_[i];
      offsets_[i] = entry < read<uint16_t>(vtable) ? read<uint16_t>(vtable + entry) : uint16_t{0};
    }
  }
  [[nodiscard]] const uint8_t* first() const { return offsets_[0] == 0 ? nullptr : at_ + offsets_[0]; }
  [[nodiscard]] const uint8_t* second() const { return offsets_[1] == 0 ? nullptr : at_ + offsets_[1]; }

 private:
  const uint8_t* at_ = nullptr;
  const uint8_t* vtable_ = nullptr;
  unsigned slots_[2];
  uint16_t offsets_[2] = {};
};

inline Table TableVector::operator[](size_t i) const {
  const uint8_t* element = at_ + sizeof(uint32_t) * (i + 1);
  return Table(element + read<uint32_t>(element));
}

// The vector of scalars that the offset stored at `field` refers to; empty if `field` is null.
template <class T>
inline Span<const T> vector_referred_by(const uint8_t* field) {
  if (field == nullptr) return {};
  const uint8_t* at = field + read<uint32_t>(field);
  return {reinterpret_cast<const T*>(at + sizeof(uint32_t)), read<uint32_t>(at)};
}

// ---- Descriptions, for verify() ----

// The kind of a field.
enum class Kind : uint8_t {
  Scalar8,
  Scalar16,
  Scalar32,
  Scalar64,
  String,
  Vector8,
  Vector16,
  Vector32,
  Vector64,
  Table,        // `type` is the index of the table's description
  TableVector,  // likewise
  UnionKind,    // the byte before a Union; `type` is the number of kinds
  Union,        // kind k is described by index `type` + k - 1
};

// Description of one field.
struct Field {
  Kind kind;
  uint8_t type = 0;
};

// Description of one table.
struct TableType {
  const Field* fields;
  uint8_t size;  // later fields (of a newer schema) are not checked
};

// Verifies that `buffer` is a FlatBuffers file whose root table matches `types[0]`. The walk visits at most
// as many tables and elements as the buffer has bytes: tables with shared children cannot make it
// exponential. Errors: InvalidProgram (logs the position of the damage), InvalidArgument (not aligned to 8
// bytes).
Error verify(Span<const uint8_t> buffer, const TableType* types);

}  // namespace rushlight::flatbuffer
