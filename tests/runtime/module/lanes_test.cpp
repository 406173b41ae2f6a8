// SPDX-License-Identifier: BSD-3-Clause
// Calls in lanes give the bits that they give one after another: on random programs whose memory is reused,
// and in the order of failures, state and interrupts.
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/kernel/boxing.h"
#include "runtime/module/module.h"
#include "runtime/module/trial.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;

// out[i] = a[i] / 2 + b[i] / 4 + 1; a longer b is read to its end. Results depend on the order of calls.
Error mix(KernelContext& context, const Tensor& a, const Tensor& b, Tensor& out) {
  auto* scratch = static_cast<float*>(context.allocate_temp(sizeof(float)));
  if (scratch == nullptr) return Error::MemoryAllocationFailed;
  *scratch = 0;
  const auto* from = b.const_data_ptr<float>();
  for (size_t i = out.numel(); i < b.numel(); ++i) *scratch += from[i];
  context.parallel_for(out.numel(), 2, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) {
      out.mutable_data_ptr<float>()[i] = a.const_data_ptr<float>()[i] / 2 + from[i] / 4 + 1 + *scratch / 8;
    }
  });
  return Error::Ok;
}

// cache[position] = a[0]; out = cache
Error update(KernelContext&, const Tensor& a, Tensor& cache, int64_t position, Tensor& out) {
  cache.mutable_data_ptr<float>()[position] = a.const_data_ptr<float>()[0];
  std::memcpy(out.mutable_data_ptr(), cache.const_data_ptr(), out.nbytes());
  return Error::Ok;
}

Error fail(KernelContext&, const Tensor& a, Tensor&) {
  return a.const_data_ptr<float>()[0] < 0 ? Error::Internal : Error::Ok;
}

// Copies; slow with several threads, or with one.
Error slow_if(KernelContext& context, bool several, const Tensor& a, Tensor& out) {
  if ((context.threads() > 1) == several) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::memcpy(out.mutable_data_ptr(), a.const_data_ptr(), out.nbytes());
  return Error::Ok;
}
Error slow_together(KernelContext& context, const Tensor& a, Tensor& out) {
  return slow_if(context, true, a, out);
}
Error slow_alone(KernelContext& context, const Tensor& a, Tensor& out) {
  return slow_if(context, false, a, out);
}
Error long_alone(KernelContext& context, const Tensor& a, Tensor& out) {
  if (context.threads() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(25));
  return slow_alone(context, a, out);
}

constexpr KernelEntry kSlowEntries[] = {
    {"test::long_alone", &boxed<&long_alone>, signature_of<&long_alone>()},
    {"test::slow_alone", &boxed<&slow_alone>, signature_of<&slow_alone>()},
    {"test::slow_together", &boxed<&slow_together>, signature_of<&slow_together>()},
};
constexpr OperatorTable kSlow = {kSlowEntries, 3};

constexpr KernelEntry kEntries[] = {
    {"test::fail", &boxed<&fail>, signature_of<&fail>()},
    {"test::mix", &boxed<&mix>, signature_of<&mix>()},
    {"test::update", &boxed<&update>, signature_of<&update>()},
};
constexpr const char* kNone[] = {nullptr};
constexpr const char* kMix[] = {"test::mix", nullptr};
constexpr OperatorTable kFree = {kEntries, 3, nullptr, nullptr, kNone};
constexpr OperatorTable kOrderedMix = {kEntries, 3, nullptr, nullptr, kMix};
constexpr OperatorTable kOrdered = {kEntries, 3};

constexpr int32_t kSize = 8;
constexpr uint64_t kBytes = kSize * sizeof(float);

