// SPDX-License-Identifier: BSD-3-Clause
// The named data of programs, and several maps as one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/program/flat_tensor.h"
#include "runtime/program/merged_data_map.h"
#include "runtime/program/program_data_map.h"
#include "tests/runtime/support/data_files.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DataMap : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::internal::CaptureStderr(); }
  void TearDown() override {
    if (!taken_) ::testing::internal::GetCapturedStderr();
  }
  std::string log() {
    taken_ = true;
    return ::testing::internal::GetCapturedStderr();
  }

 private:
  bool taken_ = false;
};

ProgramSpec program_with(std::vector<std::pair<std::string, uint32_t>> named) {
  ProgramSpec spec;
  spec.plans.push_back(PlanSpec{});
  spec.segment = {1, 2, 3};
  spec.named_data = std::move(named);
  return spec;
}

template <class Reader>
class Held {
 public:
  explicit Held(const Bytes& file)
      : block_(file.size()), loader_(block_.span().data(), file.size()), reader_(load(file)) {}
  Reader* operator->() { return &*reader_; }
  Reader& operator*() { return *reader_; }

 private:
  Result<Reader> load(const Bytes& file) {
    std::memcpy(block_.span().data(), file.data(), file.size());
    return Reader::load(loader_);
  }
  Block block_;
  BufferDataLoader loader_;
  Result<Reader> reader_;
};

TEST_F(DataMap, OfAProgram_GivesItsSegmentsByName) {
  Held<Program> program(build(program_with({{"first", 0}, {"second", 0}})));
  const ProgramDataMap map(*program);
  ASSERT_EQ(*map.num_keys(), 2u);
  EXPECT_STREQ(*map.key(1), "second");
  EXPECT_THAT(items(map.data("second")->bytes()), ElementsAre(1, 2, 3));
  uint8_t buffer[2] = {};
  EXPECT_EQ(map.load_into("first", buffer, 2), Error::Ok);
  EXPECT_THAT(buffer, ElementsAre(1, 2));
  EXPECT_EQ(map.load_into("first", buffer, 4), Error::InvalidArgument);
  EXPECT_EQ(map.tensor_layout("first").error(), Error::InvalidArgument);
  EXPECT_EQ(map.key(2).error(), Error::InvalidArgument);
  EXPECT_EQ(map.data("third").error(), Error::NotFound);
  EXPECT_THAT(log(), AllOf(HasSubstr("first: expected at least 4 bytes"), HasSubstr("third: not in")));
}

TEST_F(DataMap, OfAProgram_IsRefused_WhereTheSegmentIsMissing) {
  Held<Program> program(build(program_with({{"lost", 1}})));
  EXPECT_EQ(ProgramDataMap(*program).data("lost").error(), Error::InvalidProgram);
  EXPECT_THAT(log(), HasSubstr("segment 1 of 1"));
}

DataFileSpec keys(const std::vector<std::string>& names) {
  DataFileSpec spec;
  for (const std::string& name : names) spec.entries.push_back({name, floats({1, 2}), LayoutSpec{}});
  return spec;
}

TEST_F(DataMap, Merged_AsksTheMapThatHasTheKey) {
  Held<FlatTensor> a(build(keys({"a", "b"})));
  Held<FlatTensor> c(build(keys({"c"})));
  Held<Program> program(build(program_with({{"blob", 0}})));
  const ProgramDataMap blobs(*program);
  const NamedDataMap* maps[] = {&*a, nullptr, &*c, &blobs};
  const auto merged = MergedDataMap::merge(maps);
  ASSERT_TRUE(merged.ok());
  ASSERT_EQ(*merged->num_keys(), 4u);
  EXPECT_STREQ(*merged->key(2), "c");
  EXPECT_STREQ(*merged->key(3), "blob");
  EXPECT_EQ(merged->key(4).error(), Error::InvalidArgument);
  EXPECT_EQ(merged->data("c")->data(), c->data("c")->data());
  EXPECT_EQ(merged->tensor_layout("b")->nbytes, 8u);
  uint8_t buffer[3] = {};
  EXPECT_EQ(merged->load_into("blob", buffer, 3), Error::Ok);
  EXPECT_THAT(buffer, ElementsAre(1, 2, 3));
  EXPECT_EQ(merged->data("d").error(), Error::NotFound);
  EXPECT_THAT(log(), HasSubstr("d: not in any of 4"));
}

TEST_F(DataMap, Merged_IsRefused_WhereTwoMapsShareAKey) {
  Held<FlatTensor> a(build(keys({"a", "shared"})));
  Held<FlatTensor> b(build(keys({"shared", "b"})));
  const NamedDataMap* maps[] = {&*a, &*b};
  EXPECT_EQ(MergedDataMap::merge(maps).error(), Error::InvalidArgument);
  EXPECT_THAT(log(), HasSubstr("shared"));
}

// Says at once whether it has a key; its keys are not to be asked for one by one.
class AtOnce final : public NamedDataMap {
 public:
  [[nodiscard]] Result<TensorLayout> tensor_layout(std::string_view) const override {
    return Error::NotFound;
  }
  [[nodiscard]] Result<FreeableBuffer> data(std::string_view) const override { return FreeableBuffer(); }
  Error load_into(std::string_view, void*, size_t) const override { return Error::NotFound; }
  [[nodiscard]] Result<uint32_t> num_keys() const override { return 1u; }
  [[nodiscard]] Result<bool> has(std::string_view key) const override { return key == "own"; }
  [[nodiscard]] Result<const char*> key(uint32_t) const override {
    ADD_FAILURE() << "one key after the other";
    return Error::NotFound;
  }
};

TEST_F(DataMap, Merged_AsksMapsForOneKeyEach) {
  Held<FlatTensor> a(build(keys({"a", "b"})));
  const AtOnce other;
  const NamedDataMap* maps[] = {&*a, &other};
  const auto merged = MergedDataMap::merge(maps);
  ASSERT_TRUE(merged.ok());
  EXPECT_TRUE(merged->data("own").ok());
  EXPECT_TRUE(merged->data("b").ok());
  EXPECT_EQ(merged->data("c").error(), Error::NotFound);
}

TEST_F(DataMap, Merged_OfNone_IsEmpty) {
  const auto merged = MergedDataMap::merge({});
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(*merged->num_keys(), 0u);
}

}  // namespace
}  // namespace rushlight
