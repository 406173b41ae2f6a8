// SPDX-License-Identifier: BSD-3-Clause
// A method whose work a backend does, from load to the end of its life.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/program/named_data.h"
#include "tests/runtime/support/affine_backend.h"
#include "tests/runtime/support/kernels.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Delegate : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::internal::CaptureStderr(); }
  void TearDown() override {
    if (!captured_) log();
  }
  std::string log() {
    captured_ = true;
    return ::testing::internal::GetCapturedStderr();
  }
  Loaded::Change with_backend() {
    Loaded::Change change;
    change.backends = 256;
    change.options.backends = &table_;
    return change;
  }

  AffineCounts counts_;
  AffineBackend backend_{&counts_};
  BackendEntry entry_{"Affine", &backend_};
  BackendTable table_{&entry_, 1};

 private:
  bool captured_ = false;
};

// value 1 = affine(value 0)
ProgramSpec affine_program() {
  PlanSpec plan;
  plan.values = {tensor({}), tensor({.memory_id = 1})};
  plan.inputs = {0};
  plan.outputs = {1};
  plan.delegates = {{.id = "Affine"}};
  plan.instructions = {delegate_call(0, {0, 1})};
  plan.buffer_sizes = {0, 8};
  ProgramSpec program;
  program.plans = {plan};
  program.inline_delegates = {affine_data({2, 3}, {10, -20})};
  return program;
}

std::vector<float> run(Loaded& method, std::vector<float> x) {
  FloatTensor input({2}, std::move(x));
  EXPECT_EQ(method.error(), Error::Ok);
  if (method.error() != Error::Ok) return {};
  EXPECT_EQ(method->set_input(0, input.value()), Error::Ok);
  EXPECT_EQ(method->execute(), Error::Ok);
  return elements(method->output(0));
}

TEST_F(Delegate, Computes_FromInlineData) {
  Loaded method(build(affine_program()), kernels, with_backend());
  EXPECT_THAT(run(method, {1, 2}), ElementsAre(12, -14));
}

TEST_F(Delegate, Computes_FromASegment) {
  ProgramSpec program = affine_program();
  program.plans[0].delegates[0].in_segment = true;
  program.segment = program.inline_delegates[0];
  program.inline_delegates.clear();
  Loaded method(build(program), kernels, with_backend());
  EXPECT_THAT(run(method, {1, 2}), ElementsAre(12, -14));
}

TEST_F(Delegate, ObeysItsCompileSpecs) {
  ProgramSpec program = affine_program();
  program.plans[0].delegates[0].specs = {{"other", {9}}, {"relu", {1}}};
  Loaded method(build(program), kernels, with_backend());
  EXPECT_THAT(run(method, {1, 2}), ElementsAre(12, 0));
}

TEST_F(Delegate, StandsBesideKernelsAndOtherDelegates) {
  ProgramSpec program = affine_program();
  PlanSpec& plan = program.plans[0];
  plan.values.push_back(tensor({.memory_id = 1, .offset = 16}));
  plan.buffer_sizes = {0, 24};
  plan.outputs = {2};
  plan.delegates.push_back({.id = "Affine", .index = 1});
  plan.operators = {{"test::add", ""}};
  plan.instructions = {delegate_call(0, {0, 1}), call(0, {0, 1, 2}), delegate_call(1, {2, 2})};
  program.inline_delegates.push_back(affine_data({1, 1}, {100, 200}));
  Loaded method(build(program), kernels, with_backend());
  EXPECT_THAT(run(method, {1, 2}), ElementsAre(113, 188));
  EXPECT_EQ(counts_.inits, 2);
}

TEST_F(Delegate, IsDestroyedOnce_WhenTheMethodGoes) {
  {
    Loaded method(build(affine_program()), kernels, with_backend());
    EXPECT_EQ(counts_.inits, 1);
    Method moved(std::move(*method));
    EXPECT_EQ(counts_.destroys, 0);
  }
  EXPECT_EQ(counts_.destroys, 1);
}

