// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous executions: order, concurrency, cancellation, deadlines, destruction.
#include "runtime/module/execution.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/kernel/boxing.h"
#include "runtime/module/module.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;
using Clock = ExecutionOptions::Clock;

// Kernels that can be held until a test lets them go.
struct Gate {
  std::atomic<int> arrived{0};
  std::atomic<bool> open{true};
  void pass() {
    ++arrived;
    wait([this] { return open.load(); });
  }
  template <class Condition>
  static bool wait(Condition&& condition) {
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (!condition() && Clock::now() < end) std::this_thread::yield();
    return condition();
  }
} gate;

Error add_one(KernelContext&, const Tensor& a, Tensor& out) {
  gate.pass();
  for (size_t i = 0; i < a.numel(); ++i)
    out.mutable_data_ptr<float>()[i] = a.const_data_ptr<float>()[i] + 1;
  return Error::Ok;
}

// Computes on the pool until it is stopped, for 20 s at most.
Error long_work(KernelContext& context, const Tensor&, Tensor& out) {
  ++gate.arrived;
  context.parallel_for(20'000, 1, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  out.mutable_data_ptr<float>()[0] = -1;
  return Error::Ok;
}

constexpr KernelEntry kEntries[] = {
    {"test::add_one", &boxed<&add_one>, signature_of<&add_one>()},
    {"test::long_work", &boxed<&long_work>, signature_of<&long_work>()},
};
constexpr OperatorTable kTable = {kEntries, 2};

// `calls` calls of one operator on one element.
Bytes program(const char* name, int calls) {
  PlanSpec plan;
  plan.values = {tensor({.sizes = {1}}), tensor({.sizes = {1}})};
  plan.inputs = {0};
  plan.outputs = {1};
  plan.operators = {{name, ""}};
  plan.instructions = {call(0, {0, 1})};
  for (int i = 1; i < calls; ++i) plan.instructions.push_back(call(0, {1, 1}));
  return build(plan);
}

std::unique_ptr<Module> load(const Bytes& file, size_t threads = 2) {
  ModuleOptions options;
  options.threads = threads;
  return std::move(*Module::load_bytes({file.data(), file.size()}, kTable, options));
}

// The result of one execution.
struct Outcome {
  std::promise<Error> promise;
  std::future<Error> future = promise.get_future();
  ExecutionQueue::Done done() {
    return [this](Error error) { promise.set_value(error); };
  }
};

class AsyncExecution : public ::testing::Test {
 protected:
  void SetUp() override {
    gate.arrived = 0;
    gate.open = true;
  }
};

TEST_F(AsyncExecution, CallsBackWithOutputs_OnAThreadOfThePool) {
  for (const size_t threads : {1, 2}) {
    const Bytes file = program("test::add_one", 3);
    const auto module = load(file, threads);
    FloatTensor input({1}, {4});
    std::promise<std::vector<float>> outputs;
    std::thread::id thread;
    const auto execution = module->execute_async("forward", {input.value()}, {}, [&](Error error) {
      thread = std::this_thread::get_id();
      outputs.set_value(error == Error::Ok ? elements((*module->method())->method().output(0))
                                           : std::vector<float>());
    });
    ASSERT_TRUE(execution.ok());
    EXPECT_THAT(outputs.get_future().get(), ElementsAre(7));
    EXPECT_TRUE((*execution)->has_begun());
    EXPECT_NE(thread, std::this_thread::get_id());
  }
}

TEST_F(AsyncExecution, KeepsTheOrderOfOneMethod) {
  const Bytes file = program("test::add_one", 1);
  const auto module = load(file, 3);
  std::vector<std::unique_ptr<FloatTensor>> inputs;
  std::vector<std::pair<Error, float>> results;
  std::promise<void> ended;
  for (int i = 0; i < 20; ++i) {
    inputs.push_back(std::make_unique<FloatTensor>(std::vector<int32_t>{1}, std::vector<float>{float(i)}));
    const auto begun = module->execute_async("forward", {inputs.back()->value()}, {}, [&](Error error) {
      results.emplace_back(error, elements((*module->method())->method().output(0))[0]);
      if (results.size() == 20) ended.set_value();
    });
    ASSERT_TRUE(begun.ok());
  }
  ended.get_future().get();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(results[i], std::make_pair(Error::Ok, float(i + 1)));
}

TEST_F(AsyncExecution, RunsMethodsOfDifferentModulesAtOnce) {
  gate.open = false;
  const Bytes file = program("test::add_one", 1);
  const auto first = load(file);
  const auto second = load(file);
  FloatTensor input({1}, {0});
  Outcome one;
  Outcome two;
  ASSERT_TRUE(first->execute_async("forward", {input.value()}, {}, one.done()).ok());
  ASSERT_TRUE(second->execute_async("forward", {input.value()}, {}, two.done()).ok());
  EXPECT_TRUE(Gate::wait([] { return gate.arrived.load() == 2; }));
  gate.open = true;
  EXPECT_EQ(one.future.get(), Error::Ok);
  EXPECT_EQ(two.future.get(), Error::Ok);
}

TEST_F(AsyncExecution, StopsBetweenInstructions_AndTheMethodStaysUsable) {
  gate.open = false;
  const Bytes file = program("test::add_one", 5);
  const auto module = load(file);
  FloatTensor input({1}, {1});
  Outcome running;
  Outcome queued;
  const auto first = module->execute_async("forward", {input.value()}, {}, running.done());
  const auto second = module->execute_async("forward", {input.value()}, {}, queued.done());
  ASSERT_TRUE(Gate::wait([] { return gate.arrived.load() == 1; }));
  EXPECT_FALSE((*second)->has_begun());
  (*first)->cancel();
  (*second)->cancel();
  gate.open = true;
  EXPECT_EQ(running.future.get(), Error::Cancelled);
  EXPECT_EQ(queued.future.get(), Error::Cancelled);
  EXPECT_EQ(gate.arrived.load(), 1);  // nothing of the queued one, no further instruction of the first
  Outcome after;
  ASSERT_TRUE(module->execute_async("forward", {input.value()}, {}, after.done()).ok());
  EXPECT_EQ(after.future.get(), Error::Ok);
  const auto outputs = module->forward({input.value()});
  ASSERT_TRUE(outputs.ok());
  EXPECT_THAT(elements((*outputs)[0]), ElementsAre(6));
}

TEST_F(AsyncExecution, StopsInsideOfALongKernel) {
  const Bytes file = program("test::long_work", 1);
  const auto module = load(file);
  FloatTensor input({1}, {1});
  Outcome outcome;
  const auto execution = module->execute_async("forward", {input.value()}, {}, outcome.done());
  ASSERT_TRUE(Gate::wait([] { return gate.arrived.load() == 1; }));
  const auto begin = Clock::now();
  (*execution)->cancel();
  EXPECT_EQ(outcome.future.get(), Error::Cancelled);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(3));
}

