// SPDX-License-Identifier: BSD-3-Clause
// Calls with only constant arguments, which are executed when a method is loaded. Kernels count their calls:
// a folded call is counted at load and never again.
#include <array>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/executor/prepare_support.h"
#include "runtime/kernel/boxing.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;

int flips = 0;
int packs = 0;
bool fails = false;

// out = self backwards, of two elements.
Error flip(KernelContext&, const Tensor& self, Tensor& out) {
  ++flips;
  if (fails) return Error::InvalidArgument;
  const auto* from = self.const_data_ptr<float>();
  const std::array<float, 2> flipped = {from[1], from[0]};
  std::memcpy(out.mutable_data_ptr(), flipped.data(), sizeof(flipped));
  return Error::Ok;
}

Error join(KernelContext&, Span<const Tensor> tensors, Tensor& out) {
  ++flips;
  auto* to = out.mutable_data_ptr<float>();
  for (size_t i = 0; i < 2; ++i) to[i] = tensors[i].const_data_ptr<float>()[i];
  return Error::Ok;
}

Error fill(KernelContext&, const Tensor& self, double value, Tensor& out) {
  ++flips;
  for (size_t i = 0; i < 2; ++i)
    out.mutable_data_ptr<float>()[i] = self.const_data_ptr<float>()[i] + static_cast<float>(value);
  return Error::Ok;
}

// out = a * b; b packed where it is constant.
Error multiply_prepare(KernelContext& context, const Tensor&, const Tensor& b, Tensor&) {
  if (b.impl()->storage() != Storage::Constant) return Error::Ok;
  if (void* made = context.prepare(b.const_data_ptr(), layout_id(1), 8)) {
    ++packs;
    std::memcpy(made, b.const_data_ptr(), 8);
  }
  return Error::Ok;
}

Error multiply(KernelContext& context, const Tensor& a, const Tensor& b, Tensor& out) {
  const auto* packed = static_cast<const float*>(context.prepared());
  for (size_t i = 0; i < 2; ++i) {
    out.mutable_data_ptr<float>()[i] =
        a.const_data_ptr<float>()[i] * (packed == nullptr ? b.const_data_ptr<float>() : packed)[i];
  }
  return Error::Ok;
}

Error add_number(KernelContext&, double a, double b, EValue& out) {
  out = EValue(a + b);
  return Error::Ok;
}

Error as_view(KernelContext&, const Tensor& self, EValue& out) {
  return out.to_tensor().impl()->make_view(*self.impl(), self.sizes());
}

enum Op : int32_t { kAddNumber, kFill, kFlip, kJoin, kMultiply, kView };
const KernelEntry kEntries[] = {
    {"test::add_number", &call_unpacked<decltype(&add_number)>, signature_of<&add_number>(),
     RL_ERASED(add_number)},
    {"test::fill", &call_unpacked<decltype(&fill)>, signature_of<&fill>(), RL_ERASED(fill), RL_ERASED(fill)},
    {"test::flip", &call_unpacked<decltype(&flip)>, signature_of<&flip>(), RL_ERASED(flip), RL_ERASED(flip)},
    {"test::join", &call_unpacked<decltype(&join)>, signature_of<&join>(), RL_ERASED(join), RL_ERASED(join)},
    {"test::multiply", &call_unpacked<decltype(&multiply)>, signature_of<&multiply>(), RL_ERASED(multiply),
     RL_ERASED(multiply_prepare)},
    {"test::view", &call_unpacked<decltype(&as_view)>, signature_of<&as_view>(), RL_ERASED(as_view)},
};
const OperatorTable kTable = {kEntries, std::size(kEntries), nullptr, kPrepareSupport};

// Values of most programs here: an input, the constant 1 2, two tensors and the output.
enum Value : int32_t { kInput, kConstant, kFirst, kSecond, kOutput, kMore };

TensorSpec planned(uint64_t offset) { return {.memory_id = 1, .offset = offset}; }