TEST_F(Delegate, IsDestroyed_WhenALaterOneFails) {
  ProgramSpec program = affine_program();
  program.plans[0].delegates.push_back({.id = "Affine", .index = 1});
  program.inline_delegates.push_back({1, 2});
  Loaded method(build(program), kernels, with_backend());
  EXPECT_EQ(method.error(), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(counts_.inits, 1);
  EXPECT_EQ(counts_.destroys, 1);
}

TEST_F(Delegate, WithoutItsBackend_IsNamed) {
  Loaded method(build(affine_program()), kernels);
  EXPECT_EQ(method.error(), Error::NotFound);
  EXPECT_THAT(log(), HasSubstr("delegate Affine: this runtime has no such backend"));
}

TEST_F(Delegate, OfABackendThatIsNotAvailable_IsNamed) {
  const AffineBackend absent(nullptr, false);
  const BackendEntry entry{"Affine", &absent};
  const BackendTable table{&entry, 1};
  Loaded::Change change;
  change.options.backends = &table;
  Loaded method(build(affine_program()), kernels, change);
  EXPECT_EQ(method.error(), Error::NotFound);
  EXPECT_THAT(log(), HasSubstr("delegate Affine: its backend is not available"));
}

TEST_F(Delegate, WithTooSmallAnArena_FailsInItsInit) {
  Loaded::Change change = with_backend();
  change.backends = 0;
  Loaded method(build(affine_program()), kernels, change);
  EXPECT_EQ(method.error(), Error::DelegateMemoryAllocationFailed);
}

TEST_F(Delegate, WhoseDataDoesNotExist_IsRefused) {
  for (const bool in_segment : {false, true}) {
    ProgramSpec program = affine_program();
    program.plans[0].delegates[0].index = 1;
    program.plans[0].delegates[0].in_segment = in_segment;
    Loaded method(build(program), kernels, with_backend());
    EXPECT_EQ(method.error(), Error::InvalidProgram);
  }
}

TEST_F(Delegate, ThatWouldWriteAConstant_IsStopped) {
  ProgramSpec program = affine_program();
  program.inline_constants = {{}, floats({1, 2})};
  program.plans[0].values[1] = tensor({.constant = 1});
  program.plans[0].outputs = {};
  Loaded method(build(program), kernels, with_backend());
  ASSERT_EQ(method.error(), Error::Ok);
  FloatTensor input({2}, {1, 2});
  ASSERT_EQ(method->set_input(0, input.value()), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidProgram);
}

TEST_F(Delegate, CalledWithTooFewArguments_IsStopped) {
  ProgramSpec program = affine_program();
  program.plans[0].instructions = {delegate_call(0, {0})};
  Loaded method(build(program), kernels, with_backend());
  FloatTensor input({2}, {1, 2});
  ASSERT_EQ(method->set_input(0, input.value()), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidProgram);
}

// One key, "bias", of two floats.
class BiasMap final : public NamedDataMap {
 public:
  Result<TensorLayout> tensor_layout(std::string_view) const override { return Error::InvalidArgument; }
  Result<FreeableBuffer> data(std::string_view key) const override {
    if (key != "bias") return Error::NotFound;
    return FreeableBuffer(bias_, sizeof bias_);
  }
  Error load_into(std::string_view key, void* buffer, size_t size) const override {
    if (key != "bias") return Error::NotFound;
    if (size > sizeof bias_) return Error::InvalidArgument;
    std::memcpy(buffer, bias_, size);
    return Error::Ok;
  }
  Result<uint32_t> num_keys() const override { return uint32_t{1}; }
  Result<const char*> key(uint32_t) const override { return "bias"; }

 private:
  float bias_[2] = {1000, 2000};
};

TEST_F(Delegate, ReadsNamedData) {
  ProgramSpec program = affine_program();
  program.plans[0].delegates[0].specs = {{"bias", {'b', 'i', 'a', 's'}}};
  const BiasMap map;
  Loaded::Change change = with_backend();
  change.options.external_data = &map;
  Loaded method(build(program), kernels, change);
  EXPECT_THAT(run(method, {1, 2}), ElementsAre(1002, 2006));
}

TEST_F(Delegate, ReadsNamedData_OfItsOwnProgram) {
  ProgramSpec program = affine_program();
  program.plans[0].delegates[0].specs = {{"bias", {'b', 'i', 'a', 's'}}};
  program.segment = floats({1000, 2000});
  program.named_data = {{"bias", 0}};
  Loaded method(build(program), kernels, with_backend());
  EXPECT_THAT(run(method, {1, 2}), ElementsAre(1002, 2006));
}

TEST_F(Delegate, IsRefused_WhereProgramAndCallerShareAKey) {
  ProgramSpec program = affine_program();
  program.segment = floats({1000, 2000});
  program.named_data = {{"bias", 0}};
  const BiasMap map;
  Loaded::Change change = with_backend();
  change.options.external_data = &map;
  EXPECT_EQ(Loaded(build(program), kernels, change).error(), Error::InvalidArgument);
  EXPECT_THAT(log(), HasSubstr("bias"));
}

}  // namespace
}  // namespace rushlight
