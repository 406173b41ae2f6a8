// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/program/bundled_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/support/data_files.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Opened {
  explicit Opened(const Bytes& file) : block(file.size()) {
    if (!file.empty()) std::memcpy(block.span().data(), file.data(), file.size());
    ::testing::internal::CaptureStderr();
    auto result = BundledProgram::open({block.span().data(), file.size()});
    log = ::testing::internal::GetCapturedStderr();
    error = result.error();
    if (result.ok()) bundle.emplace(std::move(*result));
  }
  Block block;
  std::optional<BundledProgram> bundle;
  Error error;
  std::string log;
};

BundleSpec one_case(std::vector<NodePtr> inputs, std::vector<NodePtr> outputs = {}) {
  BundleSpec spec;
  spec.program = {1, 2, 3};
  spec.cases = {{std::move(inputs), std::move(outputs)}};
  return spec;
}

TEST(BundledProgram, GivesTheProgramAndTheCases) {
  const BundleSpec spec = one_case({bundled_tensor(floats({1, 2})), bundled_int(int64_t{1} << 40)},
                                   {bundled_bool(1), bundled_double(0.5)});
  const Opened opened(build(spec));
  ASSERT_EQ(opened.error, Error::Ok) << opened.log;
  EXPECT_THAT(items(opened.bundle->program()), ElementsAre(1, 2, 3));
  EXPECT_GE(opened.bundle->program().data(), opened.block.span().data());
  ASSERT_EQ(opened.bundle->num_suites(), 1u);
  EXPECT_STREQ(opened.bundle->method_name(0), "forward");
  ASSERT_EQ(*opened.bundle->num_cases("forward"), 1u);
  const BundledCase one = *opened.bundle->test_case("forward", 0);
  ASSERT_EQ(one.num_inputs(), 2u);
  ASSERT_EQ(one.num_outputs(), 2u);
  const BundledValue tensor = one.input(0);
  EXPECT_EQ(tensor.tag, Tag::Tensor);
  EXPECT_EQ(tensor.layout.scalar_type, ScalarType::Float);
  EXPECT_THAT(items(tensor.layout.sizes), ElementsAre(2));
  EXPECT_EQ(tensor.data.size(), 8u);
  EXPECT_EQ(one.input(1).number.to_int(), int64_t{1} << 40);
  EXPECT_TRUE(one.expected_output(0).number.to_bool());
  EXPECT_EQ(one.expected_output(1).number.to_double(), 0.5);
}

TEST(BundledProgram, NamesTheMethodAndTheCaseThatAreMissing) {
  const Opened opened(build(one_case({})));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(opened.bundle->num_cases("backward").error(), Error::NotFound);
  EXPECT_EQ(opened.bundle->test_case("forward", 1).error(), Error::InvalidArgument);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("backward"));
  EXPECT_THAT(log, HasSubstr("case 1 of 1"));
}

TEST(BundledProgram, OfThePackage_HoldsTheProgram) {
  const Opened opened(interop_file("bundled/model.bpte"));
  ASSERT_EQ(opened.error, Error::Ok) << opened.log;
  const Bytes apart = interop_file("bundled/model.pte");
  const auto program = opened.bundle->program();
  ASSERT_EQ(program.size(), apart.size());
  EXPECT_EQ(std::memcmp(program.data(), apart.data(), apart.size()), 0);
  EXPECT_GT(*opened.bundle->num_cases("forward"), 0u);
}

TEST(BundledProgram, IsRefused_WithAnotherIdentifierOrVersion) {
  BundleSpec spec = one_case({});
  spec.identifier = "BP07";
  EXPECT_THAT(Opened(build(spec)).log, HasSubstr("BP08"));
  spec = one_case({});
  spec.version = 3;
  const Opened newer(build(spec));
  EXPECT_EQ(newer.error, Error::NotSupported);
  EXPECT_THAT(newer.log, HasSubstr("3"));
  EXPECT_EQ(Opened(Bytes(11)).error, Error::InvalidProgram);
}

TEST(BundledProgram, IsRefused_WithoutAProgram) {
  BundleSpec spec = one_case({});
  spec.program.clear();
  EXPECT_THAT(Opened(build(spec)).log, HasSubstr("no program"));
}

TEST(BundledProgram, IsRefused_WithATensorThatIsNotWhole) {
  const auto refused = [](const Bytes& data, const LayoutSpec& layout, const std::string& word) {
    const Opened opened(build(one_case({}, {bundled_tensor(data, layout)})));
    EXPECT_EQ(opened.error, Error::InvalidProgram) << word;
    EXPECT_THAT(opened.log, HasSubstr(word));
    EXPECT_THAT(opened.log, HasSubstr("forward"));
  };
  refused(floats({1}), {}, "takes 8 bytes, the file has 4");
  refused(floats({1, 2, 3}), {}, "takes 8 bytes, the file has 12");
  refused(floats({1, 2}), {{-2}, ScalarType::Float, {0}}, "negative");
  refused(floats({1, 2}), {{2, 1}, ScalarType::Float, {0, 2}}, "permutation");
  refused(floats({1, 2}), {{2}, static_cast<ScalarType>(50), {0}}, "50");
}

TEST(BundledProgram, IsRefused_WithAValueOfNoKind) {
  const NodePtr no_kind = table({{0, number<uint8_t>(0)}});
  EXPECT_EQ(Opened(build(one_case({no_kind}))).error, Error::InvalidProgram);
  const NodePtr no_content = table({{0, number<uint8_t>(1)}});
  EXPECT_EQ(Opened(build(one_case({no_content}))).error, Error::InvalidProgram);
  const NodePtr unknown = table({{0, number<uint8_t>(5)}, {1, link(table({}))}});
  EXPECT_EQ(Opened(build(one_case({unknown}))).error, Error::InvalidProgram);
}

TEST(BundledProgram, IsOpenedOrRefused_HoweverDamaged) {
  unsigned opened_count = 0;
  for_each_mutant(interop_file("bundled/model.bpte"), 2000, [&](const Bytes& file) {
    const Opened opened(file);
    if (!opened.bundle) return;
    ++opened_count;
    for (size_t i = 0; i < opened.bundle->num_suites(); ++i) {
      const char* method = opened.bundle->method_name(i);
      for (size_t j = 0; j < *opened.bundle->num_cases(method); ++j) {
        const BundledCase one = *opened.bundle->test_case(method, j);
        for (size_t k = 0; k < one.num_inputs(); ++k) {
          ASSERT_EQ(one.input(k).data.size(), one.input(k).layout.nbytes);
        }
        for (size_t k = 0; k < one.num_outputs(); ++k) static_cast<void>(one.expected_output(k));
      }
    }
  });
  EXPECT_GT(opened_count, 0u);
}

}  // namespace
}  // namespace rushlight
