// SPDX-License-Identifier: BSD-3-Clause
// Running methods: values in and out, control flow, memory that appears on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/failure.h"
#include "tests/runtime/support/kernels.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;
using Dynamism = TensorShapeDynamism;

class Execute : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::internal::CaptureStderr(); }
  void TearDown() override {
    const std::string log = ::testing::internal::GetCapturedStderr();
    if (HasFailure()) std::fputs(log.c_str(), stderr);
  }
};

// value 2 = value 0 + value 1; value 0 planned, value 1 used in place.
PlanSpec sum_plan() {
  PlanSpec plan;
  plan.values = {tensor({.memory_id = 1}), tensor({}), tensor({.memory_id = 1, .offset = 16})};
  plan.inputs = {0, 1};
  plan.outputs = {2};
  plan.operators = {{"test::add", ""}};
  plan.instructions = {call(0, {0, 1, 2, 2})};
  plan.buffer_sizes = {0, 24};
  return plan;
}

TEST_F(Execute, CopiesPlannedInputs_UsesOthersInPlace) {
  Loaded method(build(sum_plan()), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor a({2}, {1, 2});
  FloatTensor b({2}, {10, 20});
  ASSERT_EQ(method->set_input(0, a.value()), Error::Ok);
  ASSERT_EQ(method->set_input(1, b.value()), Error::Ok);
  a.data[0] = 100;
  b.data[0] = 30;
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_THAT(elements(method->output(0)), ElementsAre(31, 22));
}

TEST_F(Execute, PlannedInputWithoutMemory_IsRefused) {
  Loaded method(build(sum_plan()), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor a({2}, {1, 2});
  EValue value = a.value();
  value.payload.as_tensor.impl()->set_data(nullptr, Storage::None);
  EXPECT_EQ(method->set_input(0, value), Error::InvalidArgument);
}

TEST_F(Execute, IsRefused_BeforeAllInputsAreSet) {
  Loaded method(build(sum_plan()), kernels);
  EXPECT_EQ(method->execute(), Error::InvalidState);
}

TEST_F(Execute, EndsALoop_WhenTheInstructionBudgetIsUsedUp) {
  PlanSpec plan = sum_plan();
  plan.values.push_back(boolean(0));
  plan.instructions.push_back(jump_false(3, 0));
  Loaded::Change change;
  change.options.instruction_budget = 1000;
  Loaded method(build(plan), kernels, change);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor b({2}, {10, 20});
  ASSERT_EQ(method->set_input(0, b.value()), Error::Ok);
  ASSERT_EQ(method->set_input(1, b.value()), Error::Ok);
  EXPECT_EQ(method->execute(), Error::OutOfResources);
}

// Counts polls, and returns an error from poll number `last` on.
class CountingInterrupt final : public Interrupt {
 public:
  CountingInterrupt(uint64_t slice, int last) : slice_(slice), last_(last) {}
  Error poll(uint64_t* next) override {
    *next = slice_;
    return ++polls >= last_ ? Error::InvalidState : Error::Ok;
  }

  int polls = 0;

 private:
  uint64_t slice_;
  int last_;
};

Error loop(CountingInterrupt* interrupt, uint64_t budget) {
  PlanSpec plan = sum_plan();
  plan.values.push_back(boolean(0));
  plan.instructions.push_back(jump_false(3, 0));
  Loaded::Change change;
  change.options.interrupt = interrupt;
  change.options.instruction_budget = budget;
  Loaded method(build(plan), kernels, change);
  EXPECT_EQ(method.error(), Error::Ok);
  FloatTensor b({2}, {10, 20});
  EXPECT_EQ(method->set_input(0, b.value()), Error::Ok);
  EXPECT_EQ(method->set_input(1, b.value()), Error::Ok);
  return method->execute();
}

TEST_F(Execute, EndsALoop_WhenItIsInterrupted) {
  CountingInterrupt interrupt(7, 5);
  EXPECT_EQ(loop(&interrupt, 0), Error::InvalidState);
  EXPECT_EQ(interrupt.polls, 5);
}

TEST_F(Execute, AsksAfterAsManyInstructionsAsItIsTold_WithinTheBudget) {
  CountingInterrupt interrupt(10, 1000);
  EXPECT_EQ(loop(&interrupt, 25), Error::OutOfResources);
  EXPECT_EQ(interrupt.polls, 3);
  CountingInterrupt lazy(1000, 1000);
  EXPECT_EQ(loop(&lazy, 25), Error::OutOfResources);
  EXPECT_EQ(lazy.polls, 1);
}

TEST_F(Execute, RefusesAJumpToItself) {
  PlanSpec plan = sum_plan();
  plan.values.push_back(boolean(0));
  plan.instructions.push_back(jump_false(3, 1));
  Loaded method(build(plan), kernels);
  EXPECT_EQ(method.error(), Error::InvalidProgram);
}

TEST_F(Execute, HasTheWholeInstructionBudgetEachTime) {
  Loaded::Change change;
  change.options.instruction_budget = 1;
  Loaded method(build(sum_plan()), kernels, change);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor b({2}, {10, 20});
  ASSERT_EQ(method->set_input(0, b.value()), Error::Ok);
  ASSERT_EQ(method->set_input(1, b.value()), Error::Ok);
  EXPECT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->execute(), Error::Ok);
}

TEST_F(Execute, MayFollowAFailedExecution) {
  PlanSpec plan = sum_plan();
  plan.operators.push_back({"test::fail", ""});
  plan.values.push_back(tensor({.sizes = {}, .type = ScalarType::Bool, .memory_id = 1, .offset = 8}));
  plan.operators.push_back({"test::is_positive", ""});
  plan.instructions = {call(2, {0, 3}), jump_false(3, 3), call(1, {2}), call(0, {0, 1, 2})};
  Loaded method(build(plan), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor positive({2}, {1, 1});
  FloatTensor negative({2}, {-1, 1});
  ASSERT_EQ(method->set_input(1, positive.value()), Error::Ok);
  ASSERT_EQ(method->set_input(0, positive.value()), Error::Ok);
  EXPECT_EQ(method->failed_call().instruction, Method::kNoInstruction);
  EXPECT_EQ(method->execute(), Error::Internal);
  EXPECT_EQ(method->failed_call().instruction, 2u);
  ASSERT_NE(method->failed_call().kernel, nullptr);
  EXPECT_STREQ(method->failed_call().kernel->name, "test::fail");
  const FailureTrace trace = failure_trace();
  ASSERT_GT(trace.size, 0u);
  EXPECT_EQ(trace.records[trace.size - 1], 2u << 6);  // with logs the number alone
  ASSERT_EQ(method->set_input(0, negative.value()), Error::Ok);
  EXPECT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->failed_call().instruction, Method::kNoInstruction);
  EXPECT_THAT(elements(method->output(0)), ElementsAre(0, 2));
}

TEST_F(Execute, RefusesInputs_OfOtherIndexKindDtypeAndShape) {
  Loaded method(build(sum_plan()), kernels);
  FloatTensor two({2}, {1, 2});
  FloatTensor three({3}, {1, 2, 3});
  FloatTensor flat({1, 2}, {1, 2});
  EXPECT_EQ(method->set_input(2, two.value()), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(0, EValue(1.0)), Error::InvalidType);
  EXPECT_EQ(method->set_input(0, three.value()), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(0, flat.value()), Error::InvalidArgument);
  int32_t size = 2;
  uint8_t order = 0;
  int32_t stride = 0;
  int32_t data[2] = {};
  TensorImpl ints(ScalarType::Int, 1, &size, data, &order, &stride);
  EXPECT_EQ(method->set_input(0, EValue(Tensor(&ints))), Error::InvalidType);
}

TEST_F(Execute, RefusesInputs_OfAnotherDimOrder_UnlessItIsTheSameLayout) {
  PlanSpec plan = sum_plan();
  plan.values[0] = tensor({.sizes = {1, 2}, .memory_id = 1});
  plan.values[1] = tensor({.sizes = {2, 2}});
  plan.instructions.clear();
  Loaded method(build(plan), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  uint8_t transposed[] = {1, 0};
  int32_t sizes[][2] = {{1, 2}, {2, 2}};
  int32_t strides[2];
  float data[4] = {};
  TensorImpl row(ScalarType::Float, 2, sizes[0], data, transposed, strides);
  EXPECT_EQ(method->set_input(0, EValue(Tensor(&row))), Error::Ok);
  TensorImpl square(ScalarType::Float, 2, sizes[1], data, transposed, strides);
  EXPECT_EQ(method->set_input(1, EValue(Tensor(&square))), Error::InvalidArgument);
}

TEST_F(Execute, IsRefused_AfterAnInputWas) {
  // The refused tensor is larger than the one before, and has given the input its sizes.
  PlanSpec plan = sum_plan();
  plan.values[1] = tensor({.sizes = {8, 8}, .dynamism = Dynamism::DYNAMIC_BOUND});
  plan.inputs = {1};
  plan.instructions.clear();
  Loaded method(build(plan), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor small({1, 2}, {1, 2});
  ASSERT_EQ(method->set_input(0, small.value()), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  uint8_t transposed[] = {1, 0};
  int32_t sizes[] = {8, 8};
  int32_t strides[2];
  float data[64] = {};
  TensorImpl large(ScalarType::Float, 2, sizes, data, transposed, strides);
  ASSERT_EQ(method->set_input(0, EValue(Tensor(&large))), Error::InvalidArgument);
  EXPECT_EQ(method->execute(), Error::InvalidState);
}

TEST_F(Execute, TakesNumbersOnlyAsExported) {
  PlanSpec plan = sum_plan();
  plan.values.insert(plan.values.end(), {integer(3), real(0.5), boolean(1), none(), string("x")});
  plan.inputs = {3, 4, 5, 6, 7};
  Loaded method(build(plan), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  EXPECT_EQ(method->set_input(0, EValue(int64_t{3})), Error::Ok);
  EXPECT_EQ(method->set_input(0, EValue(int64_t{4})), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(0, EValue(3.0)), Error::InvalidType);
  EXPECT_EQ(method->set_input(1, EValue(0.5)), Error::Ok);
  EXPECT_EQ(method->set_input(1, EValue(-0.5)), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(2, EValue(true)), Error::Ok);
  EXPECT_EQ(method->set_input(2, EValue(false)), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(3, EValue()), Error::Ok);
  EXPECT_EQ(method->set_input(4, EValue(std::string_view("x"))), Error::NotSupported);
}

TEST_F(Execute, FollowsDynamicShapes_WithinTheirBounds) {
  PlanSpec plan = sum_plan();
  plan.values[0] = tensor({.sizes = {4}, .dynamism = Dynamism::DYNAMIC_BOUND});
  plan.values[1] = tensor({.sizes = {1}});
  plan.values[2] = tensor({.sizes = {4}, .dynamism = Dynamism::DYNAMIC_BOUND, .memory_id = 1});
  Loaded method(build(plan), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor one({1}, {1});
  ASSERT_EQ(method->set_input(1, one.value()), Error::Ok);
  for (const int32_t count : {2, 4, 0, 3}) {
    FloatTensor input({count}, std::vector<float>(static_cast<size_t>(count), 5));
    ASSERT_EQ(method->set_input(0, input.value()), Error::Ok);
    ASSERT_EQ(method->execute(), Error::Ok);
    EXPECT_EQ(elements(method->output(0)), std::vector<float>(static_cast<size_t>(count), 6));
  }
  FloatTensor five({5}, {1, 2, 3, 4, 5});
  EXPECT_EQ(method->set_input(0, five.value()), Error::InvalidArgument);
}

TEST_F(Execute, ReadsConstants_InlineAndInTheSegment_AndKeepsMutableState) {
  PlanSpec plan = sum_plan();
  plan.values[0] = tensor({.constant = 1, .memory_id = 1, .mutable_segment = 0});
  plan.values[1] = tensor({.constant = 1});
  plan.inputs = {};
  plan.outputs = {0};
  plan.instructions = {call(0, {0, 1, 0})};
  ProgramSpec spec;
  spec.plans = {plan};
  spec.segment = floats({0, 0, 0, 0, 1, 10, 0, 0, 100, 200});
  spec.constant_offsets = {0, 16};
  spec.mutable_offsets = {0, 32};
  Loaded method(build(spec), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_THAT(elements(method->output(0)), ElementsAre(102, 220));
}

// ---- Control flow ----

// if positive(in) then out = in + in else out = -1 (a constant), as exporters write it.
PlanSpec branch_plan() {
  PlanSpec plan;
  plan.values = {tensor({.memory_id = 1}),
                 tensor({.sizes = {}, .type = ScalarType::Bool, .memory_id = 1, .offset = 8}),
                 tensor({.memory_id = 1, .offset = 16}),
                 tensor({.constant = 1}),
                 tensor({.memory_id = 1, .offset = 24}),
                 boolean(0)};
  plan.inputs = {0};
  plan.outputs = {4};
  plan.operators = {{"test::is_positive", ""}, {"test::add", ""}};
  plan.instructions = {call(0, {0, 1}), jump_false(1, 5), call(1, {0, 0, 2}),
                       move(2, 4),      jump_false(5, 6), move(3, 4)};
  plan.buffer_sizes = {0, 32};
  return plan;
}

ProgramSpec with_constant(const PlanSpec& plan, const std::vector<float>& values = {-1, -1}) {
  ProgramSpec spec;
  spec.plans = {plan};
  spec.inline_constants = {{}, floats(values)};
  return spec;
}

TEST_F(Execute, TakesTheBranch_OfEachRun) {
  Loaded method(build(with_constant(branch_plan())), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor positive({2}, {1, 2});
  FloatTensor negative({2}, {-1, 2});
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(method->set_input(0, positive.value()), Error::Ok);
    ASSERT_EQ(method->execute(), Error::Ok);
    EXPECT_THAT(elements(method->output(0)), ElementsAre(2, 4));
    ASSERT_EQ(method->set_input(0, negative.value()), Error::Ok);
    ASSERT_EQ(method->execute(), Error::Ok);
    EXPECT_THAT(elements(method->output(0)), ElementsAre(-1, -1));
  }
}

TEST_F(Execute, Loops_UntilTheNumberIsZero) {
  PlanSpec plan;
  // total += step as long as ++counter != 0
  plan.values = {integer(-5), integer(1), integer(0), integer(3), boolean(0)};
  plan.outputs = {2};
  plan.operators = {{"test::add_int", ""}};
  plan.instructions = {call(0, {2, 3, 2}), call(0, {0, 1, 0}), jump_false(0, 4), jump_false(4, 0)};
  Loaded method(build(plan), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->output(0).to_int(), 15);
}

TEST_F(Execute, MayJumpToTheEnd) {
  PlanSpec plan = sum_plan();
  plan.values.push_back(integer(0));
  plan.operators.push_back({"test::fail", ""});
  plan.instructions = {jump_false(3, 2), call(1, {2})};
  plan.inputs = {};
  Loaded method(build(plan), kernels);
  EXPECT_EQ(method->execute(), Error::Ok);
}

TEST_F(Execute, RefusesConditions_ThatAreNotOneBool) {
  const std::vector<TensorSpec> conditions = {{.sizes = {2}, .type = ScalarType::Bool, .memory_id = 1},
                                              {.sizes = {}, .type = ScalarType::Float, .memory_id = 1},
                                              {.sizes = {0}, .type = ScalarType::Bool, .memory_id = 1},
                                              {.sizes = {}, .type = ScalarType::Bool}};  // without memory
  for (const TensorSpec& spec : conditions) {
    PlanSpec plan = sum_plan();
    plan.values.push_back(tensor(spec));
    plan.inputs = {};
    plan.instructions = {jump_false(3, 1)};
    Loaded method(build(plan), kernels);
    ASSERT_EQ(method.error(), Error::Ok);
    EXPECT_EQ(method->execute(), Error::InvalidProgram);
  }
}

TEST_F(Execute, TakesAnyByteOfAConditionForTrue_ButZero) {
  PlanSpec plan = sum_plan();
  plan.values.push_back(tensor({.sizes = {}, .type = ScalarType::Bool, .memory_id = 1}));
  plan.inputs = {};
  plan.operators.push_back({"test::fail", ""});
  plan.instructions = {jump_false(3, 2), call(1, {2})};
  Loaded method(build(plan), kernels);
  method.planned(0).span()[0] = 113;
  EXPECT_EQ(method->execute(), Error::Internal);
  method.planned(0).span()[0] = 0;
  EXPECT_EQ(method->execute(), Error::Ok);
}

// ---- Memory that appears on the way ----

TEST_F(Execute, WritesToTheOutputMemoryItIsGiven) {
  PlanSpec plan = sum_plan();
  plan.values[2] = tensor({});
  Loaded method(build(plan), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor a({2}, {1, 2});
  ASSERT_EQ(method->set_input(0, a.value()), Error::Ok);
  ASSERT_EQ(method->set_input(1, a.value()), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidState);
  const Block memory(8);
  EXPECT_EQ(method->set_output_buffer(0, {memory.span().data(), 7}), Error::InvalidArgument);
  EXPECT_EQ(method->set_output_buffer(1, memory.span()), Error::InvalidArgument);
  ASSERT_EQ(method->set_output_buffer(0, memory.span()), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(elements(method->output(0)), (std::vector<float>{2, 4}));
  EXPECT_EQ(method->output(0).to_tensor().const_data_ptr(), memory.span().data());
}

TEST_F(Execute, KeepsPlannedOutputsWhereTheyAre) {
  Loaded method(build(sum_plan()), kernels);
  const Block memory(8);
  EXPECT_EQ(method->set_output_buffer(0, memory.span()), Error::InvalidState);
}

TEST_F(Execute, RefusesListItemsWithoutMemory) {
  PlanSpec plan = sum_plan();
  plan.values.insert(plan.values.end(), {tensor({}), tensor_list({0, 3})});
  plan.inputs = {};
  plan.operators = {{"test::concat", ""}};
  plan.instructions = {call(0, {4, 2})};
  Loaded method(build(plan), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidState);
}

// value 3 = view of value `base` as 2 elements, value 2 = value 3 + value 1
PlanSpec view_plan(int32_t base, const TensorSpec& view) {
  PlanSpec plan = sum_plan();
  plan.values.insert(plan.values.end(), {tensor(view), integer(2), int_list({4}), tensor({.constant = 1})});
  plan.operators.push_back({"test::view", ""});
  plan.instructions = {call(1, {base, 5, 3}), call(0, {3, 1, 2})};
  return plan;
}

TEST_F(Execute, ReadsViews_OfPlannedLentAndConstantTensors) {
  FloatTensor a({2}, {1, 2});
  FloatTensor b({2}, {10, 20});
  const std::vector<std::pair<int32_t, std::vector<float>>> cases = {
      {0, {11, 22}}, {1, {20, 40}}, {6, {9, 19}}};
  for (const auto& [base, expected] : cases) {
    Loaded method(build(with_constant(view_plan(base, {}))), kernels);
    ASSERT_EQ(method.error(), Error::Ok);
    ASSERT_EQ(method->set_input(0, a.value()), Error::Ok);
    ASSERT_EQ(method->set_input(1, b.value()), Error::Ok);
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(method->execute(), Error::Ok);
      EXPECT_EQ(elements(method->output(0)), expected);
    }
  }
}

TEST_F(Execute, TakesViewsThatArePlannedOverTheirBase_RefusesOthers) {
  FloatTensor a({2}, {1, 2});
  for (const uint64_t offset : {0, 8}) {
    Loaded method(build(with_constant(view_plan(0, {.memory_id = 1, .offset = offset}))), kernels);
    ASSERT_EQ(method.error(), Error::Ok);
    ASSERT_EQ(method->set_input(0, a.value()), Error::Ok);
    ASSERT_EQ(method->set_input(1, a.value()), Error::Ok);
    EXPECT_EQ(method->execute(), offset == 0 ? Error::Ok : Error::InvalidArgument);
  }
}

TEST_F(Execute, RefusesToWriteConstants_ThroughViewsAndMoves) {
  FloatTensor a({2}, {1, 2});
  PlanSpec through_view = view_plan(6, {});
  through_view.instructions = {call(1, {6, 5, 3}), call(0, {0, 1, 3})};
  PlanSpec through_move = view_plan(6, {});
  through_move.instructions = {move(6, 3), call(0, {0, 1, 3})};
  PlanSpec through_list = view_plan(6, {});
  through_list.values.push_back(tensor_list({3}));
  through_list.operators.push_back({"test::split", ""});
  through_list.instructions = {move(6, 3), call(2, {0, 7})};
  PlanSpec planned = view_plan(0, {});
  planned.instructions = {call(1, {0, 5, 3}), call(0, {1, 1, 3})};
  for (const PlanSpec* plan : {&through_view, &through_move, &through_list, &planned}) {
    Loaded method(build(with_constant(*plan)), kernels);
    ASSERT_EQ(method.error(), Error::Ok);
    ASSERT_EQ(method->set_input(0, a.value()), Error::Ok);
    ASSERT_EQ(method->set_input(1, a.value()), Error::Ok);
    EXPECT_EQ(method->execute(), plan == &planned ? Error::Ok : Error::InvalidProgram);
  }
}

TEST_F(Execute, RefusesToGrowAView_PastItsBase) {
  PlanSpec plan = view_plan(0, {.sizes = {1000}, .dynamism = Dynamism::DYNAMIC_BOUND});
  plan.values.push_back(integer(1000));
  plan.operators.push_back({"test::resize", ""});
  plan.instructions = {call(1, {0, 5, 3}), call(2, {3, 7})};
  Loaded method(build(with_constant(plan)), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor a({2}, {1, 2});
  ASSERT_EQ(method->set_input(0, a.value()), Error::Ok);
  ASSERT_EQ(method->set_input(1, a.value()), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidProgram);
}

TEST_F(Execute, ForgetsViews_BetweenExecutions) {
  // Reads the view before it makes it: the first time it has no memory, and so every time.
  PlanSpec plan = view_plan(1, {});
  plan.values.push_back(tensor({.sizes = {}, .type = ScalarType::Bool, .memory_id = 1, .offset = 8}));
  plan.operators.push_back({"test::is_positive", ""});
  plan.instructions = {call(2, {0, 7}), jump_false(7, 3), call(0, {3, 0, 2}), call(1, {1, 5, 3})};
  Loaded method(build(with_constant(plan)), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor negative({2}, {-1, 2});
  FloatTensor positive({2}, {1, 2});
  {
    FloatTensor short_lived({2}, {5, 6});
    ASSERT_EQ(method->set_input(0, negative.value()), Error::Ok);
    ASSERT_EQ(method->set_input(1, short_lived.value()), Error::Ok);
    EXPECT_EQ(method->execute(), Error::Ok);
  }
  ASSERT_EQ(method->set_input(0, positive.value()), Error::Ok);
  ASSERT_EQ(method->set_input(1, positive.value()), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidState);
}

TEST_F(Execute, RefusesToWriteAnEmptiedView_ThatHasLostItsMemory) {
  // The view shrinks to no element in the first run; in the second it is written, and could grow.
  PlanSpec plan;
  plan.values = {tensor({.sizes = {4}, .dynamism = Dynamism::DYNAMIC_BOUND, .memory_id = 1}),
                 tensor({.sizes = {4}, .dynamism = Dynamism::DYNAMIC_BOUND}),
                 integer(0),
                 int_list({2}),
                 integer(4),
                 integer(1)};
  plan.inputs = {0};
  plan.outputs = {5};
  plan.operators = {{"test::view", ""}, {"test::resize", ""}, {"test::add_int", ""}};
  // counter: 1, then 0
  plan.values.push_back(integer(2));
  plan.values.push_back(integer(-1));
  plan.instructions = {call(2, {6, 7, 6}), jump_false(6, 4), call(0, {0, 3, 1}), jump_false(2, 5),
                       call(1, {1, 4})};
  plan.buffer_sizes = {0, 16};
  Loaded method(build(plan), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor empty({0}, {});
  ASSERT_EQ(method->set_input(0, empty.value()), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidState);
}

TEST_F(Execute, RefusesToResizeATensor_ThatAMoveMadeAnInput) {
  PlanSpec plan = sum_plan();
  plan.values.insert(
      plan.values.end(),
      {tensor({.dynamism = Dynamism::DYNAMIC_BOUND, .memory_id = 1, .offset = 8}), tensor({})});
  plan.instructions = {move(3, 4), call(0, {4, 1, 3})};
  plan.inputs = {1};
  Loaded method(build(plan), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor a({2}, {1, 2});
  ASSERT_EQ(method->set_input(0, a.value()), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidProgram);
}

TEST_F(Execute, GivesScratchBack_AfterEveryCall) {
  PlanSpec plan;
  plan.values = {integer(4000)};
  plan.operators = {{"test::scratch", ""}};
  plan.instructions = {call(0, {0}), call(0, {0})};
  Loaded method(build(plan), kernels);
  EXPECT_EQ(method->execute(), Error::Ok);
  plan.values = {integer(5000)};
  Loaded too_much(build(plan), kernels);
  EXPECT_EQ(too_much->execute(), Error::MemoryAllocationFailed);
}

}  // namespace
}  // namespace rushlight