PlanSpec plan_of(const std::vector<NodePtr>& instructions) {
  PlanSpec plan;
  plan.values = {tensor({}), tensor({.constant = 1}), tensor(planned(0)), tensor(planned(16)),
                 tensor(planned(32))};
  plan.inputs = {kInput};
  plan.outputs = {kOutput};
  plan.operators = {{"test::add_number", ""}, {"test::fill", ""},     {"test::flip", ""},
                    {"test::join", ""},       {"test::multiply", ""}, {"test::view", ""}};
  plan.instructions = instructions;
  plan.buffer_sizes = {0, 48};
  return plan;
}

Bytes file_of(const PlanSpec& plan) {
  ProgramSpec program;
  program.plans = {plan};
  program.inline_constants = {{}, floats({1, 2}), floats({3, 5})};
  return build(program);
}

PlanSpec flip_and_multiply() {
  return plan_of({call(kFlip, {kConstant, kFirst}), call(kMultiply, {kInput, kFirst, kOutput})});
}

class Fold : public ::testing::Test {
 protected:
  void SetUp() override {
    flips = 0;
    packs = 0;
    fails = false;
  }

  // Prepared in exactly the memory that was measured.
  void prepare(Loaded& method) {
    ASSERT_EQ(method.error(), Error::Ok);
    ASSERT_EQ(method->measure(nullptr, &needs_), Error::Ok);
    ASSERT_EQ(flips, 0) << "measuring runs nothing";
    memory_ = std::make_unique<Block>(needs_.prepared_bytes + needs_.index_bytes);
    weights_ = PreparedWeights(memory_->span());
    ASSERT_EQ(method->prepare(&weights_), Error::Ok);
  }

  static void run(Loaded& method, const std::vector<float>& expected) {
    FloatTensor input({2}, {10, 100});
    ASSERT_EQ(method->set_input(0, input.value()), Error::Ok);
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(method->execute(), Error::Ok);
      EXPECT_EQ(elements(method->output(0)), expected);
    }
  }

  // Not run while it is prepared, but once in each of two executions.
  void expect_left_alone(const PlanSpec& plan, const std::vector<float>& expected) {
    Loaded method(file_of(plan), kTable);
    prepare(method);
    EXPECT_EQ(flips, 0);
    run(method, expected);
    EXPECT_EQ(flips, 2);
  }

  Preparation needs_;
  std::unique_ptr<Block> memory_;
  PreparedWeights weights_;
};

TEST_F(Fold, RunsACallWithConstantsOnce_AndItsResultIsPacked) {
  Loaded method(file_of(flip_and_multiply()), kTable);
  prepare(method);
  EXPECT_EQ(needs_.prepared_bytes, 2 * PreparedWeights::cost(8));
  EXPECT_EQ(flips, 1);
  EXPECT_EQ(packs, 1);
  run(method, {20, 100});
  EXPECT_EQ(flips, 1);
}

TEST_F(Fold, Measuring_LeavesTheMethodAsItWas) {
  Loaded method(file_of(flip_and_multiply()), kTable);
  ASSERT_EQ(method->measure(nullptr, &needs_), Error::Ok);
  run(method, {20, 100});
  EXPECT_EQ(flips, 2);
}

TEST_F(Fold, GoesOnWithWhatItHasFolded) {
  Loaded method(file_of(plan_of({call(kFlip, {kConstant, kFirst}), call(kFlip, {kFirst, kSecond}),
                                 call(kMultiply, {kInput, kSecond, kOutput})})),
                kTable);
  prepare(method);
  EXPECT_EQ(flips, 2);
  EXPECT_EQ(packs, 1);
  run(method, {10, 200});
  EXPECT_EQ(flips, 2);
}

TEST_F(Fold, TakesLists) {
  PlanSpec plan = plan_of({call(kJoin, {kMore, kFirst}), call(kMultiply, {kInput, kFirst, kOutput})});
  plan.values.push_back(tensor_list({kConstant, kMore + 1}));
  plan.values.push_back(tensor({.constant = 2}));
  Loaded method(file_of(plan), kTable);
  prepare(method);
  EXPECT_EQ(flips, 1);
  run(method, {10, 500});
  EXPECT_EQ(flips, 1);
}

TEST_F(Fold, TellsCallsWithOtherNumbersApart) {
  PlanSpec plan =
      plan_of({call(kFill, {kConstant, kMore, kFirst}), call(kFill, {kConstant, kMore + 1, kSecond}),
               call(kMultiply, {kSecond, kFirst, kOutput})});
  plan.values.push_back(real(1));
  plan.values.push_back(real(2));
  Loaded method(file_of(plan), kTable);
  prepare(method);
  EXPECT_EQ(flips, 2);
  run(method, {6, 12});
}

