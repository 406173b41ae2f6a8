// SPDX-License-Identifier: BSD-3-Clause
// Loading a method: what is refused, and that memory is taken to the byte.
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/support/kernels.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::HasSubstr;
using Dynamism = TensorShapeDynamism;

struct Outcome {
  Error error;
  std::string log;
};

Outcome load(const Bytes& file, Loaded::Change change = {}) {
  ::testing::internal::CaptureStderr();
  const Loaded loaded(file, kernels, change);
  return {loaded.error(), ::testing::internal::GetCapturedStderr()};
}
Outcome load(const PlanSpec& plan) { return load(build(plan)); }

// out = a + b, both inputs and the output planned.
PlanSpec sum_plan() {
  PlanSpec plan;
  plan.values = {tensor({.memory_id = 1}),
                 tensor({.memory_id = 1, .offset = 16}),
                 tensor({.memory_id = 1, .offset = 32}),
                 integer(3),
                 int_list({3, 3}),
                 tensor_list({0, 1}),
                 optional_tensor_list({0, -1})};
  plan.inputs = {0, 1};
  plan.outputs = {2};
  plan.operators = {{"test::add", ""}};
  plan.instructions = {call(0, {0, 1, 2, 2})};
  plan.buffer_sizes = {0, 40};
  return plan;
}

TEST(MethodLoad, TakesExactlyItsArenaSize) {
  Loaded loaded(build(sum_plan()), kernels);
  ASSERT_EQ(loaded.error(), Error::Ok);
  EXPECT_EQ(loaded.arena_used(), loaded.arena_bytes());
  const Outcome short_of_one = load(build(sum_plan()), {.arena = -1});
  EXPECT_EQ(short_of_one.error, Error::MemoryAllocationFailed);
  EXPECT_THAT(short_of_one.log, HasSubstr("1 short"));
}

TEST(MethodLoad, TakesExactlyItsPlannedMemory) {
  const Outcome short_of_one = load(build(sum_plan()), {.planned = -1});
  EXPECT_EQ(short_of_one.error, Error::MemoryAllocationFailed);
  EXPECT_THAT(short_of_one.log, HasSubstr("needs 40 bytes, 39 were given, 1 short"));
}

TEST(MethodLoad, IsRefused_WithFewerPlannedBuffersThanItNeeds) {
  const Bytes file = build(sum_plan());
  Block block(file.size());
  std::memcpy(block.span().data(), file.data(), file.size());
  BufferDataLoader loader(block.span().data(), file.size());
  const auto program = Program::load(loader);
  Block arena_block(4096);
  Arena arena(arena_block.span());
  MemoryManager memory;
  memory.method = &arena;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Method::load(*program, "forward", memory, kernels).error(), Error::MemoryAllocationFailed);
  EXPECT_EQ(Method::load(*program, "backward", memory, kernels).error(), Error::NotFound);
  ::testing::internal::GetCapturedStderr();
}

TEST(MethodLoad, NamesEveryMissingOperator) {
  PlanSpec plan = sum_plan();
  plan.operators.insert(plan.operators.end(), {{"aten::sin", "out"}, {"test::add", "Scalar"}});
  const Outcome outcome = load(plan);
  EXPECT_EQ(outcome.error, Error::OperatorMissing);
  EXPECT_THAT(outcome.log, HasSubstr("aten::sin.out"));
  EXPECT_THAT(outcome.log, HasSubstr("test::add.Scalar"));
}

TEST(MethodLoad, NamesTheDelegateItCannotRun) {
  PlanSpec plan = sum_plan();
  plan.delegates = {"XnnpackBackend"};
  plan.instructions.push_back(delegate_call(0, {0, 2}));
  const Outcome outcome = load(plan);
  EXPECT_EQ(outcome.error, Error::NotFound);
  EXPECT_THAT(outcome.log, HasSubstr("XnnpackBackend"));
}

TEST(MethodLoad, TakesMethodsWithoutInstructions_NotWithoutChain) {
  PlanSpec plan = sum_plan();
  plan.instructions.clear();
  EXPECT_EQ(load(plan).error, Error::Ok);
  plan.has_chain = false;
  EXPECT_EQ(load(plan).error, Error::InvalidProgram);
}

