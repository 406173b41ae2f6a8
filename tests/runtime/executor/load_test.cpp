// SPDX-License-Identifier: BSD-3-Clause
// Loading a method: what is refused, and that memory is taken to the byte. Programs are built field by field,
// so that each test differs from a valid one in few fields.
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/program/named_data.h"
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
  EXPECT_THAT(short_of_one.log, HasSubstr("expected 40 bytes, got 39, 1 short"));
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
  plan.delegates = {{.id = "XnnpackBackend"}};
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

TEST(MethodLoad, NamesWhatLiesOnAnotherDevice) {
  PlanSpec plan = sum_plan();
  plan.devices = {{1, 1, 2}};
  Outcome outcome = load(plan);
  EXPECT_EQ(outcome.error, Error::NotSupported);
  EXPECT_THAT(outcome.log, HasSubstr("planned buffer 0: on device 2 of type 1"));
  plan.devices = {{1, 0, 0}};
  EXPECT_EQ(load(plan).error, Error::Ok);
  plan.values[0] = tensor({.memory_id = 1, .device = 1});
  outcome = load(plan);
  EXPECT_EQ(outcome.error, Error::NotSupported);
  EXPECT_THAT(outcome.log, HasSubstr("layer.weight: on device type 1"));
}

TEST(MethodLoad, RefusesToCopyInitialStateForEver) {
  ProgramSpec program;
  program.segment = floats({1, 2});
  program.mutable_offsets = {0, 0};
  PlanSpec plan = sum_plan();
  // All in the same 8 bytes.
  for (int i = 0; i < 20; ++i) {
    plan.values.push_back(tensor({.constant = 1, .memory_id = 1, .mutable_segment = 0}));
  }
  program.plans = {plan};
  const Outcome outcome = load(build(program));
  EXPECT_EQ(outcome.error, Error::InvalidProgram);
  EXPECT_THAT(outcome.log, HasSubstr("initial state"));
}

// ---- Data outside the program ----

class OneTensor final : public NamedDataMap {
 public:
  TensorLayout layout{ScalarType::Float, {kSizes, 1}, {kOrder, 1}, 8};
  float values[2] = {5, 6};

  Result<TensorLayout> tensor_layout(std::string_view key) const override {
    if (key != "layer.weight") return Error::NotFound;
    return TensorLayout(layout);
  }
  Result<FreeableBuffer> data(std::string_view) const override {
    return FreeableBuffer(values, sizeof values);
  }
  Error load_into(std::string_view, void* buffer, size_t size) const override {
    std::memcpy(buffer, values, size);
    return Error::Ok;
  }
  Result<uint32_t> num_keys() const override { return uint32_t{1}; }
  Result<const char*> key(uint32_t) const override { return "layer.weight"; }

  static constexpr int32_t kSizes[] = {2};
  static constexpr uint8_t kOrder[] = {0};
  static constexpr int32_t kOtherSizes[] = {1};
};

PlanSpec external_plan() {
  PlanSpec plan = sum_plan();
  plan.values[1] = tensor({.external = true});
  plan.inputs = {0};
  return plan;
}

TEST(MethodLoad, NamesATensorWhoseDataFileIsMissing) {
  const Outcome outcome = load(external_plan());
  EXPECT_EQ(outcome.error, Error::NotFound);
  EXPECT_THAT(outcome.log, HasSubstr("layer.weight: stored outside the program, and no data file"));
}

TEST(MethodLoad, UsesDataOutsideTheProgramInPlace) {
  const OneTensor map;
  Loaded::Change change;
  change.options.external_data = &map;
  Loaded method(build(external_plan()), kernels, change);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor input({2}, {1, 2});
  ASSERT_EQ(method->set_input(0, input.value()), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_THAT(elements(method->output(0)), ::testing::ElementsAre(6, 8));
}

TEST(MethodLoad, CopiesDataOutsideTheProgramToWhereItIsPlanned) {
  PlanSpec plan = external_plan();
  plan.values[1] = tensor({.memory_id = 1, .offset = 32, .external = true});
  plan.buffer_sizes = {0, 40};
  const OneTensor map;
  Loaded::Change change;
  change.options.external_data = &map;
  Loaded method(build(plan), kernels, change);
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor input({2}, {1, 2});
  ASSERT_EQ(method->set_input(0, input.value()), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_THAT(elements(method->output(0)), ::testing::ElementsAre(6, 8));
}

TEST(MethodLoad, RefusesDataThatIsNotWhatTheProgramSays) {
  OneTensor dtype, size, shape;
  dtype.layout.scalar_type = ScalarType::Int;
  size.layout.nbytes = 4;
  shape.layout.sizes = {OneTensor::kOtherSizes, 1};
  for (const OneTensor* map : {&dtype, &size, &shape}) {
    Loaded::Change change;
    change.options.external_data = map;
    const Outcome outcome = load(build(external_plan()), change);
    EXPECT_EQ(outcome.error, Error::InvalidExternalData);
    EXPECT_THAT(outcome.log, HasSubstr("layer.weight"));
  }
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

TEST(MethodMeta, KnowsTheArenaOfBothWidths) {
  Loaded method(build(typed_plan()), kernels);
  ASSERT_EQ(method.error(), Error::Ok);
  auto narrow = method->meta().arena_bytes(4);
  auto wide = method->meta().arena_bytes(8);
  ASSERT_TRUE(narrow.ok() && wide.ok());
  EXPECT_EQ(sizeof(void*) == 8 ? *wide : *narrow, method.arena_bytes());
  EXPECT_LT(*narrow, *wide);
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

// Memory is counted by the lengths that the file says, so none may become another.
TEST(MethodLoad, RefusesListsThatMoveOrAreEnds) {
  PlanSpec plan = sum_plan();
  plan.values.push_back(tensor_list({0}));
  plan.values.push_back(tensor_list({0, 1, 0, 1}));
  plan.instructions = {move(8, 7)};
  Outcome outcome = load(plan);
  EXPECT_EQ(outcome.error, Error::NotSupported);
  EXPECT_THAT(outcome.log, HasSubstr("move: value 8 is a list"));
  plan.instructions = {};
  plan.outputs = {7};
  outcome = load(plan);
  EXPECT_EQ(outcome.error, Error::NotSupported);
  EXPECT_THAT(outcome.log, HasSubstr("outputs: value 7 is a list"));
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
