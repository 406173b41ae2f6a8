// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/module/module.h"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/support/kernels.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PlanSpec doubling_plan() {
  PlanSpec plan;
  plan.values = {tensor({}), tensor({})};  // both the caller's memory
  plan.inputs = {0};
  plan.outputs = {1};
  plan.operators = {{"test::add", ""}};
  plan.instructions = {call(0, {0, 0, 1})};
  return plan;
}

void expect_doubling(const Module& module) {
  const auto method = module.load_method("forward");
  ASSERT_TRUE(method.ok());
  FloatTensor input({2}, {1, 2});
  ASSERT_EQ((*method)->method().set_input(0, input.value()), Error::Ok);
  ASSERT_EQ((*method)->method().execute(), Error::Ok);
  EXPECT_THAT(elements((*method)->method().output(0)), ElementsAre(2, 4));
}

TEST(Module, RunsAProgram_FromBytesAndFromAFile) {
  const Bytes file = build(doubling_plan());
  const auto from_bytes = Module::load_bytes({file.data(), file.size()}, kernels);
  ASSERT_TRUE(from_bytes.ok());
  expect_doubling(**from_bytes);

  const std::string path = ::testing::TempDir() + "rushlight_module_test.pte";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<long>(file.size()));
  const auto from_file = Module::load_file(path.c_str(), kernels);
  std::remove(path.c_str());
  ASSERT_TRUE(from_file.ok());
  expect_doubling(**from_file);
}

TEST(Module, GivesEveryMethodStateOfItsOwn) {
  PlanSpec plan = doubling_plan();
  plan.values = {tensor({.constant = 1, .memory_id = 1, .mutable_segment = 0})};
  plan.inputs = {};
  plan.outputs = {0};
  plan.instructions = {call(0, {0, 0, 0})};
  plan.buffer_sizes = {0, 8};
  ProgramSpec spec;
  spec.plans = {plan};
  spec.segment = floats({1, 3});
  spec.mutable_offsets = {0, 0};
  const Bytes file = build(spec);
  const auto module = Module::load_bytes({file.data(), file.size()}, kernels);
  const auto first = (*module)->load_method("forward");
  const auto second = (*module)->load_method("forward");
  ASSERT_TRUE(first.ok() && second.ok());
  for (int i = 0; i < 3; ++i) ASSERT_EQ((*first)->method().execute(), Error::Ok);
  ASSERT_EQ((*second)->method().execute(), Error::Ok);
  EXPECT_THAT(elements((*first)->method().output(0)), ElementsAre(8, 24));
  EXPECT_THAT(elements((*second)->method().output(0)), ElementsAre(2, 6));
}

TEST(Module, SaysWhatIsWrong_WithFilesThatAreNone) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Module::load_file("/nowhere/model.pte", kernels).error(), Error::AccessFailed);
  EXPECT_EQ(Module::load_file("/", kernels).error(), Error::AccessFailed);
  EXPECT_EQ(Module::load_bytes({}, kernels).error(), Error::InvalidProgram);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("/nowhere/model.pte: No such file"));
}

TEST(Module, RefusesMemoryThatNobodyHas) {
  PlanSpec plan = doubling_plan();
  plan.buffer_sizes = {0, INT64_MAX / 2};
  const Bytes file = build(plan);
  const auto module = Module::load_bytes({file.data(), file.size()}, kernels);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ((*module)->load_method("forward").error(), Error::MemoryAllocationFailed);
  ::testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace rushlight