TEST(MethodLoad, RefusesTensorsOutsideTheProgram) {
  PlanSpec plan = sum_plan();
  plan.values[0] = tensor({.external = true});
  const Outcome outcome = load(plan);
  EXPECT_EQ(outcome.error, Error::NotSupported);
  EXPECT_THAT(outcome.log, HasSubstr("layer.weight"));
}

// ---- Arguments against signatures ----

// One value of every kind: the arguments of test::typed in order, and None.
PlanSpec typed_plan() {
  PlanSpec plan;
  plan.values = {tensor({.memory_id = 1}),
                 integer(1),
                 real(1.5),
                 boolean(1),
                 integer(2),
                 string("mode"),
                 int_list({1, 4}),
                 double_list({0.5}),
                 bool_list({0, 1}),
                 tensor_list({0, 0}),
                 optional_tensor_list({-1, 0}),
                 none()};
  plan.operators = {{"test::typed", ""}};
  plan.instructions = {call(0, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})};
  plan.buffer_sizes = {0, 16};
  return plan;
}

TEST(Arguments, OfTheSignaturesKinds_AreTaken) { EXPECT_EQ(load(typed_plan()).error, Error::Ok); }

TEST(Arguments, OfAnyOtherKind_AreRefused) {
  // By argument: the values it takes besides its own. Python's numbers stand for each other where C++'s do.
  const std::vector<std::vector<int>> also = {{}, {3, 4}, {1, 3, 4}, {1, 4}, {1, 2, 3}, {},
                                              {}, {},     {},        {},     {}};
  for (int argument = 0; argument < 11; ++argument) {
    for (int value = 0; value < 12; ++value) {
      PlanSpec plan = typed_plan();
      std::vector<int32_t> arguments = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
      arguments[static_cast<size_t>(argument)] = value;
      plan.instructions = {call(0, arguments)};
      const auto& others = also[static_cast<size_t>(argument)];
      const bool fits = value == argument || std::count(others.begin(), others.end(), value) != 0;
      EXPECT_EQ(load(plan).error, fits ? Error::Ok : Error::InvalidProgram) << argument << " " << value;
    }
  }
}

TEST(Arguments, ThatAreOptional_MayBeNone) {
  PlanSpec plan = typed_plan();
  plan.operators = {{"test::typed", "optional"}};
  plan.instructions = {call(0, {11, 11, 11, 11}), call(0, {0, 1, 2, 4})};
  EXPECT_EQ(load(plan).error, Error::Ok);
  plan.instructions = {call(0, {5, 11, 11, 11})};
  EXPECT_EQ(load(plan).error, Error::InvalidProgram);
}

TEST(Arguments, MayBeMoreThanTheSignature_NotFewer) {
  PlanSpec plan = sum_plan();
  plan.instructions = {call(0, {0, 1, 2})};
  EXPECT_EQ(load(plan).error, Error::Ok);
  plan.instructions = {call(0, {0, 1})};
  const Outcome outcome = load(plan);
  EXPECT_EQ(outcome.error, Error::InvalidProgram);
  EXPECT_THAT(outcome.log, HasSubstr("expected 3 arguments, got 2"));
}

// ---- Damage ----

TEST(MethodLoad, RefusesIndicesThatNameNothing) {
  std::vector<PlanSpec> plans(12, sum_plan());
  plans[0].inputs = {7};
  plans[1].outputs = {-1};
  plans[2].instructions = {call(0, {0, 1, 7})};
  plans[3].instructions = {call(1, {0, 1, 2})};
  plans[4].instructions = {call(-1, {0, 1, 2})};
  plans[5].instructions = {move(0, 7)};
  plans[6].instructions = {move(-1, 0)};
  plans[7].instructions = {jump_false(7, 0)};
  plans[8].instructions = {jump_false(3, 2)};
  plans[9].instructions = {jump_false(3, -1)};
  plans[10].instructions = {free_value(7)};
  plans[11].instructions = {delegate_call(0, {})};
  for (size_t i = 0; i < plans.size(); ++i) EXPECT_EQ(load(plans[i]).error, Error::InvalidProgram) << i;
}