// Writes a random program that uses its memory again as soon as it can.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {
    plan_.operators = {{"test::mix", ""}};
    for (int i = 0; i < 2; ++i) plan_.inputs.push_back(add(allocate(1), kSize));
    plan_.inputs.push_back(static_cast<int32_t>(plan_.values.size()));
    plan_.values.push_back(tensor({.sizes = {kSize}}));  // lent
    for (const int32_t input : plan_.inputs) live_.push_back({input, UINT64_MAX});
    const uint64_t state = allocate(1);
    state_ = add(state, kSize);
    next_state_ = add(state, kSize);  // the same bytes under another index
    for (int step = 0; step < 40; ++step) make_step();
    for (int i = 0; i < 3; ++i) plan_.outputs.push_back(pick().value);
    plan_.buffer_sizes = {0, static_cast<int64_t>(blocks_.size() * kBytes)};
  }

  [[nodiscard]] Bytes bytes() const { return build(plan_); }
  [[nodiscard]] size_t instructions() const { return plan_.instructions.size(); }

 private:
  struct Live {
    int32_t value;
    uint64_t block;  // UINT64_MAX: not to be freed
  };

  size_t below(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }

  int32_t add(uint64_t block, int32_t size) {
    plan_.values.push_back(tensor({.sizes = {size}, .memory_id = 1, .offset = block * kBytes}));
    return static_cast<int32_t>(plan_.values.size()) - 1;
  }

  // The first `count` free blocks in a row.
  uint64_t allocate(size_t count) {
    size_t free = 0;
    for (size_t i = 0;; ++i) {
      if (i == blocks_.size()) blocks_.push_back(false);
      free = blocks_[i] ? 0 : free + 1;
      if (free < count) continue;
      for (size_t each = i + 1 - count; each <= i; ++each) blocks_[each] = true;
      return i + 1 - count;
    }
  }

  Live& pick() { return live_[below(live_.size())]; }

  void call_mix(int32_t a, int32_t b, int32_t out) { plan_.instructions.push_back(call(0, {a, b, out})); }

  void make_step() {
    const int32_t a = pick().value, b = pick().value;
    switch (below(6)) {
      case 0: {  // in place: the result has the memory of an operand, which ends
        const size_t at = below(live_.size());
        if (live_[at].block == UINT64_MAX) return;
        const int32_t out = add(live_[at].block, kSize);
        call_mix(live_[at].value, b, out);
        live_[at].value = out;
        return;
      }
      case 1: {  // two calls write slices of a whole, which a third reads
        const uint64_t block = allocate(2);
        const int32_t left = add(block, kSize), right = add(block + 1, kSize), whole = add(block, 2 * kSize);
        const uint64_t to = allocate(1);
        call_mix(a, b, left);
        call_mix(b, a, right);
        const int32_t out = add(to, kSize);
        call_mix(left, whole, out);
        blocks_[block] = blocks_[block + 1] = false;
        live_.push_back({out, to});
        return;
      }
      case 2: {
        if (below(2) == 0) return call_mix(state_, a, state_);
        // Through a result in between, so that no call shows that the next state replaces the state.
        const uint64_t block = allocate(1);
        const int32_t between = add(block, kSize);
        call_mix(state_, a, between);
        call_mix(between, b, next_state_);
        live_.push_back({between, block});
        return;
      }
      case 3: {  // ends a value, so that its memory is used again
        const size_t at = below(live_.size());
        if (live_[at].block == UINT64_MAX) return;
        blocks_[live_[at].block] = false;
        live_.erase(live_.begin() + static_cast<ptrdiff_t>(at));
        return;
      }
      default: {
        const uint64_t block = allocate(1);
        const int32_t out = add(block, kSize);
        call_mix(a, b, out);
        live_.push_back({out, block});
      }
    }
  }

  std::mt19937 random_;
  PlanSpec plan_;
  std::vector<bool> blocks_;  // in use
  std::vector<Live> live_;
  int32_t state_ = 0;
  int32_t next_state_ = 0;
};

// A method with its module. Each call is said to take 10 microseconds, too few for threads to share it, so
// that every window pays.
class Loading {
 public:
  Loading(const Bytes& file, size_t lanes, size_t instructions, const OperatorTable& table = kFree,
          Interrupt* interrupt = nullptr) {
    ModuleOptions options;
    options.threads = 3;
    options.lanes = lanes;
    options.method.interrupt = interrupt;
    options.call_seconds["forward"] = std::vector<double>(instructions, 1e-5);
    auto module = Module::load_bytes({file.data(), file.size()}, table, options);
    if (!module.ok()) return;
    module_ = std::move(*module);
    auto method = module_->load_method("forward");
    if (method.ok()) method_ = std::move(*method);
  }

