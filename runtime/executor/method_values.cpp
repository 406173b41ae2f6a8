// SPDX-License-Identifier: BSD-3-Clause
// A tensor's index among the tensors is found by rank: the count of set bits before its value's index, from a
// table with one entry per 32 values. That takes 8 bytes per 32 values instead of 4 bytes per value.
#include "runtime/executor/method_values.h"

#include <new>

#include "runtime/program/layout.h"
#include "runtime/program/method_meta.h"
#include "runtime/program/schema.h"

namespace rushlight {

namespace {

using flatbuffer::Table;
using schema::ValueKind;

// Population count by parallel sums of 2, 4 and 8 bits; the multiplication adds the four bytes. For cores
// without an instruction for it.
uint32_t count_bits(uint32_t bits) {
  bits -= (bits >> 1) & 0x55555555;
  bits = (bits & 0x33333333) + ((bits >> 2) & 0x33333333);
  return (((bits + (bits >> 4)) & 0x0f0f0f0f) * 0x01010101) >> 24;
}

bool is_list_of_values(const EValue& value) {
  return value.tag == Tag::ListInt || value.tag == Tag::ListTensor || value.tag == Tag::ListOptionalTensor;
}

// Takes the next list and its items from the memory; the items are not constructed yet.
template <class Item>
Item* take(ListMemory<Item>* memory, uint32_t length, const BoxedList<Item>** list) {
  Item* items = memory->items;
  memory->items += length;
  *list = new (memory->lists++) BoxedList<Item>{nullptr, items};
  return items;
}

}  // namespace

inline bool MethodValues::is_compact() const { return kCompact && value_tables_.kept == nullptr; }

// Tensors before this value's group of 32, and before it in its group.
Tensor MethodValues::tensor(size_t index) const {
  const TensorRank& rank = value_tables_.ranks[index / 32];
  const uint32_t before = rank.bits & ((uint32_t{1} << (index % 32)) - 1);
  return Tensor(value_tables_.tensors + rank.before + count_bits(before));
}

EValue MethodValues::make(size_t index) const {
  Entry entry(schema::evalue::kValType, schema::evalue::kVal);
  return make(index, &entry);
}

// `entry` remembers where the fields are, for the next value.
Table MethodValues::content_of(size_t index, Entry* entry) const {
  entry->find(values_[index]);
  const uint8_t* at = entry->second();
  return at == nullptr ? Table() : Table::referred_by(at);
}

EValue MethodValues::make(size_t index, Entry* entry) const {
  const Table content = content_of(index, entry);
  const auto kind = static_cast<ValueKind>(*entry->first());
  EValue value;
  value.tag = tag_of(kind);
  switch (kind) {
    case ValueKind::Null:
      break;
    case ValueKind::Tensor:
      value.payload.as_tensor = tensor(index);
      break;
    case ValueKind::Bool:
      value.payload.as_bool = content.scalar<uint8_t>(schema::boxed::kItem) != 0;
      break;
    case ValueKind::Int:
    case ValueKind::Double:
      // Both are stored as 64 bits.
      value.payload.as_int = content.scalar<int64_t>(schema::boxed::kItem);
      break;
    // Lists of values keep a pointer to the indices; fill() replaces it by a pointer to a BoxedList.
    default: {
      // Strings and lists of all kinds begin with their length. Booleans are bytes, verified to be 0 or 1,
      // and can be read as bool.
      const auto items = content.vector<uint8_t>(schema::boxed::kItem);
      value.length = static_cast<uint32_t>(items.size());
      value.payload.as_indices = items.data() == nullptr ? "" : static_cast<const void*>(items.data());
    }
  }
  return value;
}

EValue MethodValues::get(size_t index, Entry* entry) const {
  return is_compact() ? make(index, entry) : value_tables_.kept[index];
}

// The file stores indices of int lists as int64, and indices of tensor lists as int32. load() has verified
// kinds and ranges of all items. A negative index is an absent optional tensor.
EValue MethodValues::fill(const EValue& list, ValueTables* value_tables, Entry* entry) const {
  EValue filled = list;
  if (list.tag == Tag::ListInt) {
    const auto* numbers = static_cast<const int64_t*>(list.payload.as_indices);
    int64_t* items = take(&value_tables->ints, list.length, &filled.payload.as_int_list);
    for (uint32_t i = 0; i < list.length; ++i) {
      const auto index = static_cast<size_t>(numbers[i]);
      items[i] = is_compact() ? content_of(index, entry).scalar<int64_t>(schema::boxed::kItem)
                              : value_tables_.kept[index].to_int();
    }
    return filled;
  }
  const auto* numbers = static_cast<const int32_t*>(list.payload.as_indices);
  if (list.tag == Tag::ListTensor) {
    Tensor* items = take(&value_tables->tensor_lists, list.length, &filled.payload.as_tensor_list);
    for (uint32_t i = 0; i < list.length; ++i) {
      new (items + i) Tensor(get(static_cast<size_t>(numbers[i]), entry).to_tensor());
    }
    return filled;
  }
  auto* items =
      take(&value_tables->optional_tensor_lists, list.length, &filled.payload.as_optional_tensor_list);
  for (uint32_t i = 0; i < list.length; ++i) {
    auto* item = new (items + i) std::optional<Tensor>();
    const EValue value = numbers[i] < 0 ? EValue() : get(static_cast<size_t>(numbers[i]), entry);
    if (value.is_tensor()) *item = value.to_tensor();
  }
  return filled;
}

void MethodValues::gather(Span<const int32_t> indices, EValue** arguments) const {
  // A copy whose pointers advance: the next call reuses the lists' memory from the start.
  ValueTables value_tables = value_tables_;
  EValue* made = value_tables_.made;
  Entry entry(schema::evalue::kValType, schema::evalue::kVal);
  for (const int32_t index : indices) {
    EValue* value = is_compact() ? new (made) EValue(make(static_cast<size_t>(index), &entry))
                                 : value_tables_.kept + index;
    // fill() reads its argument before the new value overwrites it: both may be at `made`.
    if (is_list_of_values(*value)) value = new (made) EValue(fill(*value, &value_tables, &entry));
    *arguments++ = value;
    ++made;
  }
}

}  // namespace rushlight