TEST(MethodLoad, RefusesListItemsOfOtherKinds) {
  const std::vector<NodePtr> lists = {int_list({0}),
                                      int_list({99}),
                                      int_list({-1}),
                                      tensor_list({3}),
                                      tensor_list({-1}),
                                      tensor_list({99}),
                                      optional_tensor_list({3}),
                                      optional_tensor_list({-2}),
                                      bool_list({2})};
  for (size_t i = 0; i < lists.size(); ++i) {
    PlanSpec plan = sum_plan();
    plan.values.push_back(lists[i]);
    EXPECT_EQ(load(plan).error, Error::InvalidProgram) << i;
  }
}

TEST(MethodLoad, RefusesTensorsThatCannotBe) {
  const auto type = [](int number) { return static_cast<ScalarType>(number); };
  const std::vector<TensorSpec> specs = {
      {.sizes = {-1}},
      {.sizes = {0x10000, 0x10000}},
      {.sizes = std::vector<int32_t>(17, 1)},
      {.sizes = {2}, .type = type(16)},
      {.sizes = {2}, .type = type(-1)},
      {.sizes = {2}, .dynamism = static_cast<Dynamism>(3)},
      {.sizes = {2, 2}, .dim_order = {{0, 0}}},
      {.sizes = {2, 2}, .dim_order = {{0, 2}}},
      {.sizes = {2, 2}, .dim_order = {{0}}},
      {.sizes = {2}, .constant = 1},
      {.sizes = {2}, .memory_id = 2},
      {.sizes = {11}, .memory_id = 1},
      {.sizes = {2}, .memory_id = 1, .offset = 36},
      {.sizes = {2}, .memory_id = 1, .offset = 2},
      {.sizes = {2}, .memory_id = 1, .offset = UINT64_MAX - 7},
      {.sizes = {2}, .memory_id = 1, .offset = uint64_t{1} << 32},
      {.sizes = {2}, .constant = 1, .memory_id = 1, .mutable_segment = 0},
  };
  for (size_t i = 0; i < specs.size(); ++i) {
    PlanSpec plan = sum_plan();
    plan.values.push_back(tensor(specs[i]));
    EXPECT_EQ(load(plan).error, Error::InvalidProgram) << i;
  }
}

TEST(MethodLoad, RefusesMovesBetweenKinds_AndJumpsOnOtherThanNumbersOrTensors) {
  PlanSpec plan = sum_plan();
  plan.instructions = {move(0, 3)};
  EXPECT_EQ(load(plan).error, Error::InvalidProgram);
  plan.instructions = {jump_false(4, 0)};
  EXPECT_EQ(load(plan).error, Error::InvalidProgram);
  plan.instructions = {free_value(3)};
  EXPECT_EQ(load(plan).error, Error::InvalidProgram);
}

TEST(MethodLoad, RefusesValuesAndInstructionsOfNoKind) {
  PlanSpec plan = sum_plan();
  plan.values.push_back(table({}));
  EXPECT_EQ(load(plan).error, Error::InvalidProgram);
  plan = sum_plan();
  plan.instructions.push_back(table({}));
  EXPECT_EQ(load(plan).error, Error::InvalidProgram);
  plan = sum_plan();
  plan.values.push_back(table({{0, number(uint8_t{5})}}));  // a tensor without its table
  EXPECT_EQ(load(plan).error, Error::InvalidProgram);
}

TEST(MethodLoad, RefusesPlannedSizesThatNoMemoryHas) {
  PlanSpec plan = sum_plan();
  plan.buffer_sizes = {0, 40, -1};
  EXPECT_EQ(load(plan).error, Error::InvalidProgram);
}

// ---- What must not be written ----

ProgramSpec with_constant(const PlanSpec& plan) {
  ProgramSpec spec;
  spec.plans = {plan};
  spec.inline_constants = {{}, floats({1, 2})};
  return spec;
}