  [[nodiscard]] bool ok() const { return method_ != nullptr; }
  ModuleMethod* operator->() { return method_.get(); }

  // Outputs for inputs that are all `first`, `first` + 1 and so on; empty if the execution failed.
  std::vector<float> run(float first) {
    std::vector<float> all;
    for (size_t i = 0; i < method_->method().meta().num_inputs(); ++i) {
      inputs_.push_back(
          std::make_unique<FloatTensor>(std::vector<int32_t>{kSize}, std::vector<float>(kSize, first)));
      first += 1;
      if (method_->method().set_input(i, inputs_.back()->value()) != Error::Ok) return {};
    }
    if (method_->execute() != Error::Ok) return {};
    for (const EValue& output : method_->outputs()) {
      const std::vector<float> values = elements(output);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

 private:
  std::unique_ptr<Module> module_;
  std::unique_ptr<ModuleMethod> method_;
  std::vector<std::unique_ptr<FloatTensor>> inputs_;
};

TEST(Lanes, RandomPrograms_GiveTheSameBits) {
  size_t windows = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const RandomProgram program(seed);
    const Bytes file = program.bytes();
    Loading in_order(file, 1, program.instructions());
    Loading in_lanes(file, 3, program.instructions());
    ASSERT_TRUE(in_order.ok() && in_lanes.ok()) << seed;
    EXPECT_EQ(in_order->lane_facts().windows, 0u);
    windows += in_lanes->lane_facts().windows;
    // Enough to time each window in lanes and in order, all threads and one alone, and for the fastest way.
    for (int call = 0; call < 28; ++call) {
      const auto first = static_cast<float>(call);
      ASSERT_EQ(in_lanes.run(first), in_order.run(first)) << "seed " << seed << ", call " << call;
    }
  }
  EXPECT_GT(windows, 300u);
}

// Two chains of calls. Their tensors have the same bytes, one after the other, except for inputs and results.
PlanSpec two_chains(int length) {
  PlanSpec plan;
  const auto block = [&](uint64_t at) {
    plan.values.push_back(tensor({.sizes = {kSize}, .memory_id = 1, .offset = at * kBytes}));
    return static_cast<int32_t>(plan.values.size()) - 1;
  };
  plan.operators = {{"test::mix", ""}, {"test::fail", ""}};
  plan.inputs = {block(0), block(1)};
  for (int chain = 0; chain < 2; ++chain) {
    int32_t value = plan.inputs[static_cast<size_t>(chain)];
    for (int i = 0; i < length; ++i) {
      const int32_t next =
          block(i + 1 == length ? static_cast<uint64_t>(4 + chain) : static_cast<uint64_t>(2 + i % 2));
      plan.instructions.push_back(call(0, {value, value, next}));
      value = next;
    }
    plan.outputs.push_back(value);
  }
  plan.buffer_sizes = {0, 6 * kBytes};
  return plan;
}

TEST(Lanes, ChainsThatSharePlannedMemory_GetMemoryOfTheirOwn) {
  const PlanSpec plan = two_chains(5);
  Loading method(build(plan), 2, plan.instructions.size());
  ASSERT_TRUE(method.ok());
  const LaneFacts facts = method->lane_facts();
  EXPECT_EQ(facts.windows, 1u);
  EXPECT_EQ(facts.calls, 10u);
  EXPECT_EQ(facts.lanes, 2u);
  EXPECT_EQ(facts.program_bytes, 6 * kBytes);
  // Inputs and results, and two blocks for each chain.
  EXPECT_EQ(facts.planned_bytes, 8 * LaneMemory::kAlignment);
}

TEST(Lanes, OperatorsThatKeepTheirOrder_AreInNoWindow) {
  const PlanSpec plan = two_chains(5);
  for (const OperatorTable* table : {&kOrdered, &kOrderedMix}) {
    Loading method(build(plan), 2, plan.instructions.size(), *table);
    ASSERT_TRUE(method.ok());
    EXPECT_EQ(method->lane_facts().windows, 0u);
    EXPECT_EQ(method->lane_facts().planned_bytes, method->lane_facts().program_bytes);
  }
}

TEST(Lanes, ACacheThatIsWrittenInPart_KeepsTheRest) {
  PlanSpec plan = two_chains(3);
  plan.operators.emplace_back("test::update", "");
  // Beyond all others, one after the other: nothing but the update uses the cache.
  const auto block = [&](uint64_t at) {
    plan.values.push_back(tensor({.sizes = {kSize}, .memory_id = 1, .offset = at * kBytes}));
    return static_cast<int32_t>(plan.values.size()) - 1;
  };
  const int32_t cache = block(6), out = block(7);
  plan.values.push_back(integer(3));
  plan.instructions.push_back(
      call(2, {plan.outputs[0], cache, static_cast<int32_t>(plan.values.size()) - 1, out}));
  plan.outputs.push_back(out);
  plan.buffer_sizes = {0, 8 * kBytes};
  Loading method(build(plan), 2, plan.instructions.size());
  Loading in_order(build(plan), 1, plan.instructions.size());
  ASSERT_TRUE(method.ok() && in_order.ok());
  ASSERT_EQ(method->lane_facts().windows, 1u);
  for (int call = 0; call < 16; ++call) {
    const auto first = static_cast<float>(call);
    ASSERT_EQ(method.run(first), in_order.run(first));
  }
  // The cache shares bytes with nothing: inputs, results, the cache, and two blocks for each chain.
  EXPECT_EQ(method->lane_facts().planned_bytes, 10 * LaneMemory::kAlignment);
}

TEST(Lanes, JumpsEndWindows_AndMemoryStays) {
  PlanSpec plan = two_chains(3);
  // In the middle of the first chain; it never jumps.
  plan.values.push_back(boolean(1));
  const auto condition = static_cast<int32_t>(plan.values.size()) - 1;
  plan.instructions.insert(plan.instructions.begin() + 1, jump_false(condition, 0));
  Loading method(build(plan), 2, plan.instructions.size());
  Loading in_order(build(plan), 1, plan.instructions.size());
  ASSERT_TRUE(method.ok() && in_order.ok());
  // The chains share bytes: only the end of one and the begin of the other can execute at once.
  EXPECT_EQ(method->lane_facts().calls, 2u);
  EXPECT_EQ(method->lane_facts().planned_bytes, method->lane_facts().program_bytes);
  for (int call = 0; call < 16; ++call) {
    const auto first = static_cast<float>(call);
    ASSERT_EQ(method.run(first), in_order.run(first));
  }
}

TEST(Lanes, SeveralFailures_TheFirstInTheProgramIsReported) {
  PlanSpec plan = two_chains(3);
  // At the end of both chains.
  plan.instructions.insert(plan.instructions.begin() + 3, call(1, {plan.outputs[0], plan.outputs[0]}));
  plan.instructions.push_back(call(1, {plan.outputs[1], plan.outputs[1]}));
  Loading method(build(plan), 2, plan.instructions.size());
  ASSERT_TRUE(method.ok());
  ASSERT_EQ(method->lane_facts().windows, 1u);
  for (int call = 0; call < 20; ++call) {
    EXPECT_TRUE(method.run(-1000).empty());
    EXPECT_EQ(method->method().failed_call().instruction, 3u);
    // A failure leaves the method usable.
    EXPECT_FALSE(method.run(1).empty());
  }
}

TEST(Lanes, AnInterrupt_StopsBetweenCalls) {
  class Stopping final : public Interrupt {
   public:
    Error poll(uint64_t* next) override {
      *next = 1;
      return ++polls > last ? Error::InvalidState : Error::Ok;
    }
    std::atomic<int> polls{0};
    int last = 1 << 30;
  } interrupt;
  const PlanSpec plan = two_chains(5);
  Loading method(build(plan), 2, plan.instructions.size(), kFree, &interrupt);
  ASSERT_TRUE(method.ok());
  ASSERT_EQ(method->lane_facts().windows, 1u);
  for (int call = 0; call < 16; ++call) ASSERT_FALSE(method.run(1).empty());
  interrupt.polls = 0;
  // Some polls come before the window, one for each of its calls.
  interrupt.last = 12;
  EXPECT_EQ(method->execute(), Error::InvalidState);
  interrupt.last = 1 << 30;
  EXPECT_FALSE(method.run(1).empty());
}

TEST(Lanes, AMemoryLimit_LeavesCallsInOrder) {
  const PlanSpec plan = two_chains(5);
  const Bytes file = build(plan);
  ModuleOptions options;
  options.threads = 2;
  options.call_seconds["forward"] = std::vector<double>(plan.instructions.size(), 1e-5);
  const auto open = Module::load_bytes({file.data(), file.size()}, kFree, options);
  const auto free = (*open)->load_method("forward");
  ASSERT_TRUE(free.ok());
  ASSERT_EQ((*free)->lane_facts().windows, 1u);
  options.max_memory = (*free)->taken_bytes() - 1;
  const auto limited = Module::load_bytes({file.data(), file.size()}, kFree, options);
  const auto method = (*limited)->load_method("forward");
  ASSERT_TRUE(method.ok());
  EXPECT_EQ((*method)->lane_facts().windows, 0u);
}

// A method with one call of an operator of kSlow.
Bytes one_call(const char* name) {
  PlanSpec plan;
  plan.operators = {{name, ""}};
  for (int i = 0; i < 2; ++i)
    plan.values.push_back(
        tensor({.sizes = {kSize}, .memory_id = 1, .offset = static_cast<uint64_t>(i) * kBytes}));
  plan.inputs = {0};
  plan.outputs = {1};
  plan.instructions = {call(0, {0, 1, 1})};
  plan.buffer_sizes = {0, 2 * kBytes};
  return build(plan);
}

TEST(Threads, TheCallerComputesAlone_WhereThatIsFaster) {
  for (const bool alone : {true, false}) {
    const Bytes file = one_call(alone ? "test::slow_together" : "test::slow_alone");
    Loading method(file, 2, 1, kSlow);
    ASSERT_TRUE(method.ok());
    for (size_t i = 0; i < 2 * (Trial::kRounds + 1); ++i) {
      EXPECT_FALSE(method->lane_facts().alone);
      EXPECT_EQ(method.run(3), std::vector<float>(kSize, 3));
    }
    EXPECT_EQ(method->lane_facts().alone, alone);
    EXPECT_EQ(method.run(5), std::vector<float>(kSize, 5));
  }
}

TEST(Threads, ALongExecution_IsNotTriedWithOneThread) {
  const Bytes file = one_call("test::long_alone");
  Loading method(file, 2, 1, kSlow);
  ASSERT_TRUE(method.ok());
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < 2 * (Trial::kRounds + 1); ++i) method.run(3);
  EXPECT_FALSE(method->lane_facts().alone);
  EXPECT_GT(std::chrono::steady_clock::now() - start,
            std::chrono::milliseconds(25) * 2 * (Trial::kRounds + 1));
}

