// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/bundled/bundled_method.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/support/data_files.h"
#include "tests/runtime/support/kernels.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::HasSubstr;

// output = input + input: two floats, the caller's memory or planned.
PlanSpec doubling(bool planned) {
  PlanSpec plan;
  plan.values = {planned ? tensor({.memory_id = 1}) : tensor({}), tensor({.memory_id = 1, .offset = 16})};
  plan.inputs = {0};
  plan.outputs = {1};
  plan.operators = {{"test::add", ""}};
  plan.instructions = {call(0, {0, 0, 1})};
  plan.buffer_sizes = {0, 24};
  return plan;
}

// A bundle whose bytes begin `shift` bytes off a multiple of 16, with a method of its program.
class Bundled : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::internal::CaptureStderr(); }
  void TearDown() override {
    if (!taken_) ::testing::internal::GetCapturedStderr();
  }
  std::string log() {
    taken_ = true;
    return ::testing::internal::GetCapturedStderr();
  }

  BundledCase open(const BundledCaseSpec& spec) {
    BundleSpec bundle;
    bundle.program = {0};
    bundle.cases = {spec};
    const Bytes file = build(bundle);
    block_.emplace(file.size());
    std::memcpy(block_->span().data(), file.data(), file.size());
    bundle_.emplace(std::move(*BundledProgram::open(block_->span())));
    return *bundle_->test_case("forward", 0);
  }

  Error verify(const std::vector<float>& expected, const BundledTolerance& tolerance = {}) {
    Loaded method(build(doubling(true)), kernels);
    const BundledCase one = open({{bundled_tensor(floats({1, 2}))}, {bundled_tensor(floats(expected))}});
    RL_TRY(load_bundled_input(*method, one));
    RL_TRY(method->execute());
    return verify_method_outputs(*method, one, tolerance);
  }

 private:
  std::optional<Block> block_;
  std::optional<BundledProgram> bundle_;
  bool taken_ = false;
};

TEST_F(Bundled, OutputsPass_WithinTheTolerance) {
  EXPECT_EQ(verify({2, 4}), Error::Ok);
  EXPECT_EQ(verify({2.00001f, 4}), Error::Ok);
  EXPECT_EQ(verify({2.1f, 4}, {0.06, 0}), Error::Ok);
  EXPECT_EQ(verify({2.1f, 4}, {0, 0.2}), Error::Ok);
}

TEST_F(Bundled, DefaultTolerance_GrowsWithTheLargestElement_AndFollowsTheDtype) {
  // float32: 1e-5 of the largest element, whatever the size of this one.
  EXPECT_EQ(verify({2 + 3e-5f, 4}), Error::Ok);
  EXPECT_EQ(verify({2 + 6e-5f, 4}), Error::InvalidArgument);
  // Given parts replace the dtype's parts and do not grow.
  EXPECT_EQ(verify({2 + 3e-5f, 4}, {0, 1e-5}), Error::InvalidArgument);
  EXPECT_EQ(verify({2 + 3e-5f, 4}, {0, BundledTolerance::kByDtype}), Error::Ok);
}

TEST_F(Bundled, OutputsFail_BeyondTheTolerance_AndTheLogSaysWhere) {
  EXPECT_EQ(verify({2, 4.1f}), Error::InvalidArgument);
  EXPECT_EQ(verify({2.1f, 4}, {0.04, 0}), Error::InvalidArgument);
  EXPECT_EQ(verify({2, std::nanf("")}), Error::InvalidArgument);
  EXPECT_EQ(verify({2, std::numeric_limits<float>::infinity()}, {1, 1}), Error::InvalidArgument);
  EXPECT_THAT(log(), HasSubstr("output 0: element 1"));
}

