// SPDX-License-Identifier: BSD-3-Clause
// The verifier walks tables depth first, bounded by a budget of visits. Recursion depth equals the nesting of
// the schema's tables, which is not recursive. The budget is one visit per byte of the file, and each table
// and each element of a vector costs one: offsets may lead to the same table many times, so a small file
// could otherwise cost exponential time.
#include "runtime/program/flatbuffer.h"

#include "runtime/base/checked.h"
#include "runtime/base/log.h"

namespace rushlight::flatbuffer {

const char* Table::string(unsigned slot) const {
  const uint8_t* at = follow(slot);
  return at == nullptr ? "" : reinterpret_cast<const char*>(at + sizeof(uint32_t));
}

uint32_t Table::string_length(unsigned slot) const {
  const uint8_t* at = follow(slot);
  return at == nullptr ? 0 : read<uint32_t>(at);
}

namespace {

// Bytes that a field takes in its table: an offset for strings, vectors and tables.
uint32_t width_of(Kind kind) {
  switch (kind) {
    case Kind::Scalar8:
    case Kind::UnionKind:
      return 1;
    case Kind::Scalar16:
      return 2;
    case Kind::Scalar64:
      return 8;
    default:
      return 4;
  }
}

class Verifier {
 public:
  Verifier(Span<const uint8_t> buffer, const TableType* types)
      : data_(buffer.data()), size_(static_cast<uint32_t>(buffer.size())), types_(types), visits_(size_) {}

  bool root() {
    uint32_t position = 0;
    return offset_at(0, &position) && table(position, 0);
  }

  [[nodiscard]] uint32_t failed_at() const { return failed_at_; }

 private:
  bool fail(uint32_t position) {
    failed_at_ = position;
    return false;
  }

  // Checks that `length` bytes at `position` lie in the buffer and that `position` is a multiple of
  // `alignment`.
  // Alignments are powers of two. The buffer itself is aligned to 8 bytes, so positions are aligned if their
  // numbers are.
  bool range(uint32_t position, uint64_t length, uint32_t alignment) {
    if ((position & (alignment - 1)) != 0 || !range_fits(position, length, size_)) return fail(position);
    return true;
  }

  bool offset_at(uint32_t position, uint32_t* target) {
    if (!range(position, sizeof(uint32_t), sizeof(uint32_t))) return false;
    // Offsets are unsigned: they point forward.
    return checked_add(position, read<uint32_t>(data_ + position), target) || fail(position);
  }

  // Spends `count` of the budget of visits.
  bool visit(uint32_t position, uint64_t count) {
    if (count > visits_) return fail(position);
    visits_ -= static_cast<uint32_t>(count);
    return true;
  }

  // Checks a vector; `terminator` also requires a zero byte after the elements (strings).
  bool vector(uint32_t position, uint32_t element, bool terminator = false) {
    if (!range(position, sizeof(uint32_t), sizeof(uint32_t))) return false;
    const uint32_t count = read<uint32_t>(data_ + position);
    const uint32_t start = position + static_cast<uint32_t>(sizeof(uint32_t));
    const uint64_t length = static_cast<uint64_t>(count) * element;
    // The alignment of an empty vector does not matter: no element is read.
    if (!range(start, length + (terminator ? 1 : 0), count == 0 ? 1 : element)) return false;
    // Strings cost no visits: tables may share them, and they are not walked.
    if (terminator) return data_[start + length] == 0 || fail(position);
    return visit(position, count);
  }

  bool table_vector(uint32_t position, uint8_t type) {
    if (!vector(position, sizeof(uint32_t))) return false;
    const uint32_t count = read<uint32_t>(data_ + position);
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t target = 0;
      if (!offset_at(position + 4 * (i + 1), &target) || !table(target, type)) return false;
    }
    return true;
  }

  bool table(uint32_t position, uint8_t type) {
    if (!visit(position, 1) || !range(position, sizeof(int32_t), sizeof(int32_t))) return false;
    // The offset to the vtable is signed: it may lie on either side of the table.
    const int64_t vtable64 = static_cast<int64_t>(position) - read<int32_t>(data_ + position);
    if (vtable64 < 0 || vtable64 > size_) return fail(position);
    const auto vtable = static_cast<uint32_t>(vtable64);
    if (!range(vtable, 4, 2)) return false;
    const uint16_t vtable_size = read<uint16_t>(data_ + vtable);
    if (vtable_size < 4 || (vtable_size & 1) != 0) return fail(vtable);
    if (!range(vtable, vtable_size, 2)) return false;
    // The vtable's second value, the size of the table, is not read: it proves nothing, and writers share a
    // vtable between tables whose fields begin at the same offsets but end at different ones.

    const TableType& description = types_[type];
    uint8_t union_kind = 0;
    for (unsigned slot = 0; slot < description.size && 4 + 2 * slot < vtable_size; ++slot) {
      // 0 means that the field is absent and has its default.
      const uint16_t offset = read<uint16_t>(data_ + vtable + 4 + 2 * slot);
      const Field& field = description.fields[slot];
      if (offset == 0) {
        if (field.kind == Kind::UnionKind) union_kind = 0;
        continue;
      }
      const uint32_t width = width_of(field.kind);
      if (offset < 4) return fail(vtable);
      // No overflow: position < 2^31 and offset < 2^16.
      const uint32_t at = position + offset;
      if (!range(at, width, width)) return false;
      if (field.kind == Kind::UnionKind) {
        // The kind of a union precedes its content by one slot. `type` of the kind's field is the number of
        // members.
        union_kind = data_[at];
        if (union_kind > field.type) return fail(at);
      } else if (field.kind > Kind::Scalar64 && !child(field, at, union_kind)) {
        return false;
      }
    }
    return true;
  }

  bool child(const Field& field, uint32_t at, uint8_t union_kind) {
    uint32_t target = 0;
    if (!offset_at(at, &target)) return false;
    switch (field.kind) {
      case Kind::String:
        return vector(target, 1, true);
      case Kind::Vector8:
        return vector(target, 1);
      case Kind::Vector16:
        return vector(target, 2);
      case Kind::Vector32:
        return vector(target, 4);
      case Kind::Vector64:
        return vector(target, 8);
      case Kind::Table:
        return table(target, field.type);
      case Kind::TableVector:
        return table_vector(target, field.type);
      default:
        // Members of a union have consecutive types, and kind 0 is none.
        return union_kind == 0 ? fail(at) : table(target, static_cast<uint8_t>(field.type + union_kind - 1));
    }
  }

  const uint8_t* data_;
  uint32_t size_;
  const TableType* types_;
  uint32_t visits_;
  uint32_t failed_at_ = 0;
};

}  // namespace

Error verify(Span<const uint8_t> buffer, const TableType* types) {
  RL_CHECK(buffer.size() <= INT32_MAX, Error::InvalidProgram, "flatbuffer: larger than 2 GiB");
  RL_CHECK(is_aligned(buffer.data(), 8), Error::InvalidArgument, "flatbuffer: not aligned to 8 bytes");
  Verifier verifier(buffer, types);
  RL_CHECK(verifier.root(), Error::InvalidProgram, "flatbuffer: damaged at byte %lu of %lu",
           static_cast<unsigned long>(verifier.failed_at()), static_cast<unsigned long>(buffer.size()));
  return Error::Ok;
}

}  // namespace rushlight::flatbuffer