TEST(Trial, KeepsTheNewWay_OnlyIfItIsFaster) {
  for (const double new_time : {0.5, 0.99, 2.0}) {
    Trial trial;
    size_t calls = 0;
    for (; trial.is_open(); ++calls) trial.note(trial.takes_new() ? new_time : 1.0);
    EXPECT_EQ(calls, 2 * (Trial::kRounds + 1));
    EXPECT_EQ(trial.takes_new(), new_time < Trial::kGain);
  }
}

TEST(Trial, MeasuresAgain_AfterLongerAndLongerStays) {
  Trial trial;
  for (const size_t stay : {Trial::kFirstStay, 2 * Trial::kFirstStay, 4 * Trial::kFirstStay}) {
    while (trial.is_open()) trial.note(1.0);
    for (size_t i = 0; i < stay; ++i) {
      ASSERT_FALSE(trial.is_open());
      trial.pass();
    }
    ASSERT_TRUE(trial.is_open());
  }
}

TEST(Trial, FirstTimesAndOneSlowOne_DecideNothing) {
  Trial trial;
  for (int call = 0; trial.is_open(); ++call) {
    const double usual = call < 2 ? 0.001 : 1.0;  // the cold one looks fast
    trial.note(!trial.takes_new() ? usual : call == 5 ? 100.0 : 0.5);
  }
  EXPECT_TRUE(trial.takes_new());
}

}  // namespace
}  // namespace rushlight
