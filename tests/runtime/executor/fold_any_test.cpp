// SPDX-License-Identifier: BSD-3-Clause
// Random programs whose tensors overlap in planned memory, as no exporter plans them: folding must not change
// their results. The same program without preparation gives the expected values. A failure means that a value
// counted as constant although another one was live in its memory; the seed is fixed, so the program's number
// finds it again.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/executor/prepare_support.h"
#include "runtime/kernel/boxing.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words

int mixes = 0;

// Depends on the order of its inputs, which may be longer or shorter than the output.
Error mix(KernelContext&, const Tensor& a, const Tensor& b, Tensor& out) {
  ++mixes;
  const auto* x = a.const_data_ptr<float>();
  const auto* y = b.const_data_ptr<float>();
  std::vector<float> made;
  for (size_t i = 0; i < out.numel(); ++i) made.push_back(x[i % a.numel()] * 0.5F + y[i % b.numel()] + 1);
  std::copy(made.begin(), made.end(), out.mutable_data_ptr<float>());
  return Error::Ok;
}

const KernelEntry kEntries[] = {
    {"test::mix", &call_unpacked<decltype(&mix)>, signature_of<&mix>(), RL_ERASED(mix), RL_ERASED(mix)},
};
const OperatorTable kTable = {kEntries, 1, nullptr, kPrepareSupport};

constexpr int32_t kInput = 0;
constexpr int32_t kConstant = 1;
constexpr int32_t kOutput = 2;
constexpr int32_t kFirst = 3;

TensorSpec drawn_tensor(std::mt19937& random) {
  return {
      .sizes = {static_cast<int32_t>(1 + random() % 3)}, .memory_id = 1, .offset = 16 + random() % 12 * 4};
}

Bytes drawn_program(std::mt19937& random) {
  const auto count = static_cast<int32_t>(2 + random() % 10);
  PlanSpec plan;
  plan.values = {tensor({.memory_id = 1}), tensor({.constant = 1}), tensor({.memory_id = 1, .offset = 8})};
  for (int32_t i = 0; i < count; ++i) plan.values.push_back(tensor(drawn_tensor(random)));
  plan.inputs = {kInput};
  plan.outputs = {kOutput};
  plan.operators = {{"test::mix", ""}};
  const auto drawn = [&] { return kFirst + static_cast<int32_t>(random() % static_cast<unsigned>(count)); };
  const auto source = [&] {
    const auto kind = random() % 6;
    return kind == 0 ? kInput : kind < 4 ? kConstant : drawn();
  };
  const size_t calls = 1 + random() % 12;
  for (size_t i = 0; i < calls; ++i) plan.instructions.push_back(call(0, {source(), source(), drawn()}));
  // All of the memory is read once more, so that no tensor shows what is left of another by mere chance.
  for (int32_t i = 0; i < count; ++i) plan.instructions.push_back(call(0, {kOutput, kFirst + i, kOutput}));
  plan.buffer_sizes = {0, 80};
  ProgramSpec program;
  program.plans = {plan};
  program.inline_constants = {{}, floats({1, 2})};
  return build(program);
}

std::vector<float> run(Loaded& method) {
  FloatTensor input({2}, {10, 100});
  EXPECT_EQ(method->set_input(0, input.value()), Error::Ok);
  EXPECT_EQ(method->execute(), Error::Ok);
  return elements(method->output(0));
}

TEST(FoldAny, ComputesTheSame_HoweverTensorsOverlap) {
  std::mt19937 random(16);  // NOLINT: the same each time
  int folded = 0;
  int left_alone = 0;
  for (int i = 0; i < 3000; ++i) {
    const Bytes file = drawn_program(random);
    Loaded plain(file, kTable);
    mixes = 0;
    const std::vector<float> expected = run(plain);
    const int calls = mixes;

    Loaded prepared(file, kTable);
    alignas(64) uint8_t memory[16384];
    PreparedWeights weights({memory, sizeof(memory)});
    mixes = 0;
    ASSERT_EQ(prepared->prepare(&weights), Error::Ok);
    const int when_loaded = mixes;
    EXPECT_EQ(run(prepared), expected) << "program " << i;
    folded += when_loaded;
    left_alone += calls - when_loaded;
  }
  EXPECT_GT(folded, 200) << folded << " folded";
  EXPECT_GT(left_alone, 3000);
  RecordProperty("folded", folded);
}

}  // namespace
}  // namespace rushlight
