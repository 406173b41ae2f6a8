// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/program/flat_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/support/data_files.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A data file over bytes that live as long as this does.
struct Opened {
  explicit Opened(const Bytes& file) : block(file.size()), loader(block.span().data(), file.size()) {
    if (!file.empty()) std::memcpy(block.span().data(), file.data(), file.size());
    ::testing::internal::CaptureStderr();
    auto result = FlatTensor::load(loader);
    log = ::testing::internal::GetCapturedStderr();
    error = result.error();
    if (result.ok()) map.emplace(std::move(*result));
  }
  Block block;
  BufferDataLoader loader;
  std::optional<FlatTensor> map;
  Error error;
  std::string log;
};

DataFileSpec two_keys() {
  DataFileSpec spec;
  spec.entries = {{"weight", floats({1, 2, 3, 4, 5, 6}), LayoutSpec{{2, 3}, ScalarType::Float, {1, 0}}},
                  {"blob", {9, 8, 7}, std::nullopt}};
  return spec;
}

Bytes with_entry(const NamedSpec& entry) {
  DataFileSpec spec;
  spec.entries = {entry};
  return build(spec);
}

TEST(FlatTensor, GivesLayoutAndDataInPlace) {
  const Opened opened(build(two_keys()));
  ASSERT_EQ(opened.error, Error::Ok) << opened.log;
  const auto layout = opened.map->tensor_layout("weight");
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->scalar_type, ScalarType::Float);
  EXPECT_THAT(items(layout->sizes), ElementsAre(2, 3));
  EXPECT_THAT(items(layout->dim_order), ElementsAre(1, 0));
  EXPECT_EQ(layout->nbytes, 24u);
  const auto data = opened.map->data("weight");
  ASSERT_TRUE(data.ok());
  ASSERT_EQ(data->size(), 24u);
  EXPECT_EQ(static_cast<const float*>(data->data())[5], 6);
  const auto* start = opened.block.span().data();
  EXPECT_GT(data->data(), start);
  EXPECT_LT(data->data(), start + opened.block.span().size());
}

TEST(FlatTensor, ListsItsKeys) {
  const Opened opened(build(two_keys()));
  ASSERT_EQ(*opened.map->num_keys(), 2u);
  EXPECT_STREQ(*opened.map->key(0), "weight");
  EXPECT_STREQ(*opened.map->key(1), "blob");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(opened.map->key(2).error(), Error::InvalidArgument);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("2 of 2"));
}

TEST(FlatTensor, FindsTheSameWhenItsKeysAreSorted) {
  DataFileSpec spec;
  for (const char* key : {"b", "ab", "a", "", "b.0", "ab"}) {
    spec.entries.push_back({key, {static_cast<uint8_t>(spec.entries.size())}, std::nullopt});
  }
  Opened opened(build(spec));
  ASSERT_EQ(opened.error, Error::Ok) << opened.log;
  std::vector<uint32_t> sorted(*opened.map->num_keys());
  opened.map->sort_keys({sorted.data(), sorted.size()});
  EXPECT_THAT(sorted, ElementsAre(3, 2, 1, 5, 0, 4));
  for (uint8_t i = 0; i < 5; ++i) {
    uint8_t held = 0;
    ASSERT_EQ(opened.map->load_into(*opened.map->key(i), &held, 1), Error::Ok);
    EXPECT_EQ(held, i);
    EXPECT_TRUE(*opened.map->has(*opened.map->key(i)));
  }
  for (const char* key : {"c", "aa", "b.", "0"}) EXPECT_FALSE(*opened.map->has(key));
}

TEST(FlatTensor, CopiesAsMuchAsItIsAskedFor) {
  const Opened opened(build(two_keys()));
  uint8_t buffer[3] = {};
  ASSERT_EQ(opened.map->load_into("blob", buffer, 2), Error::Ok);
  EXPECT_THAT(buffer, ElementsAre(9, 8, 0));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(opened.map->load_into("blob", buffer, 4), Error::InvalidArgument);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), AllOf(HasSubstr("blob"), HasSubstr("got 3")));
}

TEST(FlatTensor, NamesTheKeyThatIsMissing_AndTheOneThatIsNoTensor) {
  const Opened opened(build(two_keys()));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(opened.map->data("bias").error(), Error::NotFound);
  EXPECT_EQ(opened.map->tensor_layout("blob").error(), Error::InvalidArgument);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), AllOf(HasSubstr("bias"), HasSubstr("blob")));
}

TEST(FlatTensor, SharesASegmentBetweenKeys) {
  DataFileSpec spec = two_keys();
  spec.entries.push_back({"alias", {}, LayoutSpec{}, 0});
  const Opened opened(build(spec));
  ASSERT_EQ(opened.error, Error::Ok) << opened.log;
  EXPECT_EQ(opened.map->data("alias")->data(), opened.map->data("weight")->data());
}

TEST(FlatTensor, OfThePackage_IsRead) {
  const Opened opened(interop_file("external_ptd/weights.ptd"));
  ASSERT_EQ(opened.error, Error::Ok) << opened.log;
  EXPECT_EQ(*opened.map->num_keys(), 4u);
  const auto layout = opened.map->tensor_layout("0.weight");
  ASSERT_TRUE(layout.ok());
  EXPECT_THAT(items(layout->sizes), ElementsAre(32, 16));
  EXPECT_EQ(opened.map->data("0.weight")->size(), layout->nbytes);
}