TEST_F(Bundled, OutputsFail_OfAnotherShapeDtypeOrNumber) {
  Loaded method(build(doubling(true)), kernels);
  const auto checked = [&](std::vector<NodePtr> outputs) {
    const BundledCase one = open({{bundled_tensor(floats({1, 2}))}, std::move(outputs)});
    EXPECT_EQ(load_bundled_input(*method, one), Error::Ok);
    EXPECT_EQ(method->execute(), Error::Ok);
    return verify_method_outputs(*method, one);
  };
  EXPECT_EQ(checked({bundled_tensor(floats({2}), {{1}, ScalarType::Float, {0}})}), Error::InvalidArgument);
  EXPECT_EQ(checked({bundled_tensor(floats({2, 4}), {{2, 1}, ScalarType::Float, {0, 1}})}),
            Error::InvalidArgument);
  EXPECT_EQ(checked({bundled_tensor(floats({2, 4}), {{2}, ScalarType::Int, {0}})}), Error::InvalidArgument);
  EXPECT_EQ(checked({bundled_double(2)}), Error::InvalidArgument);
  EXPECT_EQ(checked({bundled_double(2), bundled_double(2)}), Error::InvalidArgument);
  EXPECT_EQ(checked({}), Error::NotSupported);
}

TEST_F(Bundled, IntegersThatDoublesTakeForEqual_AreNot) {
  PlanSpec plan;
  plan.values = {tensor({.type = ScalarType::Long, .memory_id = 1})};
  plan.inputs = plan.outputs = {0};
  plan.buffer_sizes = {0, 16};
  Loaded method(build(plan), kernels);
  constexpr int64_t kLarge = int64_t{1} << 53;
  const auto checked = [&](int64_t expected) {
    const int64_t numbers[2][2] = {{kLarge, 7}, {expected, 7}};
    const auto* bytes = reinterpret_cast<const uint8_t*>(numbers);
    const LayoutSpec layout{{2}, ScalarType::Long, {0}};
    const Bytes input(bytes, bytes + 16);
    const Bytes output(bytes + 16, bytes + 32);
    const BundledCase one = open({{bundled_tensor(input, layout)}, {bundled_tensor(output, layout)}});
    EXPECT_EQ(load_bundled_input(*method, one), Error::Ok);
    EXPECT_EQ(method->execute(), Error::Ok);
    return verify_method_outputs(*method, one);
  };
  EXPECT_EQ(checked(kLarge), Error::Ok);
  EXPECT_EQ(checked(kLarge + 1), Error::InvalidArgument);
}

TEST_F(Bundled, InputsInPlace_NeedMemory_WhereTheBundleHasThemMisaligned) {
  // Two floats behind a bundle's own order are 4-aligned at least; two doubles need not be.
  PlanSpec plan = doubling(false);
  plan.values[0] = tensor({.type = ScalarType::Double});
  plan.instructions = {};
  Loaded method(build(plan), kernels);
  LayoutSpec layout;
  layout.type = ScalarType::Double;
  Bytes data(16);
  const BundledCase one = open({{bundled_tensor(data, layout)}, {}});
  const bool aligned = reinterpret_cast<uintptr_t>(one.input(0).data.data()) % 8 == 0;
  EXPECT_EQ(load_bundled_input(*method, one), aligned ? Error::Ok : Error::InvalidArgument);
  Block memory(16);
  Arena arena(memory.span());
  EXPECT_EQ(load_bundled_input(*method, one, &arena), Error::Ok);
  EXPECT_EQ(arena.used(), aligned ? 0u : 16u);
  Arena none;
  EXPECT_EQ(load_bundled_input(*method, one, &none), aligned ? Error::Ok : Error::MemoryAllocationFailed);
}

TEST_F(Bundled, InputsFail_OfAnotherNumber) {
  Loaded method(build(doubling(true)), kernels);
  EXPECT_EQ(load_bundled_input(*method, open({{}, {}})), Error::InvalidArgument);
  EXPECT_THAT(log(), HasSubstr("has 0 inputs, method forward takes 1"));
}

TEST_F(Bundled, ErrorsAreMeasured) {
  Loaded method(build(doubling(true)), kernels);
  const BundledCase one = open({{bundled_tensor(floats({1, 2}))}, {bundled_tensor(floats({1, 4}))}});
  ASSERT_EQ(load_bundled_input(*method, one), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  const auto stats = compute_method_output_error_stats(*method, one);
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->max_absolute, 1);
  EXPECT_EQ(stats->mean_absolute, 0.5);
  EXPECT_EQ(stats->max_relative, 1);
  EXPECT_EQ(stats->mean_relative, 0.5);
}

}  // namespace
}  // namespace rushlight
