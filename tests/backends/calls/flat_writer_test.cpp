// SPDX-License-Identifier: BSD-3-Clause
// Files are verified and read back with the runtime's reader, an independent implementation of the format.
#include "backends/calls/flat_writer.h"

#include <string>

#include <gtest/gtest.h>

#include "runtime/program/flatbuffer.h"

namespace rushlight {
namespace {

using flatbuffer::Field;
using flatbuffer::Kind;
using flatbuffer::Table;

// A root with numbers of each width, a string, vectors and tables.
constexpr Field kRootFields[] = {{Kind::Scalar8},  {Kind::Scalar32}, {Kind::Scalar64},      {Kind::String},
                                 {Kind::Vector32}, {Kind::Vector64}, {Kind::TableVector, 1}};
constexpr Field kItemFields[] = {{Kind::Scalar64}, {Kind::Scalar8}};
constexpr flatbuffer::TableType kTypes[] = {{kRootFields, 7}, {kItemFields, 2}};

std::vector<uint8_t> written(const std::string& text, size_t items) {
  FlatWriter flat("TEST");
  const auto root = flat.table({FlatWriter::number(0, uint8_t{7}), FlatWriter::number(1, uint32_t{70000}),
                                FlatWriter::number(2, uint64_t{1} << 40), FlatWriter::offset(3),
                                FlatWriter::offset(4), FlatWriter::offset(5), FlatWriter::offset(6)});
  flat.link_root(root);
  flat.link(root, 3, flat.string(text));
  flat.link(root, 4, flat.scalars(std::vector<int32_t>{-1, 2, 3}));
  flat.link(root, 5, flat.scalars(std::vector<int64_t>{-1, int64_t{1} << 50}));
  const auto all = flat.offsets(items);
  flat.link(root, 6, all);
  for (size_t i = 0; i < items; ++i) {
    flat.link_item(
        all, i,
        flat.table({FlatWriter::number(1, static_cast<uint8_t>(i)), FlatWriter::number(0, uint64_t{i})}));
  }
  EXPECT_TRUE(flat.fits());
  return flat.take();
}

TEST(FlatWriter, EveryKindOfField_IsWellFormedAndReadBack) {
  // Texts of each length modulo 8 shift what follows them.
  for (size_t length = 0; length < 17; ++length) {
    const std::string text(length, 'x');
    const std::vector<uint8_t> bytes = written(text, length);
    ASSERT_EQ(flatbuffer::verify({bytes.data(), bytes.size()}, kTypes), Error::Ok) << length;
    EXPECT_EQ(std::string(bytes.begin() + 4, bytes.begin() + 8), "TEST");
    const Table root = Table::referred_by(bytes.data());
    EXPECT_EQ(root.scalar<uint8_t>(0), 7);
    EXPECT_EQ(root.scalar<uint32_t>(1), 70000u);
    EXPECT_EQ(root.scalar<uint64_t>(2), uint64_t{1} << 40);
    EXPECT_EQ(root.string(3), text);
    EXPECT_EQ(root.string_length(3), length);
    EXPECT_EQ(root.vector<int32_t>(4)[0], -1);
    EXPECT_EQ(root.vector<int64_t>(5)[1], int64_t{1} << 50);
    ASSERT_EQ(root.tables(6).size(), length);
    for (size_t i = 0; i < length; ++i) {
      EXPECT_EQ(root.tables(6)[i].scalar<uint64_t>(0), i);
      EXPECT_EQ(root.tables(6)[i].scalar<uint8_t>(1), i);
    }
  }
}

TEST(FlatWriter, AnOffsetThatIsNotLinked_IsSeenByVerify) {
  FlatWriter flat("TEST");
  flat.link_root(flat.table({FlatWriter::offset(3)}));
  const std::vector<uint8_t> bytes = flat.take();
  EXPECT_NE(flatbuffer::verify({bytes.data(), bytes.size()}, kTypes), Error::Ok);
}

}  // namespace
}  // namespace rushlight
