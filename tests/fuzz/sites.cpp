// SPDX-License-Identifier: BSD-3-Clause
// Walks the tables as the verifier does, but skips what it cannot read. Sites of one group are the same field
// of the same table type, so that exchanging their values keeps types correct. Limits of depth, elements and
// sites bound the time for hostile files.
#include "tests/fuzz/sites.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/checked.h"

namespace rushlight::fuzz {

namespace {

using flatbuffer::Field;
using flatbuffer::Kind;
using flatbuffer::TableType;

constexpr size_t kMaxSites = 20000;
constexpr size_t kMaxElements = 64;  // the limit for each vector of scalars
constexpr int kMaxDepth = 32;

unsigned width_of(Kind kind) {
  if (kind == Kind::Scalar64 || kind == Kind::Vector64) return 8;
  if (kind == Kind::Scalar16 || kind == Kind::Vector16) return 2;
  return kind == Kind::Scalar8 || kind == Kind::UnionKind || kind == Kind::Vector8 ? 1 : 4;
}

class Walk {
 public:
  Walk(Span<const uint8_t> file, const TableType* types) : file_(file), types_(types) {}

  std::vector<Site> run() {
    header();
    add(0, 4, SiteKind::Offset, 0);
    table(static_cast<uint32_t>(number(0, 4)), 0, 0);
    return std::move(sites_);
  }

 private:
  [[nodiscard]] uint64_t number(uint64_t at, size_t width) const { return read_number(file_, at, width); }

  bool add(uint64_t at, unsigned width, SiteKind kind, unsigned group, uint64_t at_vector = 0) {
    if (sites_.size() >= kMaxSites || !range_fits(at, width, file_.size())) return false;
    sites_.push_back({static_cast<uint32_t>(at), static_cast<uint8_t>(width), kind,
                      static_cast<uint16_t>(group), static_cast<uint32_t>(at_vector)});
    return true;
  }

  // "eh00", "FH01": a length, then numbers of 64 bits.
  void header() {
    constexpr size_t kMagic = 8;
    if (file_.size() < kMagic + 8) return;
    const uint8_t* magic = file_.data() + kMagic;
    if (std::memcmp(magic, "eh00", 4) != 0 && std::memcmp(magic, "FH01", 4) != 0) return;
    add(kMagic + 4, 4, SiteKind::Header, 1);
    const uint64_t end = std::min<uint64_t>(kMagic + number(kMagic + 4, 4), kMagic + 40);
    for (uint64_t at = kMagic + 8; at + 8 <= end; at += 8) add(at, 8, SiteKind::Header, 1);
  }

  void table(uint64_t at, uint8_t type, int depth) {
    if (depth > kMaxDepth || !add(at, 4, SiteKind::VtableOffset, 2)) return;
    const int64_t vtable = static_cast<int64_t>(at) - static_cast<int32_t>(number(at, 4));
    if (vtable < 0 || !range_fits(static_cast<uint64_t>(vtable), 4, file_.size())) return;
    const auto start = static_cast<uint64_t>(vtable);
    const uint64_t vtable_size = number(start, 2);
    for (uint64_t entry = 0; entry < std::min<uint64_t>(vtable_size, 64); entry += 2) {
      add(start + entry, 2, SiteKind::VtableEntry, 3);
    }
    const TableType& description = types_[type];
    uint8_t union_kind = 0;
    for (unsigned slot = 0; slot < description.size && 4 + 2 * slot < vtable_size; ++slot) {
      const uint64_t offset = number(start + 4 + 2 * slot, 2);
      if (offset == 0) continue;
      const Field& field = description.fields[slot];
      const unsigned group = 16u + type * 16u + slot;
      if (field.kind == Kind::UnionKind) {
        const uint64_t kind = number(at + offset, 1);
        union_kind =
            static_cast<uint8_t>(kind <= field.type ? kind : 0);  // an unknown kind has no description
      }
      this->field(field, at + offset, group, union_kind, depth);
    }
  }

  void field(const Field& field, uint64_t at, unsigned group, uint8_t union_kind, int depth) {
    if (field.kind <= Kind::Scalar64) {
      add(at, width_of(field.kind), SiteKind::Scalar, group);
      return;
    }
    if (field.kind == Kind::UnionKind) {
      add(at, 1, SiteKind::Tag, group);
      return;
    }
    if (!add(at, 4, SiteKind::Offset, group)) return;
    const uint64_t target = at + number(at, 4);
    switch (field.kind) {
      case Kind::String:
        add(target, 4, SiteKind::Count, 4);
        add(target + 4, 1, SiteKind::Text, group);
        break;
      case Kind::Vector8:
      case Kind::Vector16:
      case Kind::Vector32:
      case Kind::Vector64: {
        add(target, 4, SiteKind::Count, 4);
        const unsigned width = width_of(field.kind);
        const uint64_t count = std::min<uint64_t>(number(target, 4), kMaxElements);
        for (uint64_t i = 0; i < count; ++i) {
          if (!add(target + 4 + i * width, width, SiteKind::Element, group, target)) break;
        }
        break;
      }
      case Kind::Table:
        table(target, field.type, depth + 1);
        break;
      case Kind::TableVector:
        table_vector(target, field.type, group, depth);
        break;
      default:
        if (union_kind != 0) table(target, static_cast<uint8_t>(field.type + union_kind - 1), depth + 1);
    }
  }

  void table_vector(uint64_t at, uint8_t type, unsigned group, int depth) {
    if (!add(at, 4, SiteKind::Count, 4)) return;
    const uint64_t count = number(at, 4);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t element = at + 4 + 4 * i;
      if (!add(element, 4, SiteKind::Offset, group, at)) return;
      table(element + number(element, 4), type, depth + 1);
    }
  }

  Span<const uint8_t> file_;
  const TableType* types_;
  std::vector<Site> sites_;
};

}  // namespace

std::vector<Site> find_sites(Span<const uint8_t> file, const TableType* types) {
  return Walk(file, types).run();
}

uint64_t read_number(Span<const uint8_t> file, size_t at, size_t width) {
  uint64_t value = 0;
  if (range_fits(at, width, file.size())) std::memcpy(&value, file.data() + at, width);
  return value;
}

}  // namespace rushlight::fuzz
