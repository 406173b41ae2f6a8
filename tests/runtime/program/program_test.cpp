// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/program/program.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/program/method_meta.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PlanSpec empty_plan(const std::string& name = "forward") {
  PlanSpec plan;
  plan.name = name;
  return plan;
}

// A program over bytes that live as long as this does.
struct Opened {
  explicit Opened(const Bytes& file) : block(file.size()), loader(block.span().data(), file.size()) {
    if (!file.empty()) std::memcpy(block.span().data(), file.data(), file.size());
    ::testing::internal::CaptureStderr();
    auto result = Program::load(loader);
    log = ::testing::internal::GetCapturedStderr();
    error = result.error();
    if (result.ok()) program.emplace(std::move(*result));
  }
  Block block;
  BufferDataLoader loader;
  std::optional<Program> program;
  Error error;
  std::string log;
};

ProgramSpec one_plan() {
  ProgramSpec spec;
  spec.plans.push_back(empty_plan());
  return spec;
}

TEST(Program, NamesItsMethods) {
  ProgramSpec spec;
  spec.plans = {empty_plan("encode"), empty_plan("decode")};
  const Opened opened(build(spec));
  ASSERT_EQ(opened.error, Error::Ok) << opened.log;
  ASSERT_EQ(opened.program->num_methods(), 2u);
  EXPECT_STREQ(opened.program->method_name(1), "decode");
  EXPECT_STREQ(opened.program->method_meta("decode")->name(), "decode");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(opened.program->method_meta("forward").error(), Error::NotFound);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("encode"));
}

TEST(Program, IsRead_WithAndWithoutExtendedHeader) {
  for (const uint32_t length : {0u, 24u, 32u, 40u}) {
    ProgramSpec spec = one_plan();
    spec.header_length = length;
    EXPECT_EQ(Opened(build(spec)).error, Error::Ok) << length;
  }
}

TEST(Program, IsRefused_WithTooShortAnExtendedHeader) {
  ProgramSpec spec = one_plan();
  spec.header_length = 23;
  const Opened opened(build(spec));
  EXPECT_EQ(opened.error, Error::InvalidProgram);
  EXPECT_THAT(opened.log, HasSubstr("24"));
}

TEST(Program, IsRefused_WithAnotherIdentifier) {
  ProgramSpec spec = one_plan();
  spec.identifier = "BP08";
  const Opened opened(build(spec));
  EXPECT_EQ(opened.error, Error::InvalidProgram);
  EXPECT_THAT(opened.log, HasSubstr("ET12"));
}

TEST(Program, IsRefused_InAVersionOfTheFuture) {
  ProgramSpec spec = one_plan();
  spec.version = 1;
  const Opened opened(build(spec));
  EXPECT_EQ(opened.error, Error::NotSupported);
  EXPECT_THAT(opened.log, HasSubstr("version 1"));
}

TEST(Program, IsRefused_WhenCutAnywhere) {
  ProgramSpec spec = one_plan();
  spec.segment = Bytes(64, 1);
  spec.constant_offsets = {0, 0};
  const Bytes file = build(spec);
  ASSERT_EQ(Opened(file).error, Error::Ok);
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_EQ(Opened(Bytes(file.begin(), file.begin() + static_cast<long>(size))).error,
              Error::InvalidProgram)
        << size;
  }
}

TEST(Program, IsRefused_WhenItsHeaderPointsOutside) {
  const Bytes file = build(one_plan());
  for (const size_t field : {16, 24, 32}) {
    for (const uint64_t value : {uint64_t{file.size()} + 1, UINT64_MAX, uint64_t{1} << 63}) {
      Bytes changed = file;
      std::memcpy(&changed[field], &value, 8);
      EXPECT_EQ(Opened(changed).error, Error::InvalidProgram) << field << " " << value;
    }
  }
}

TEST(Constants, AreFound_InlineAndInTheSegment) {
  ProgramSpec with_buffers = one_plan();
  with_buffers.inline_constants = {{}, floats({1, 2, 3})};
  ProgramSpec with_segment = one_plan();
  with_segment.segment = floats({9, 9, 9, 9, 1, 2, 3, 9});
  with_segment.constant_offsets = {0, 16};
  for (const ProgramSpec& spec : {with_buffers, with_segment}) {
    const Opened opened(build(spec));
    ASSERT_EQ(opened.error, Error::Ok) << opened.log;
    const auto bytes = opened.program->constant(1, 12);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(std::memcmp(*bytes, floats({1, 2, 3}).data(), 12), 0);
  }
}

TEST(Constants, AreRefused_BeyondTheirBytesAndCount) {
  ProgramSpec with_buffers = one_plan();
  with_buffers.inline_constants = {{}, floats({1, 2, 3})};
  ProgramSpec with_segment = one_plan();
  with_segment.segment = floats({1, 2, 3});
  with_segment.constant_offsets = {0, 0, 13, UINT64_MAX};
  for (const ProgramSpec& spec : {with_buffers, with_segment}) {
    const Opened opened(build(spec));
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(opened.program->constant(1, 12).ok());
    EXPECT_EQ(opened.program->constant(1, 13).error(), Error::InvalidProgram);
    EXPECT_EQ(opened.program->constant(1, SIZE_MAX).error(), Error::InvalidProgram);
    EXPECT_EQ(opened.program->constant(2, 1).error(), Error::InvalidProgram);
    EXPECT_EQ(opened.program->constant(3, 1).error(), Error::InvalidProgram);
    EXPECT_EQ(opened.program->constant(4, 0).error(), Error::InvalidProgram);
    ::testing::internal::GetCapturedStderr();
  }
}

