// SPDX-License-Identifier: BSD-3-Clause
// The verifier over a schema with one field of each kind. Files are copied to blocks of exactly their size,
// so that a sanitizer reports a read beyond the end; damaged files must be refused or be harmless.
#include "runtime/program/flatbuffer.h"

#include <random>

#include <gtest/gtest.h>

#include "tests/runtime/support/flat_builder.h"

namespace rushlight::flatbuffer {
namespace {

using ::rushlight::testing::Bytes;
using ::rushlight::testing::flat_file;
using ::rushlight::testing::link;
using ::rushlight::testing::NodePtr;
using ::rushlight::testing::number;
using ::rushlight::testing::table;
using ::rushlight::testing::tables;
using ::rushlight::testing::text;
using ::rushlight::testing::vector;

// One field of every kind; table 1 is a leaf with a number, table 2 one with a string.
constexpr Field kRootFields[] = {{Kind::Scalar8},      {Kind::Scalar32}, {Kind::Scalar64},
                                 {Kind::String},       {Kind::Vector8},  {Kind::Vector32},
                                 {Kind::Vector64},     {Kind::Table, 1}, {Kind::TableVector, 2},
                                 {Kind::UnionKind, 2}, {Kind::Union, 1}};
constexpr Field kLeafFields[] = {{Kind::Scalar64}};
constexpr Field kNameFields[] = {{Kind::String}};
constexpr TableType kTypes[] = {{kRootFields, 11}, {kLeafFields, 1}, {kNameFields, 1}};

NodePtr name(const char* value) { return table({{0, link(text(value))}}); }

Bytes full_file() {
  return flat_file(table({{0, number(int8_t{-5})},
                          {1, number(uint32_t{77})},
                          {2, number(int64_t{-1})},
                          {3, link(text("hello"))},
                          {4, link(vector<uint8_t>({1, 2, 3}))},
                          {5, link(vector<int32_t>({-1, 4}))},
                          {6, link(vector<int64_t>({1, 2}))},
                          {7, link(table({{0, number(int64_t{8})}}))},
                          {8, link(tables({name("a"), name("bc")}))},
                          {9, number(uint8_t{2})},
                          {10, link(name("union"))}}),
                   "TEST");
}

Error check(const Bytes& bytes) {
  ::testing::internal::CaptureStderr();
  // A copy of exactly that many bytes, so that a sanitizer sees the first one beyond.
  const std::unique_ptr<uint8_t[]> copy(new uint8_t[bytes.size()]);
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  const Error error = verify({copy.get(), bytes.size()}, kTypes);
  ::testing::internal::GetCapturedStderr();
  return error;
}

Table root(const Bytes& bytes) { return Table(bytes.data() + read<uint32_t>(bytes.data())); }

// Reads whatever the description names; what verify() let through must be readable.
uint64_t read_all(const Bytes& bytes) {
  const Table t = root(bytes);
  uint64_t sum = t.scalar<uint8_t>(0) + t.scalar<uint32_t>(1) + t.scalar<uint64_t>(2);
  sum += std::strlen(t.string(3)) + t.string_length(3);
  for (const uint8_t v : t.vector<uint8_t>(4)) sum += v;
  for (const uint32_t v : t.vector<uint32_t>(5)) sum += v;
  for (const uint64_t v : t.vector<uint64_t>(6)) sum += v;
  sum += t.table(7).scalar<uint64_t>(0);
  for (size_t i = 0; i < t.tables(8).size(); ++i) sum += std::strlen(t.tables(8)[i].string(0));
  const auto kind = t.scalar<uint8_t>(9);
  if (kind == 1) sum += t.table(10).scalar<uint64_t>(0);
  if (kind == 2) sum += std::strlen(t.table(10).string(0));
  return sum;
}

TEST(Table, ReadsEveryKindOfField) {
  const Bytes bytes = full_file();
  ASSERT_EQ(check(bytes), Error::Ok);
  const Table t = root(bytes);
  EXPECT_EQ(t.scalar<int8_t>(0), -5);
  EXPECT_EQ(t.scalar<uint32_t>(1), 77u);
  EXPECT_EQ(t.scalar<int64_t>(2), -1);
  EXPECT_STREQ(t.string(3), "hello");
  EXPECT_EQ(t.string_length(3), 5u);
  EXPECT_EQ(t.vector<uint8_t>(4)[2], 3);
  EXPECT_EQ(t.vector<int32_t>(5)[0], -1);
  EXPECT_EQ(t.vector<int64_t>(6).size(), 2u);
  EXPECT_EQ(t.table(7).scalar<int64_t>(0), 8);
  EXPECT_EQ(t.tables(8).size(), 2u);
  EXPECT_STREQ(t.tables(8)[1].string(0), "bc");
  EXPECT_STREQ(t.table(10).string(0), "union");
}

TEST(Table, HasDefaults_ForAbsentFields) {
  const Bytes bytes = flat_file(table({}), "TEST");
  ASSERT_EQ(check(bytes), Error::Ok);
  const Table t = root(bytes);
  EXPECT_EQ(t.scalar<int32_t>(1, 5), 5);
  EXPECT_STREQ(t.string(3), "");
  EXPECT_TRUE(t.vector<int64_t>(6).empty());
  EXPECT_FALSE(t.table(7));
  EXPECT_EQ(t.tables(8).size(), 0u);
  EXPECT_EQ(t.table(7).table(3).scalar<int32_t>(0, 4), 4);
}

// Where the vtable of the root is, and the entry of a slot in it.
uint8_t* vtable(Bytes* bytes) {
  uint8_t* at = bytes->data() + read<uint32_t>(bytes->data());
  return at - read<int32_t>(at);
}
uint8_t* entry(Bytes* bytes, unsigned slot) { return vtable(bytes) + 4 + 2 * slot; }
void store(uint8_t* at, size_t value) {
  const auto word = static_cast<uint16_t>(value);
  std::memcpy(at, &word, sizeof word);
}

TEST(Verify, TakesFieldsBehindTheSizeThatAVtableStates) {
  for (const size_t stated : {0u, 4u, 5u, 8u, 0xffffu}) {
    Bytes bytes = full_file();
    const uint64_t sum = read_all(bytes);
    store(vtable(&bytes) + 2, stated);
    ASSERT_EQ(check(bytes), Error::Ok) << stated;
    EXPECT_EQ(read_all(bytes), sum) << stated;
  }
}

TEST(Verify, TakesAVtableSharedByTablesOfTwoSizes) {
  // Both have one field at 4: of 4 bytes in the table that the vtable was written for, and of 8.
  static constexpr Field pair[] = {{Kind::Table, 1}, {Kind::Table, 2}};
  static constexpr Field narrow[] = {{Kind::Scalar32}};
  static constexpr Field wide[] = {{Kind::Scalar64}};
  constexpr TableType types[] = {{pair, 2}, {narrow, 1}, {wide, 1}};
  struct alignas(8) {
    uint32_t root = 24;
    char identifier[4] = {'T', 'E', 'S', 'T'};
    uint16_t vtable[3] = {6, 8, 4};
    uint16_t root_vtable[4] = {8, 12, 4, 8};
    uint16_t padding = 0;
    int32_t root_table = 10;
    uint32_t to_narrow = 8;
    uint32_t to_wide = 12;
    int32_t narrow_table = 28;
    uint32_t narrow_number = 7;
    int32_t wide_table = 36;
    uint32_t wide_number[2] = {1, 2};
  } const file;
  const auto* bytes = reinterpret_cast<const uint8_t*>(&file);
  ASSERT_EQ(verify({bytes, sizeof file}, types), Error::Ok);
  const Table t(bytes + file.root);
  EXPECT_EQ(t.table(0).scalar<uint32_t>(0), 7u);
  EXPECT_EQ(t.table(1).scalar<uint64_t>(0), 0x200000001u);
  FieldPair fields(0, 1);
  fields.find(t.table(0));
  EXPECT_EQ(read<uint32_t>(fields.first()), 7u);
  fields.find(t.table(1));
  EXPECT_EQ(read<uint64_t>(fields.first()), 0x200000001u);
  EXPECT_EQ(fields.second(), nullptr);
}

TEST(Verify, HoldsFieldsToTheBoundsOfTheBuffer) {
  Bytes bytes = flat_file(table({{1, number(uint32_t{77})}}), "TEST");
  const size_t behind_table = bytes.size() - read<uint32_t>(bytes.data());
  store(entry(&bytes, 1), behind_table - 4);
  EXPECT_EQ(check(bytes), Error::Ok);
  for (const size_t beyond : {behind_table - 3, behind_table, behind_table + 4, size_t{0xfffc}}) {
    store(entry(&bytes, 1), beyond);
    EXPECT_EQ(check(bytes), Error::InvalidProgram) << beyond;
  }
  for (int more = 1; more < 4; ++more) {  // a field that begins inside and ends beyond
    bytes.push_back(0);
    store(entry(&bytes, 1), behind_table);
    EXPECT_EQ(check(bytes), Error::InvalidProgram) << more;
  }
  for (const size_t overlap : {1u, 2u, 3u}) {  // overlaps the offset to the vtable
    store(entry(&bytes, 1), overlap);
    EXPECT_EQ(check(bytes), Error::InvalidProgram) << overlap;
  }
}

TEST(Verify, RefusesFieldsThatAreNotAligned) {
  Bytes bytes = full_file();
  const uint16_t wide = read<uint16_t>(entry(&bytes, 2));
  for (const unsigned off : {1u, 2u, 4u}) {
    store(entry(&bytes, 2), wide + off);
    EXPECT_EQ(check(bytes), Error::InvalidProgram) << off;
  }
}

TEST(Verify, TakesFieldsThatOverlap) {
  Bytes bytes = full_file();
  store(entry(&bytes, 0), read<uint16_t>(entry(&bytes, 1)) + 1u);
  ASSERT_EQ(check(bytes), Error::Ok);
  EXPECT_EQ(root(bytes).scalar<uint32_t>(1), 77u);
  EXPECT_EQ(root(bytes).scalar<uint8_t>(0), 0u);
}

TEST(Verify, TakesFieldsOfNewerSchemas) {
  EXPECT_EQ(check(flat_file(table({{20, number(int32_t{1})}, {21, link(text("later"))}}), "TEST")),
            Error::Ok);
}

TEST(Verify, RefusesEveryTruncation) {
  const Bytes bytes = full_file();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(check(Bytes(bytes.begin(), bytes.begin() + static_cast<long>(size))), Error::InvalidProgram)
        << size;
  }
}

TEST(Verify, RefusesUnknownUnionKinds_AndUnionsWithoutKind) {
  EXPECT_EQ(check(flat_file(table({{9, number(uint8_t{3})}, {10, link(name("x"))}}), "TEST")),
            Error::InvalidProgram);
  EXPECT_EQ(check(flat_file(table({{10, link(name("x"))}}), "TEST")), Error::InvalidProgram);
  EXPECT_EQ(check(flat_file(table({{9, number(uint8_t{0})}, {10, link(name("x"))}}), "TEST")),
            Error::InvalidProgram);
}

TEST(Verify, RefusesStringsWithoutTheirZero) {
  Bytes bytes = flat_file(table({{3, link(text("word"))}}), "TEST");
  ASSERT_EQ(check(bytes), Error::Ok);
  bytes.back() = 'x';
  EXPECT_EQ(check(bytes), Error::InvalidProgram);
}

TEST(Verify, RefusesMemoryThatIsNotAligned) {
  const Bytes bytes = full_file();
  const std::unique_ptr<uint8_t[]> copy(new uint8_t[bytes.size() + 4]);
  std::memcpy(copy.get() + 4, bytes.data(), bytes.size());
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(verify({copy.get() + 4, bytes.size()}, kTypes), Error::InvalidArgument);
  ::testing::internal::GetCapturedStderr();
}

TEST(Verify, RefusesTables_SharedMoreOftenThanTheFileIsLong) {
  std::vector<NodePtr> many(100, name("a"));
  EXPECT_EQ(check(flat_file(table({{8, link(tables(many))}}), "TEST")), Error::Ok);
  std::vector<NodePtr> shared(3000, table({{8, link(tables(std::vector<NodePtr>(3000, name("a"))))}}));
  static constexpr Field nested_root[] = {{Kind::TableVector, 1}};
  static constexpr Field nested[] = {{Kind::Scalar8}, {Kind::Scalar8}, {Kind::Scalar8},
                                     {Kind::Scalar8}, {Kind::Scalar8}, {Kind::Scalar8},
                                     {Kind::Scalar8}, {Kind::Scalar8}, {Kind::TableVector, 2}};
  constexpr TableType types[] = {{nested_root, 1}, {nested, 9}, {kNameFields, 1}};
  const Bytes bytes = flat_file(table({{0, link(tables(shared))}}), "TEST");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(verify({bytes.data(), bytes.size()}, types), Error::InvalidProgram);
  ::testing::internal::GetCapturedStderr();
}

TEST(Verify, RefusesVectors_SharedMoreOftenThanTheFileIsLong) {
  static constexpr Field list[] = {{Kind::Vector64}};
  static constexpr Field rows[] = {{Kind::TableVector, 1}};
  constexpr TableType types[] = {{rows, 1}, {list, 1}};
  const auto row = [] { return table({{0, link(vector(std::vector<int64_t>(1000)))}}); };
  const auto file_of = [&](size_t count, bool shared) {
    std::vector<NodePtr> nodes(count, row());
    for (NodePtr& node : nodes) node = shared ? node : row();
    return flat_file(table({{0, link(tables(nodes))}}), "TEST");
  };
  ::testing::internal::CaptureStderr();
  const Bytes apart = file_of(500, false);
  EXPECT_EQ(verify({apart.data(), apart.size()}, types), Error::Ok);
  const Bytes shared = file_of(500, true);
  EXPECT_LT(shared.size(), apart.size() / 10);
  EXPECT_EQ(verify({shared.data(), shared.size()}, types), Error::InvalidProgram);
  ::testing::internal::GetCapturedStderr();
}

TEST(Verify, LetsThroughOnlyWhatCanBeRead_OfMutatedFiles) {
  const Bytes original = full_file();
  std::mt19937 random(20260101);
  int passed = 0;
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes = original;
    for (unsigned n = random() % 4 + 1; n > 0; --n) {
      const size_t at = random() % bytes.size();
      if (random() % 2 == 0) {
        bytes[at] = static_cast<uint8_t>(random());
      } else if (at + 4 <= bytes.size()) {
        constexpr uint32_t kWords[] = {0, 1, 4, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffc};
        std::memcpy(&bytes[at], &kWords[random() % std::size(kWords)], 4);
      }
    }
    bytes.shrink_to_fit();
    if (check(bytes) != Error::Ok) continue;
    ++passed;
    volatile uint64_t sink = read_all(bytes);
    static_cast<void>(sink);
  }
  EXPECT_GT(passed, 1000);
}

}  // namespace
}  // namespace rushlight::flatbuffer
