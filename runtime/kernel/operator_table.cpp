// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/kernel/operator_table.h"

#include <cstdint>
#include <cstring>

namespace rushlight {

namespace {

// strcmp(entry, name) if `overload` is empty, otherwise strcmp(entry, name + "." + overload), without
// building the string.
int compare(const char* entry, const char* name, const char* overload) {
  while (*name != '\0' && *entry == *name) {
    ++entry;
    ++name;
  }
  // As strcmp: bytes compare as unsigned.
  if (*name != '\0') return static_cast<unsigned char>(*entry) - static_cast<unsigned char>(*name);
  if (*overload == '\0') return static_cast<unsigned char>(*entry);
  if (*entry != '.') return static_cast<unsigned char>(*entry) - static_cast<unsigned char>('.');
  ++entry;
  while (*overload != '\0' && *entry == *overload) {
    ++entry;
    ++overload;
  }
  return static_cast<unsigned char>(*entry) - static_cast<unsigned char>(*overload);
}

}  // namespace

const KernelEntry* OperatorTable::find(const char* name, const char* overload) const {
  // Tables are searched in order: an operator in an earlier table hides one in a later table.
  for (const OperatorTable* table = this; table != nullptr; table = table->next) {
    size_t low = 0;
    size_t high = table->size;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      const int order = compare(table->entries[middle].name, name, overload);
      if (order == 0) return &table->entries[middle];
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
  }
  return nullptr;
}

bool OperatorTable::keeps_order(const KernelEntry& entry) const {
  // Numbers, because pointers into different arrays do not compare. std::less does, but <functional> takes
  // half of the time that this file takes to compile, in each build of a runner.
  const auto before = [](const KernelEntry* a, const KernelEntry* b) {
    return reinterpret_cast<uintptr_t>(a) < reinterpret_cast<uintptr_t>(b);
  };
  for (const OperatorTable* table = this; table != nullptr; table = table->next) {
    if (before(&entry, table->entries) || !before(&entry, table->entries + table->size)) continue;
    if (table->in_order == nullptr) return true;
    for (const char* const* name = table->in_order; *name != nullptr; ++name) {
      if (std::strcmp(*name, entry.name) == 0) return true;
    }
    return false;
  }
  return true;
}

}  // namespace rushlight