struct Damage {
  const char* name;
  std::function<Bytes()> file;
  Error error;
  std::vector<std::string> words;
};

Bytes changed(const std::function<void(DataFileSpec*)>& change) {
  DataFileSpec spec = two_keys();
  change(&spec);
  return build(spec);
}

const Damage kDamages[] = {
    {"Empty", [] { return Bytes(); }, Error::InvalidExternalData, {"0 bytes"}},
    {"Identifier",
     [] { return changed([](DataFileSpec* s) { s->identifier = "ET12"; }); },
     Error::InvalidExternalData,
     {"FT01"}},
    {"NoHeader",
     [] { return changed([](DataFileSpec* s) { s->header = "eh00"; }); },
     Error::InvalidExternalData,
     {"FH01"}},
    {"ShortHeader",
     [] { return changed([](DataFileSpec* s) { s->header_length = 39; }); },
     Error::InvalidExternalData,
     {"39", "40"}},
    {"Version",
     [] { return changed([](DataFileSpec* s) { s->version = 7; }); },
     Error::NotSupported,
     {"7", "0"}},
    {"CutOff",
     [] { return changed([](DataFileSpec* s) { s->cut = 1; }); },
     Error::InvalidExternalData,
     {"bytes of data at"}},
    {"Segment",
     [] { return with_entry({"w", floats({1, 2}), LayoutSpec{}, 1}); },
     Error::InvalidExternalData,
     {"w: segment 1 of 1"}},
    {"TooFewBytes",
     [] { return with_entry({"w", floats({1}), LayoutSpec{}}); },
     Error::InvalidExternalData,
     {"w", "8 bytes in 4"}},
    {"Dtype",
     [] { return with_entry({"w", floats({1, 2}), LayoutSpec{{2}, static_cast<ScalarType>(99), {0}}}); },
     Error::InvalidExternalData,
     {"w", "99"}},
    {"NegativeSize",
     [] { return with_entry({"w", floats({1, 2}), LayoutSpec{{-2}, ScalarType::Float, {0}}}); },
     Error::InvalidExternalData,
     {"w", "negative"}},
    {"Overflow",
     [] {
       return with_entry({"w", floats({1}), LayoutSpec{{65536, 65536, 65536, 65536}, ScalarType::Float, {}}});
     },
     Error::InvalidExternalData,
     {"w", "too many"}},
    {"DimOrder",
     [] { return with_entry({"w", floats({1, 2}), LayoutSpec{{2, 1}, ScalarType::Float, {0, 0}}}); },
     Error::InvalidExternalData,
     {"w", "permutation"}},
    {"Rank",
     [] {
       return with_entry({"w", floats({1}), LayoutSpec{std::vector<int32_t>(17, 1), ScalarType::Float, {}}});
     },
     Error::InvalidExternalData,
     {"17", "16"}},
    {"Alignment",
     [] {
       DataFileSpec spec;
       spec.segment_alignment = 1;
       spec.entries = {{"a", {1}, std::nullopt}, {"w", floats({1, 2}), LayoutSpec{}}};
       return build(spec);
     },
     Error::InvalidExternalData,
     {"w", "multiple of 4"}},
    {"AlignmentOfTheBase",
     [] {
       Bytes file = with_entry({"w", floats({1, 2}), LayoutSpec{}});
       file[32] = static_cast<uint8_t>(file[32] + 2);  // where the header says that segments begin
       file.insert(file.end(), 2, 0);
       return file;
     },
     Error::InvalidExternalData,
     {"w", "multiple of 4"}},
};

class FlatTensorDamage : public ::testing::TestWithParam<Damage> {};

TEST_P(FlatTensorDamage, IsRefused) {
  const Opened opened(GetParam().file());
  EXPECT_EQ(opened.error, GetParam().error);
  for (const std::string& word : GetParam().words) EXPECT_THAT(opened.log, HasSubstr(word));
}

INSTANTIATE_TEST_SUITE_P(All, FlatTensorDamage, ::testing::ValuesIn(kDamages),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FlatTensor, IsLoadedOrRefused_HoweverDamaged) {
  unsigned loaded = 0;
  for_each_mutant(interop_file("external_ptd/weights.ptd"), 2000, [&](const Bytes& file) {
    const Opened opened(file);
    if (!opened.map) return;
    ++loaded;
    ::testing::internal::CaptureStderr();
    for (uint32_t i = 0; i < *opened.map->num_keys(); ++i) {
      const char* key = *opened.map->key(i);
      const auto data = opened.map->data(key);
      ASSERT_TRUE(data.ok());
      unsigned sum = 0;
      for (const uint8_t byte : data->bytes()) sum += byte;
      ASSERT_LE(sum, 255 * data->size());
      const auto layout = opened.map->tensor_layout(key);
      ASSERT_LE(layout.ok() ? layout->nbytes : 0, data->size());
    }
    ::testing::internal::GetCapturedStderr();
  });
  EXPECT_GT(loaded, 0u);
}

}  // namespace
}  // namespace rushlight