TEST_F(Fold, SharesWithAnotherMethod) {
  const Bytes file = file_of(flip_and_multiply());
  Loaded method(file, kTable);
  alignas(64) uint8_t memory[1024];
  weights_ = PreparedWeights({memory, sizeof(memory)});
  ASSERT_EQ(method->prepare(&weights_), Error::Ok);
  ASSERT_EQ(method->measure(&weights_, &needs_), Error::Ok);
  EXPECT_EQ(needs_.prepared_bytes, 0U);
  ASSERT_EQ(method->prepare(&weights_), Error::Ok);
  EXPECT_EQ(flips, 1);
  EXPECT_EQ(packs, 1);
  run(method, {20, 100});
  EXPECT_EQ(flips, 1);
}

TEST_F(Fold, WithoutMemory_RunsTheCallEachTime) {
  Loaded method(file_of(flip_and_multiply()), kTable);
  alignas(64) uint8_t memory[16];
  weights_ = PreparedWeights({memory, sizeof(memory)});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(method->prepare(&weights_), Error::Ok);
  ::testing::internal::GetCapturedStderr();
  run(method, {20, 100});
  EXPECT_EQ(flips, 2);
}

TEST_F(Fold, ACallThatFails_FailsWhenTheMethodRuns) {
  fails = true;
  Loaded method(file_of(flip_and_multiply()), kTable);
  prepare(method);
  EXPECT_EQ(flips, 1);
  EXPECT_EQ(packs, 0);
  FloatTensor input({2}, {10, 100});
  ASSERT_EQ(method->set_input(0, input.value()), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidArgument);
  fails = false;
  run(method, {20, 100});
}

TEST_F(Fold, ASkippedCall_StaysSkippedOnAllPaths) {
  // The jump goes to the flip or past it; on both paths the product sees the flipped constant.
  for (const uint8_t condition : {0, 1}) {
    PlanSpec plan = plan_of(
        {jump_false(kMore, 2), call(kFlip, {kConstant, kFirst}), call(kMultiply, {kInput, kFirst, kOutput})});
    plan.values.push_back(boolean(condition));
    flips = 0;
    Loaded method(file_of(plan), kTable);
    prepare(method);
    run(method, {20, 100});
    EXPECT_EQ(flips, 1);
  }
}

TEST_F(Fold, LeavesAlone_WhatReadsAnInput) {
  expect_left_alone(plan_of({call(kFlip, {kInput, kFirst}), call(kMultiply, {kConstant, kFirst, kOutput})}),
                    {100, 20});
}

TEST_F(Fold, LeavesAlone_AnOutput) {
  expect_left_alone(plan_of({call(kFlip, {kConstant, kOutput})}), {2, 1});
}

TEST_F(Fold, LeavesAlone_WhatIsWrittenAgain) {
  expect_left_alone(plan_of({call(kFlip, {kConstant, kFirst}), call(kMultiply, {kInput, kConstant, kFirst}),
                             call(kMultiply, {kFirst, kConstant, kOutput})}),
                    {10, 400});
}

TEST_F(Fold, LeavesAlone_WhatIsReadBefore) {
  expect_left_alone(plan_of({call(kMultiply, {kInput, kFirst, kSecond}), call(kFlip, {kConstant, kFirst}),
                             call(kMultiply, {kInput, kFirst, kOutput})}),
                    {20, 100});
}

TEST_F(Fold, LeavesAlone_State) {
  PlanSpec plan = flip_and_multiply();
  plan.values[kFirst] = tensor({.constant = 1, .memory_id = 1, .mutable_segment = 0});
  ProgramSpec program;
  program.plans = {plan};
  program.inline_constants = {{}, floats({1, 2})};
  program.mutable_offsets = {0, 0};
  program.segment = floats({7, 8});
  Loaded method(build(program), kTable);
  prepare(method);
  EXPECT_EQ(flips, 0);
  run(method, {20, 100});
}

