// SPDX-License-Identifier: BSD-3-Clause
// The events that a method passes to its tracer while it loads and runs. Events have ExecuTorch's names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/trace/etdump.h"
#include "tests/runtime/support/affine_backend.h"
#include "tests/runtime/support/dump_reader.h"
#include "tests/runtime/support/kernels.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MethodTrace : public ::testing::Test {
 protected:
  void SetUp() override {
    ::testing::internal::CaptureStderr();
    dump_.set_data_sink(&sink_);
  }
  void TearDown() override { ::testing::internal::GetCapturedStderr(); }

  Loaded::Change traced() {
    Loaded::Change change;
    change.options.tracer = &dump_;
    return change;
  }

  Block memory_{16384};
  Block debug_{4096};
  BufferDataSink sink_{debug_.span()};
  ETDump dump_{memory_.span()};
};

// out = a + a, with a condition and a move on the way; the number 3 = 1 + 2 is made by a prim operator.
PlanSpec plan() {
  PlanSpec plan;
  plan.values = {tensor({.memory_id = 1}),
                 tensor({.memory_id = 1, .offset = 16}),
                 integer(1),
                 integer(2),
                 integer(0),
                 boolean(0)};
  plan.inputs = {0};
  plan.outputs = {1};
  plan.operators = {{"test::add", ""}, {"test::add_int", ""}, {"test::fail", ""}};
  plan.instructions = {call(0, {0, 0, 1, 1}), call(1, {2, 3, 4, 4}), move(2, 3),
                       jump_false(5, 5),      free_value(0),         free_value(0)};
  plan.buffer_sizes = {0, 32};
  return plan;
}

TEST_F(MethodTrace, Instructions_AreNamedAsExecuTorchNamesThem) {
  Loaded method(build(plan()), kernels, traced());
  ASSERT_EQ(method.error(), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_THAT(lines(read_dump(dump_.finish())),
              ElementsAre("Default: profile Method::init -1/0", "Default: profile Program::load_method -1/0",
                          "Execute: profile native_call_add 0/0", "Execute: profile OPERATOR_CALL 0/0",
                          "Execute: profile OPERATOR_CALL 0/1", "Execute: profile MOVE_CALL 0/2",
                          "Execute: profile JF_CALL 0/3", "Execute: profile FREE_CALL 0/5",
                          "Execute: profile Method::execute -1/0"));
}

TEST_F(MethodTrace, MethodLevel_LeavesInstructionsOut) {
  dump_.set_profiling_level(ProfilingLevel::MethodOnly);
  Loaded method(build(plan()), kernels, traced());
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_THAT(lines(read_dump(dump_.finish())),
              ElementsAre("Default: profile Method::init -1/0", "Default: profile Program::load_method -1/0",
                          "Execute: profile Method::execute -1/0"));
}

TEST_F(MethodTrace, DebugLevels_LogWhatTheySay) {
  dump_.set_profiling_level(ProfilingLevel::MethodOnly);
  Loaded method(build(plan()), kernels, traced());
  static_cast<void>(dump_.finish());
  dump_.set_debug_level(DebugLevel::ProgramOutputs);
  FloatTensor input({2}, {1, 2});
  ASSERT_EQ(method->set_input(0, input.value()), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_THAT(lines(read_dump(dump_.finish())),
              ElementsAre("Execute: profile Method::execute -1/0", "Execute: debug tensor -1/0"));
  dump_.set_debug_level(DebugLevel::IntermediateOutputs);
  ASSERT_EQ(method->execute(), Error::Ok);
  const auto blocks = read_dump(dump_.finish());
  EXPECT_THAT(lines(blocks), ElementsAre("Execute: debug tensor 0/0", "Execute: profile Method::execute -1/0",
                                         "Execute: debug tensor -1/0"));
  float logged[2];
  std::memcpy(logged, sink_.written().data() + blocks[0].events[0].offset, sizeof logged);
  EXPECT_THAT(logged, ElementsAre(2, 4));
}

TEST_F(MethodTrace, FailingInstruction_EndsItsEvents) {
  PlanSpec failing = plan();
  failing.instructions = {call(2, {1, 1})};
  Loaded method(build(failing), kernels, traced());
  EXPECT_EQ(method->execute(), Error::Internal);
  EXPECT_EQ(method->execute(), Error::Internal);
  EXPECT_THAT(lines(read_dump(dump_.finish())),
              ElementsAre("Default: profile Method::init -1/0", "Default: profile Program::load_method -1/0",
                          "Execute: profile native_call_fail 0/0", "Execute: profile OPERATOR_CALL 0/0",
                          "Execute: profile Method::execute -1/0", "Execute: profile native_call_fail 0/0",
                          "Execute: profile OPERATOR_CALL 0/0", "Execute: profile Method::execute -1/0"));
}

// Reports itself as backends do.
class Reporter final : public Backend {
 public:
  Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer*,
                               Span<const CompileSpec>) const override {
    if (context.tracer() == nullptr) return Error::InvalidState;
    return static_cast<DelegateHandle*>(nullptr);
  }
  Error execute(BackendExecuteContext& context, DelegateHandle*,
                Span<EValue* const> arguments) const override {
    EventTracer* tracer = context.tracer();
    tracer->log_profiling_delegate({"layer"}, 1, 2);
    if (tracer->debug_level() >= DebugLevel::IntermediateOutputs)
      RL_TRY(tracer->log_delegate_output({nullptr, 3}, *arguments[0]).error());
    return Error::Ok;
  }
};

TEST_F(MethodTrace, Delegate_ReportsInsideItsInstruction) {
  const Reporter backend;
  const BackendEntry entry{"Reporter", &backend};
  const BackendTable table{&entry, 1};
  PlanSpec delegated;
  delegated.values = {tensor({.memory_id = 1}), tensor({.memory_id = 1, .offset = 16})};
  delegated.inputs = {0};
  delegated.outputs = {1};
  delegated.delegates = {{.id = "Reporter"}};
  delegated.instructions = {delegate_call(0, {0, 1})};
  delegated.buffer_sizes = {0, 32};
  ProgramSpec program;
  program.plans = {delegated};
  program.inline_delegates = {affine_data({1}, {1})};
  Loaded::Change change = traced();
  change.options.backends = &table;
  dump_.set_debug_level(DebugLevel::IntermediateOutputs);
  Loaded method(build(program), kernels, change);
  ASSERT_EQ(method.error(), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_THAT(
      lines(read_dump(dump_.finish())),
      ElementsAre("Default: profile Method::init -1/0", "Default: profile Program::load_method -1/0",
                  "Execute: profile @layer 0/0", "Execute: debug tensor#3 0/0", "Execute: debug tensor 0/0",
                  "Execute: debug tensor 0/0", "Execute: profile DELEGATE_CALL 0/0",
                  "Execute: profile Method::execute -1/0", "Execute: debug tensor -1/0"));
}

TEST_F(MethodTrace, FullTrace_DoesNotFailTheRun) {
  Block small(500);
  ETDump dump(small.span());
  dump.set_data_sink(&sink_);
  dump.set_debug_level(DebugLevel::IntermediateOutputs);
  Loaded::Change change;
  change.options.tracer = &dump;
  Loaded method(build(plan()), kernels, change);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(method->execute(), Error::Ok);
  EXPECT_GT(dump.lost_events(), 100u);
  EXPECT_GT(dump.lost_values(), 20u);
  EXPECT_FALSE(read_dump(dump.finish()).empty());
}

}  // namespace
}  // namespace rushlight
