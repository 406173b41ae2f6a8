// SPDX-License-Identifier: BSD-3-Clause
// Constants that kernels prepare when a method is loaded. The kernel adds a reversed constant and records
// whether it was given the prepared bytes; sums show that prepared and unprepared calls agree.
#include <array>
#include <cstring>
#include <ctime>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/executor/prepare_support.h"
#include "runtime/kernel/boxing.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;

constexpr uint64_t kReversed = layout_id(1, 2);
int preparations = 0;
bool had_prepared = false;

// out = a + b reversed, of two elements; b reversed is prepared where b is a constant.
Error add_reversed_prepare(KernelContext& context, const Tensor&, const Tensor& b, Tensor&) {
  context.need_scratch(2 * sizeof(float));
  if (b.impl()->storage() != Storage::Constant) return Error::Ok;
  const auto* from = b.const_data_ptr<float>();
  if (void* made = context.prepare(from, kReversed, 2 * sizeof(float))) {
    ++preparations;
    const std::array<float, 2> reversed = {from[1], from[0]};
    std::memcpy(made, reversed.data(), sizeof(reversed));
  }
  return Error::Ok;
}

Error add_reversed(KernelContext& context, const Tensor& a, const Tensor& b, Tensor& out) {
  const auto* reversed = static_cast<const float*>(context.prepared());
  had_prepared = reversed != nullptr;
  std::array<float, 2> own;
  if (reversed == nullptr) {
    own = {b.const_data_ptr<float>()[1], b.const_data_ptr<float>()[0]};
    reversed = own.data();
  }
  for (size_t i = 0; i < 2; ++i)
    out.mutable_data_ptr<float>()[i] = a.const_data_ptr<float>()[i] + reversed[i];
  return Error::Ok;
}

const KernelEntry kEntries[] = {
    {"test::add_reversed", &call_unpacked<decltype(&add_reversed)>, signature_of<&add_reversed>(),
     RL_ERASED(add_reversed), RL_ERASED(add_reversed_prepare)},
};
const OperatorTable kTable = {kEntries, 1, nullptr, kPrepareSupport};

// Adds the same constant twice; with `constant` 0 it is an input instead.
ProgramSpec program_of(uint32_t constant) {
  PlanSpec plan;
  plan.values = {tensor({}), tensor({.constant = constant}), tensor({.memory_id = 1}),
                 tensor({.memory_id = 1, .offset = 16})};
  plan.inputs = {0};
  if (constant == 0) plan.inputs.push_back(1);
  plan.outputs = {3};
  plan.operators = {{"test::add_reversed", ""}};
  plan.instructions = {call(0, {0, 1, 2}), call(0, {2, 1, 3})};
  plan.buffer_sizes = {0, 24};
  ProgramSpec program;
  program.plans = {plan};
  program.inline_constants = {{}, floats({1, 2})};
  return program;
}

class Prepare : public ::testing::Test {
 protected:
  void SetUp() override {
    preparations = 0;
    had_prepared = false;
  }
  static void expect_sum(Method& method) {
    FloatTensor input({2}, {10, 20});
    ASSERT_EQ(method.set_input(0, input.value()), Error::Ok);
    ASSERT_EQ(method.execute(), Error::Ok);
    EXPECT_THAT(elements(method.output(0)), ElementsAre(14, 22));
  }
};

TEST_F(Prepare, MeasuresWithoutMakingAnything) {
  Loaded method(build(program_of(1)), kTable);
  Preparation needs;
  ASSERT_EQ(method->measure(nullptr, &needs), Error::Ok);
  EXPECT_EQ(needs.scratch_bytes, 8U);
  EXPECT_EQ(needs.prepared_bytes, 2 * PreparedWeights::cost(8));
  EXPECT_EQ(preparations, 0);
  expect_sum(*method);
  EXPECT_FALSE(had_prepared);
}

TEST_F(Prepare, MakesOneConstantOnce_InTheMemoryThatWasMeasured) {
  Loaded method(build(program_of(1)), kTable);
  Preparation needs;
  ASSERT_EQ(method->measure(nullptr, &needs), Error::Ok);
  alignas(64) uint8_t memory[512];
  ASSERT_LE(needs.prepared_bytes + needs.index_bytes, sizeof(memory));
  PreparedWeights weights({memory, needs.prepared_bytes + needs.index_bytes});
  ASSERT_EQ(method->prepare(&weights), Error::Ok);
  EXPECT_EQ(preparations, 1);
  expect_sum(*method);
  EXPECT_TRUE(had_prepared);
}

TEST_F(Prepare, SharesWithAMethodOfTheSameProgram) {
  const Bytes file = build(program_of(1));
  Loaded first(file, kTable);
  alignas(64) uint8_t memory[512];
  PreparedWeights weights({memory, sizeof(memory)});
  ASSERT_EQ(first->prepare(&weights), Error::Ok);
  // Another instance over the same constants.
  Preparation needs;
  ASSERT_EQ(first->measure(&weights, &needs), Error::Ok);
  EXPECT_EQ(needs.prepared_bytes, 0U);
  ASSERT_EQ(first->prepare(&weights), Error::Ok);
  EXPECT_EQ(preparations, 1);
  expect_sum(*first);
  EXPECT_TRUE(had_prepared);
}