TEST_F(Fold, LeavesAlone_WhatHasAView) {
  // The view lies where the program put both.
  PlanSpec plan = plan_of({call(kFlip, {kConstant, kFirst}), call(kView, {kFirst, kSecond}),
                           call(kMultiply, {kInput, kSecond, kOutput})});
  plan.values[kSecond] = tensor(planned(0));
  expect_left_alone(plan, {20, 100});
}

// A view that needs no instruction: another tensor at the same offset.
PlanSpec flip_and_multiply_a_view() {
  PlanSpec plan = plan_of({call(kFlip, {kConstant, kFirst}), call(kMultiply, {kInput, kSecond, kOutput})});
  plan.values[kSecond] = tensor(planned(0));
  return plan;
}

TEST_F(Fold, TakesViewsAlong) {
  Loaded method(file_of(flip_and_multiply_a_view()), kTable);
  prepare(method);
  EXPECT_EQ(needs_.prepared_bytes, 2 * PreparedWeights::cost(8));
  EXPECT_EQ(flips, 1);
  EXPECT_EQ(packs, 1) << "the view is constant, too, and is packed";
  run(method, {20, 100});
  EXPECT_EQ(flips, 1);
}

TEST_F(Fold, MeasuringViews_LeavesTheMethodAsItWas) {
  Loaded method(file_of(flip_and_multiply_a_view()), kTable);
  ASSERT_EQ(method->measure(nullptr, &needs_), Error::Ok);
  run(method, {20, 100});
  EXPECT_EQ(flips, 2);
}

TEST_F(Fold, TakesWhatHasItsMemoryBeforeOthers_AndTheirViews) {
  // The memory of the flipped constant is a product's afterwards, which the last call reads as a view.
  PlanSpec plan =
      plan_of({call(kFlip, {kConstant, kFirst}), call(kMultiply, {kInput, kFirst, kSecond}),
               call(kMultiply, {kInput, kSecond, kMore}), call(kMultiply, {kMore + 1, kConstant, kOutput})});
  plan.values.push_back(tensor(planned(0)));
  plan.values.push_back(tensor(planned(0)));
  Loaded method(file_of(plan), kTable);
  prepare(method);
  EXPECT_EQ(flips, 1);
  run(method, {200, 20000});
  EXPECT_EQ(flips, 1);
}

TEST_F(Fold, LeavesAlone_WhatHasAView_WhereThereAreJumps) {
  PlanSpec plan = flip_and_multiply_a_view();
  plan.instructions.push_back(jump_false(kMore, 3));
  plan.values.push_back(boolean(1));
  expect_left_alone(plan, {20, 100});
}

TEST_F(Fold, LeavesAlone_WhatHasAViewThatIsWritten) {
  // The product of the view and a constant is written to the view's memory.
  PlanSpec plan = plan_of({call(kFlip, {kConstant, kFirst}), call(kMultiply, {kSecond, kConstant, kSecond}),
                           call(kMultiply, {kInput, kSecond, kOutput})});
  plan.values[kSecond] = tensor(planned(0));
  expect_left_alone(plan, {20, 200});
}

TEST_F(Fold, LeavesAlone_WhatHasAViewThatIsAnOutput) {
  PlanSpec plan = plan_of({call(kFlip, {kConstant, kFirst}), call(kMultiply, {kInput, kFirst, kSecond})});
  plan.values[kOutput] = tensor(planned(0));
  expect_left_alone(plan, {2, 1});
}

TEST_F(Fold, LeavesAlone_WhatHasALargerView) {
  // Two flipped constants, read as one tensor.
  PlanSpec plan = plan_of({call(kFlip, {kConstant, kFirst}), call(kMultiply, {kInput, kConstant, kSecond}),
                           call(kMultiply, {kInput, kMore, kOutput})});
  plan.values[kSecond] = tensor(planned(8));
  plan.values.push_back(tensor({.sizes = {4}, .memory_id = 1}));
  expect_left_alone(plan, {20, 100});
}

TEST_F(Fold, LeavesAlone_WhatSomethingElseIsWrittenOver) {
  // The input's product comes to lie where the flipped constant is, which is read once more.
  PlanSpec plan = plan_of({call(kFlip, {kConstant, kFirst}), call(kMultiply, {kInput, kFirst, kSecond}),
                           call(kMultiply, {kInput, kFirst, kOutput})});
  plan.values[kSecond] = tensor(planned(0));
  expect_left_alone(plan, {200, 10000});
}