TEST(Constants, MayBeRead_NotWritten) {
  PlanSpec plan = sum_plan();
  plan.values.push_back(tensor({.constant = 1}));
  plan.instructions = {call(0, {0, 7, 2})};
  EXPECT_EQ(load(build(with_constant(plan))).error, Error::Ok);
  plan.instructions = {call(0, {0, 1, 7})};
  const Outcome outcome = load(build(with_constant(plan)));
  EXPECT_EQ(outcome.error, Error::InvalidProgram);
  EXPECT_THAT(outcome.log, HasSubstr("argument 2 is written"));
}

TEST(Constants, MayNotBeWritten_InLists) {
  PlanSpec plan = sum_plan();
  plan.values.push_back(tensor({.constant = 1}));
  plan.values.push_back(tensor_list({0, 7}));
  plan.operators = {{"test::split", ""}};
  plan.instructions = {call(0, {2, 5})};
  EXPECT_EQ(load(build(with_constant(plan))).error, Error::Ok);
  plan.instructions = {call(0, {2, 8})};
  EXPECT_EQ(load(build(with_constant(plan))).error, Error::InvalidProgram);
}

TEST(Constants, MayNotBeInputs) {
  PlanSpec plan = sum_plan();
  plan.values.push_back(tensor({.constant = 1}));
  plan.inputs = {7};
  EXPECT_EQ(load(build(with_constant(plan))).error, Error::InvalidProgram);
}

TEST(Inputs, UsedInPlace_MayBeWritten_UnlessTheyMayGrow) {
  for (const auto dynamism : {Dynamism::STATIC, Dynamism::DYNAMIC_BOUND}) {
    PlanSpec plan = sum_plan();
    plan.values[0] = tensor({.dynamism = dynamism});
    plan.instructions = {call(0, {1, 2, 0})};
    EXPECT_EQ(load(plan).error, dynamism == Dynamism::STATIC ? Error::Ok : Error::InvalidProgram);
  }
}

TEST(Inputs, MayNotBeMovedTo) {
  PlanSpec plan = sum_plan();
  plan.instructions = {move(2, 0)};
  const Outcome outcome = load(plan);
  EXPECT_EQ(outcome.error, Error::InvalidProgram);
  EXPECT_THAT(outcome.log, HasSubstr("is an input"));
}

TEST(Outputs, ThatMayChangeTheirShape_MayNotBeInputsOfTheSameCall) {
  for (const auto dynamism : {Dynamism::STATIC, Dynamism::DYNAMIC_BOUND}) {
    const Error expected = dynamism == Dynamism::STATIC ? Error::Ok : Error::InvalidProgram;
    PlanSpec plan = sum_plan();
    plan.values[2] = tensor({.dynamism = dynamism, .memory_id = 1, .offset = 32});
    plan.instructions = {call(0, {2, 1, 2})};
    EXPECT_EQ(load(plan).error, expected);
    plan.values.push_back(tensor_list({2, 2}));
    plan.operators = {{"test::split", ""}};
    plan.instructions = {call(0, {0, 7})};
    EXPECT_EQ(load(plan).error, expected);
    plan.operators = {{"test::concat", ""}};
    plan.instructions = {call(0, {7, 2})};
    EXPECT_EQ(load(plan).error, expected);
  }
}

TEST(MethodLoad, RefusesListsThatAreNamedWithoutEnd) {
  PlanSpec plan = sum_plan();
  plan.values.push_back(tensor_list(std::vector<int32_t>(40000, 0)));
  plan.operators = {{"test::concat", ""}};
  plan.instructions.assign(2000, call(0, {7, 2}));
  const Outcome outcome = load(plan);
  EXPECT_EQ(outcome.error, Error::InvalidProgram);
  EXPECT_THAT(outcome.log, HasSubstr("too long"));
}

// ---- Programs of the official package ----

TEST(OfficialPrograms, AreRefusedForTheirOperatorsOnly_WhenNoneIsLinked) {
  for (const char* name : {"cond_sum", "list_split_cat", "scan", "dynamic_seq", "optional_none"}) {
    std::ifstream stream(std::string(RUSHLIGHT_TEST_PROGRAMS "/") + name + "/model.pte", std::ios::binary);
    const Bytes file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    ASSERT_FALSE(file.empty()) << name;
    EXPECT_EQ(load(file).error, Error::OperatorMissing) << name;
  }
}

}  // namespace
}  // namespace rushlight