TEST_F(AsyncExecution, EndsAtItsDeadline) {
  const Bytes file = program("test::long_work", 1);
  const auto module = load(file);
  FloatTensor input({1}, {1});
  ExecutionOptions options;
  options.deadline = Clock::now() + std::chrono::milliseconds(30);
  Outcome late;
  Outcome later;
  ASSERT_TRUE(module->execute_async("forward", {input.value()}, options, late.done()).ok());
  ASSERT_TRUE(module->execute_async("forward", {input.value()}, options, later.done()).ok());
  EXPECT_EQ(late.future.get(), Error::DeadlineExceeded);
  EXPECT_EQ(later.future.get(), Error::DeadlineExceeded);
  EXPECT_EQ(gate.arrived.load(), 1);  // the second was late before its turn
}

TEST_F(AsyncExecution, SaysWhatFailed) {
  const Bytes file = program("test::add_one", 1);
  const auto module = load(file);
  Outcome outcome;
  ASSERT_TRUE(module->execute_async("forward", {}, {}, outcome.done()).ok());
  EXPECT_EQ(outcome.future.get(), Error::InvalidArgument);
  EXPECT_EQ(module->execute_async("backward", {}, {}, outcome.done()).error(), Error::NotFound);
}

TEST_F(AsyncExecution, IsCancelledAndAwaited_WhenItsModuleIsDestroyed) {
  gate.open = false;
  const Bytes file = program("test::add_one", 4);
  auto module = load(file);
  FloatTensor input({1}, {1});
  Outcome running;
  Outcome queued;
  ASSERT_TRUE(module->execute_async("forward", {input.value()}, {}, running.done()).ok());
  ASSERT_TRUE(module->execute_async("forward", {input.value()}, {}, queued.done()).ok());
  ASSERT_TRUE(Gate::wait([] { return gate.arrived.load() == 1; }));
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    gate.open = true;
  });
  module.reset();
  opener.join();
  using std::chrono::seconds;
  ASSERT_EQ(running.future.wait_for(seconds(0)), std::future_status::ready);
  ASSERT_EQ(queued.future.wait_for(seconds(0)), std::future_status::ready);
  EXPECT_EQ(running.future.get(), Error::Cancelled);
  EXPECT_EQ(queued.future.get(), Error::Cancelled);
}

TEST_F(AsyncExecution, MayDestroyItsModule) {
  for (const size_t threads : {1, 2}) {
    const Bytes file = program("test::add_one", 1);
    auto module = load(file, threads);
    FloatTensor input({1}, {1});
    Outcome queued;
    std::promise<void> destroyed;
    gate.open = false;
    auto& method = **module->method();
    method.execute_async({input.value()}, {}, [&](Error) {
      module.reset();
      destroyed.set_value();
    });
    method.execute_async({input.value()}, {}, queued.done());
    gate.open = true;
    destroyed.get_future().get();
    EXPECT_EQ(queued.future.get(), Error::Cancelled);
  }
}

}  // namespace
}  // namespace rushlight