TEST_F(Fold, LeavesAlone_WhatIsMoved) {
  expect_left_alone(plan_of({call(kFlip, {kConstant, kFirst}), move(kFirst, kSecond),
                             call(kMultiply, {kInput, kSecond, kOutput})}),
                    {20, 100});
}

TEST_F(Fold, LeavesAlone_ANumberThatChanges) {
  PlanSpec plan = plan_of({call(kAddNumber, {kMore, kMore, kMore}), call(kFill, {kConstant, kMore, kFirst}),
                           call(kMultiply, {kInput, kFirst, kOutput})});
  plan.values.push_back(real(0));
  expect_left_alone(plan, {10, 200});
}

TEST_F(Fold, LeavesAlone_AShapeThatMayChange) {
  PlanSpec plan = flip_and_multiply();
  plan.values[kFirst] = tensor({.dynamism = TensorShapeDynamism::DYNAMIC_BOUND, .memory_id = 1});
  expect_left_alone(plan, {20, 100});
}

// A constant that a move replaces is none: what were made of it would be used for the other.
TEST_F(Fold, PacksNothing_OfAValueThatIsMovedTo) {
  PlanSpec plan =
      plan_of({move(kMore, kConstant), call(kFlip, {kConstant, kFirst}),
               call(kMultiply, {kInput, kConstant, kSecond}), call(kMultiply, {kSecond, kFirst, kOutput})});
  plan.values.push_back(tensor({.constant = 2}));
  Loaded method(file_of(plan), kTable);
  prepare(method);
  EXPECT_EQ(flips, 0);
  EXPECT_EQ(packs, 0);
  run(method, {150, 1500});
}

// The prepared memory of a call is found by its number through all chains.
TEST_F(Fold, WorksInTheSecondChain) {
  PlanSpec plan = flip_and_multiply();
  plan.more_chains = {plan.instructions};
  plan.instructions = {call(kMultiply, {kInput, kConstant, kSecond})};
  Loaded method(file_of(plan), kTable);
  prepare(method);
  EXPECT_EQ(flips, 1);
  EXPECT_EQ(packs, 2);
  run(method, {20, 100});
  EXPECT_EQ(flips, 1);
}

TEST_F(Fold, LoadPrepares_InTheMemoryItIsGiven) {
  alignas(64) uint8_t memory[1024];
  weights_ = PreparedWeights({memory, sizeof(memory)});
  Loaded::Change change;
  change.prepared = &weights_;
  Loaded method(file_of(flip_and_multiply()), kTable, change);
  EXPECT_EQ(flips, 1);
  EXPECT_EQ(packs, 1);
  run(method, {20, 100});
  EXPECT_EQ(flips, 1);
}

class Refusal final : public Interrupt {
 public:
  Error poll(uint64_t* next) override {
    *next = 1;
    return ++polls > 1 ? Error::InvalidState : Error::Ok;
  }
  int polls = 0;
};

TEST_F(Fold, EndsLoading_WhenItIsInterrupted) {
  alignas(64) uint8_t memory[1024];
  weights_ = PreparedWeights({memory, sizeof(memory)});
  Refusal interrupt;
  Loaded::Change change;
  change.prepared = &weights_;
  change.options.interrupt = &interrupt;
  Loaded method(file_of(flip_and_multiply()), kTable, change);
  EXPECT_EQ(method.error(), Error::InvalidState);
  EXPECT_EQ(interrupt.polls, 2);
  EXPECT_EQ(flips, 1);
  EXPECT_EQ(packs, 0);
}

TEST_F(Fold, WithoutTemporaryMemory_PreparesNothing) {
  Loaded::Change change;
  change.temporary = 8;
  Loaded method(file_of(flip_and_multiply()), kTable, change);
  EXPECT_GT(method->preparing_bytes(), 8U);
  prepare(method);
  EXPECT_EQ(needs_.prepared_bytes, 0U);
  EXPECT_EQ(packs, 0);
  run(method, {20, 100});
  EXPECT_EQ(flips, 2);
}

}  // namespace
}  // namespace rushlight