TEST(Constants, AreRefused_InASegmentThatDoesNotExist) {
  ProgramSpec spec = one_plan();
  spec.constant_offsets = {0, 0};
  EXPECT_EQ(Opened(build(spec)).error, Error::InvalidProgram);
}

TEST(MutableState, IsCopied_WithinItsSegmentOnly) {
  ProgramSpec spec = one_plan();
  spec.segment = floats({1, 2, 3});
  spec.mutable_offsets = {0, 4, 20};
  const Opened opened(build(spec));
  ASSERT_EQ(opened.error, Error::Ok) << opened.log;
  float target[3] = {};
  EXPECT_EQ(opened.program->load_mutable(0, 1, target, 8), Error::Ok);
  EXPECT_THAT(target, ElementsAre(2, 3, 0));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(opened.program->load_mutable(0, 1, target, 12), Error::InvalidProgram);
  EXPECT_EQ(opened.program->load_mutable(0, 2, target, 0), Error::InvalidProgram);
  EXPECT_EQ(opened.program->load_mutable(0, 3, target, 0), Error::InvalidProgram);
  EXPECT_EQ(opened.program->load_mutable(1, 0, target, 0), Error::InvalidProgram);
  EXPECT_EQ(opened.program->load_mutable(UINT64_MAX, 0, target, 0), Error::InvalidProgram);
  ::testing::internal::GetCapturedStderr();
}

TEST(MethodMeta, DescribesInputsOutputsAndMemory) {
  PlanSpec plan;
  plan.values = {tensor({.sizes = {2, 3}, .dynamism = TensorShapeDynamism::DYNAMIC_BOUND, .memory_id = 1}),
                 integer(4)};
  plan.inputs = {0, 1};
  plan.outputs = {0};
  plan.buffer_sizes = {0, 64, 0};
  const Opened opened(build(plan));
  ASSERT_EQ(opened.error, Error::Ok) << opened.log;
  const auto meta = opened.program->method_meta("forward");
  EXPECT_EQ(meta->num_inputs(), 2u);
  EXPECT_EQ(meta->num_outputs(), 1u);
  EXPECT_EQ(*meta->input_tag(1), Tag::Int);
  const auto info = meta->input_tensor(0);
  EXPECT_EQ(info->scalar_type, ScalarType::Float);
  EXPECT_EQ(info->dynamism, TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_TRUE(info->is_memory_planned);
  EXPECT_THAT(std::vector<int>(info->sizes.begin(), info->sizes.end()), ElementsAre(2, 3));
  EXPECT_EQ(meta->num_planned_buffers(), 2u);
  EXPECT_EQ(*meta->planned_buffer_size(0), 64u);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(meta->input_tensor(1).error(), Error::InvalidType);
  EXPECT_EQ(meta->input_tag(2).error(), Error::InvalidArgument);
  EXPECT_EQ(meta->output_tensor(1).error(), Error::InvalidArgument);
  EXPECT_EQ(meta->planned_buffer_size(2).error(), Error::InvalidArgument);
  ::testing::internal::GetCapturedStderr();
}

TEST(MethodMeta, RefusesValuesAndSizesThatCannotBe) {
  PlanSpec plan;
  plan.inputs = {0, -1};
  plan.buffer_sizes = {0, -1, INT64_MAX};
  const Opened opened(build(plan));
  const auto meta = opened.program->method_meta("forward");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(meta->input_tag(0).error(), Error::InvalidProgram);
  EXPECT_EQ(meta->input_tensor(1).error(), Error::InvalidProgram);
  EXPECT_EQ(meta->planned_buffer_size(0).error(), Error::InvalidProgram);
  ::testing::internal::GetCapturedStderr();
}

TEST(BufferDataLoader, GivesRangesOfItsData_RefusesOthers) {
  const Bytes bytes = floats({1, 2});
  BufferDataLoader loader(bytes.data(), bytes.size());
  EXPECT_EQ(loader.load(4, 4)->data(), bytes.data() + 4);
  EXPECT_TRUE(loader.load(8, 0).ok());
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(loader.load(4, 5).error(), Error::InvalidArgument);
  EXPECT_EQ(loader.load(SIZE_MAX, 2).error(), Error::InvalidArgument);
  ::testing::internal::GetCapturedStderr();
}

TEST(FreeableBuffer, FreesOnce_WhereverItMoves) {
  int freed = 0;
  {
    FreeableBuffer first("abc", 3, [](void* count, void*, size_t) { ++*static_cast<int*>(count); }, &freed);
    FreeableBuffer second(std::move(first));
    FreeableBuffer third;
    third = std::move(second);
    EXPECT_EQ(freed, 0);
    EXPECT_EQ(third.size(), 3u);
  }
  EXPECT_EQ(freed, 1);
}

}  // namespace
}  // namespace rushlight
