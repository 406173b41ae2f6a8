// SPDX-License-Identifier: BSD-3-Clause
// Methods that share the threads of one pool, and run at once.
#include <atomic>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/kernel/boxing.h"
#include "runtime/module/module.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words

constexpr int32_t kSize = 999;

// Each item by itself, so that threads take turns often.
Error prefix_sum(KernelContext& context, const Tensor& a, Tensor& out) {
  const float* from = a.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  context.parallel_for(a.numel(), 16, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) to[i] = std::accumulate(from, from + i + 1, 0.0f);
  });
  return Error::Ok;
}

constexpr KernelEntry kEntries[] = {
    {"test::prefix_sum", &boxed<&prefix_sum>, signature_of<&prefix_sum>()},
};
constexpr OperatorTable kTable = {kEntries, 1};

// Twice, the first result planned.
Bytes program() {
  PlanSpec plan;
  plan.values = {tensor({.sizes = {kSize}}), tensor({.sizes = {kSize}, .memory_id = 1}),
                 tensor({.sizes = {kSize}})};
  plan.inputs = {0};
  plan.outputs = {2};
  plan.operators = {{"test::prefix_sum", ""}};
  plan.instructions = {call(0, {0, 1}), call(0, {1, 2})};
  plan.buffer_sizes = {0, kSize * sizeof(float)};
  return build(plan);
}

std::vector<float> expected(float first) {
  std::vector<float> values(kSize, first);
  for (int pass = 0; pass < 2; ++pass) std::partial_sum(values.begin(), values.end(), values.begin());
  return values;
}

// How many of some calls gave something else.
int wrong_calls(ModuleMethod& method, float first) {
  FloatTensor input({kSize}, std::vector<float>(kSize, first));
  const std::vector<float> wanted = expected(first);
  int wrong = 0;
  for (int call = 0; call < 50; ++call) {
    const bool ran =
        method.method().set_input(0, input.value()) == Error::Ok && method.method().execute() == Error::Ok;
    if (!ran || elements(method.method().output(0)) != wanted) ++wrong;
  }
  return wrong;
}

TEST(SharedThreads, MethodsThatRunAtOnce_GiveWhatEachGivesAlone) {
  const Bytes file = program();
  ModuleOptions options;
  options.threads = 3;
  // Two methods of one program, and one of another that asks for as many threads.
  const auto first = Module::load_bytes({file.data(), file.size()}, kTable, options);
  const auto second = Module::load_bytes({file.data(), file.size()}, kTable, options);
  ASSERT_TRUE(first.ok() && second.ok());
  std::vector<std::unique_ptr<ModuleMethod>> methods;
  for (const Module* module : {first->get(), first->get(), second->get()}) {
    auto method = module->load_method("forward");
    ASSERT_TRUE(method.ok());
    methods.push_back(std::move(*method));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (size_t i = 0; i < methods.size(); ++i) {
    callers.emplace_back([&, i] { wrong += wrong_calls(*methods[i], static_cast<float>(i + 1)); });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(SharedThreads, CallsAndExecutionsInTheBackground_GiveWhatEachGivesAlone) {
  const Bytes file = program();
  ModuleOptions options;
  options.threads = 3;
  const auto module = Module::load_bytes({file.data(), file.size()}, kTable, options);
  ASSERT_TRUE(module.ok());
  std::vector<std::unique_ptr<ModuleMethod>> methods;
  for (int i = 0; i < 6; ++i) {
    auto method = (*module)->load_method("forward");
    ASSERT_TRUE(method.ok());
    methods.push_back(std::move(*method));
  }
  std::atomic<int> wrong{0};
  std::atomic<int> ended{0};
  std::vector<std::thread> callers;
  for (size_t i = 0; i < 3; ++i) {
    callers.emplace_back([&, i] { wrong += wrong_calls(*methods[i], static_cast<float>(i + 1)); });
  }
  FloatTensor input({kSize}, std::vector<float>(kSize, 2));
  const std::vector<float> wanted = expected(2);
  for (int i = 0; i < 60; ++i) {
    ModuleMethod& method = *methods[static_cast<size_t>(3 + i % 3)];
    const auto execution = method.execute_async({input.value()}, {}, [&](Error error) {
      if (error == Error::Ok ? elements(method.method().output(0)) != wanted : error != Error::Cancelled)
        ++wrong;
      ++ended;
    });
    if (i % 7 == 0) execution->cancel();
  }
  for (std::thread& caller : callers) caller.join();
  while (ended.load() < 60) std::this_thread::yield();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace rushlight
