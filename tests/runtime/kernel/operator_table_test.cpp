// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/kernel/operator_table.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rushlight {
namespace {

// Sorted as strcmp does: '.' and digits before letters, a name before its continuations.
constexpr KernelEntry kEntries[] = {
    {"a::b", nullptr, ""},  {"a::b.c", nullptr, ""},  {"a::b.c_out", nullptr, ""},  {"a::b2.c", nullptr, ""},
    {"a::bb", nullptr, ""}, {"a::bb.c", nullptr, ""}, {"z::last.out", nullptr, ""},
};
constexpr OperatorTable kTable = {kEntries, std::size(kEntries)};

const char* found(const OperatorTable& table, const char* name, const char* overload) {
  const KernelEntry* entry = table.find(name, overload);
  return entry == nullptr ? "" : entry->name;
}

TEST(OperatorTable, FindsEveryEntry_BySplitName) {
  for (const KernelEntry& entry : kEntries) {
    const std::string full = entry.name;
    const size_t dot = full.find('.');
    const std::string overload = dot == std::string::npos ? "" : full.substr(dot + 1);
    EXPECT_STREQ(found(kTable, full.substr(0, dot).c_str(), overload.c_str()), entry.name);
  }
}

TEST(OperatorTable, FindsNothing_ForNeighboursAndParts) {
  EXPECT_EQ(kTable.find("a::b", "d"), nullptr);
  EXPECT_EQ(kTable.find("a::b", "c_"), nullptr);
  EXPECT_EQ(kTable.find("a::b2", ""), nullptr);
  EXPECT_EQ(kTable.find("a::", "b"), nullptr);
  EXPECT_EQ(kTable.find("", ""), nullptr);
  EXPECT_EQ(kTable.find("z::last", "out2"), nullptr);
  EXPECT_EQ(kTable.find("zz", ""), nullptr);
}

TEST(OperatorTable, TakesTheFullName_WithoutOverload) { EXPECT_STREQ(found(kTable, "a::b.c", ""), "a::b.c"); }

TEST(OperatorTable, LooksIntoTheNext_FirstOneWins) {
  constexpr KernelEntry more[] = {{"a::b", nullptr, "t"}, {"y::only", nullptr, "t"}};
  const OperatorTable second = {more, 2};
  const OperatorTable both = {kEntries, std::size(kEntries), &second};
  EXPECT_STREQ(both.find("a::b", "")->signature, "");
  EXPECT_STREQ(both.find("y::only", "")->signature, "t");
}

TEST(OperatorTable, FindsNothing_WhenEmpty) {
  const OperatorTable table = {nullptr, 0};
  EXPECT_EQ(table.find("a::b", ""), nullptr);
}

TEST(OperatorTable, IsSearchedAsUnsignedBytes) {
  constexpr KernelEntry entries[] = {{"a", nullptr, ""}, {"\xc3\xa9", nullptr, ""}};
  const OperatorTable table = {entries, 2};
  EXPECT_NE(table.find("\xc3\xa9", ""), nullptr);
}

}  // namespace
}  // namespace rushlight