TEST_F(Prepare, CountsOnce_WhatSeveralCallsAskFor) {
  Loaded method(build(program_of(1)), kTable);
  alignas(64) uint8_t memory[512];
  PreparedWeights counted({memory, sizeof(memory)});
  Preparation needs;
  needs.counted = &counted;
  ASSERT_EQ(method->measure(nullptr, &needs), Error::Ok);
  EXPECT_EQ(needs.prepared_bytes, PreparedWeights::cost(8));
}

TEST_F(Prepare, LeavesOut_WhatIsMoreThanTheMost) {
  Loaded method(build(program_of(1)), kTable);
  Preparation needs;
  needs.most_prepared_bytes = PreparedWeights::cost(8) - 1;
  ASSERT_EQ(method->measure(nullptr, &needs), Error::Ok);
  EXPECT_EQ(needs.prepared_bytes, 0U);
}

// With a list it took a minute, now a tenth of a second.
TEST(PreparedWeights, FindsEachOfManyBlocks_AndForgetsTheLast) {
  constexpr uint64_t kBlocks = 200000;
  std::vector<uint8_t> memory(kBlocks * PreparedWeights::cost(8));
  PreparedWeights weights({memory.data(), memory.size()});
  const std::clock_t start = std::clock();
  std::vector<void*> made;
  for (uint64_t i = 0; i < kBlocks; ++i) {
    ASSERT_EQ(weights.find(&memory[i / 3], i % 3, 8), nullptr);
    made.push_back(weights.add(&memory[i / 3], i % 3, 8));
    ASSERT_NE(made.back(), nullptr);
  }
  for (uint64_t i = 0; i < kBlocks; ++i) ASSERT_EQ(weights.find(&memory[i / 3], i % 3, 8), made[i]);
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
  EXPECT_EQ(weights.find(&memory[0], 0, 9), nullptr);
  EXPECT_FALSE(weights.note(&memory[0], 0, 8));
  weights.drop_last();
  constexpr uint64_t kLast = kBlocks - 1;
  EXPECT_EQ(weights.find(&memory[kLast / 3], kLast % 3, 8), nullptr);
  EXPECT_EQ(weights.find(&memory[0], 0, 8), made[0]);
  EXPECT_TRUE(weights.note(&memory[0], 0, 16));
  EXPECT_FALSE(weights.note(&memory[0], 0, 16));
}

TEST_F(Prepare, LeavesOut_WhatDoesNotFit) {
  Loaded method(build(program_of(1)), kTable);
  alignas(64) uint8_t memory[16];
  PreparedWeights weights({memory, sizeof(memory)});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(method->prepare(&weights), Error::Ok);
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(preparations, 0);
  expect_sum(*method);
  EXPECT_FALSE(had_prepared);
}

// The block's note and its data would fit, the padding between them does not.
TEST(PreparedWeights, LeavesOutQuietly_WhatMissesByItsAlignment) {
  struct Watcher : PreparedWeights::Watcher {
    void begin_block(size_t) override { ++blocks; }
    int blocks = 0;
  } watcher;
  alignas(64) uint8_t memory[256];
  PreparedWeights weights({memory, sizeof(memory)});
  weights.set_watcher(&watcher);
  const int source = 0;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(weights.add(&source, 1, sizeof(memory) - PreparedWeights::note_cost()), nullptr);
  EXPECT_EQ(weights.add(&source, 1, SIZE_MAX), nullptr);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(watcher.blocks, 0);
  EXPECT_EQ(weights.arena().used(), 0U);
  EXPECT_NE(weights.add(&source, 1, sizeof(memory) - PreparedWeights::cost(0)), nullptr);
  EXPECT_EQ(watcher.blocks, 1);
}

TEST_F(Prepare, TakesNothing_OfWhatIsNoConstant) {
  Loaded method(build(program_of(0)), kTable);
  Preparation needs;
  ASSERT_EQ(method->measure(nullptr, &needs), Error::Ok);
  EXPECT_EQ(needs.prepared_bytes, 0U);
}

TEST(PreparedWeights, TellsLayoutsAndSizesApart) {
  alignas(64) uint8_t memory[512];
  PreparedWeights weights({memory, sizeof(memory)});
  const int source = 0;
  void* made = weights.add(&source, layout_id(1, 3, 4), 48);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(made) % PreparedWeights::kAlignment, 0U);
  EXPECT_EQ(weights.find(&source, layout_id(1, 3, 4), 48), made);
  EXPECT_EQ(weights.find(&source, layout_id(1, 4, 3), 48), nullptr);
  EXPECT_EQ(weights.find(&source, layout_id(2, 3, 4), 48), nullptr);
  EXPECT_EQ(weights.find(&source, layout_id(1, 3, 4), 32), nullptr);
  EXPECT_EQ(weights.find(memory, layout_id(1, 3, 4), 48), nullptr);
}

}  // namespace
}  // namespace rushlight
