// SPDX-License-Identifier: BSD-3-Clause
// A delegate reports the events of its nodes and the memory that it takes.
#include "backends/xnnpack/delegate.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/trace/etdump.h"
#include "tests/backends/xnnpack/graph_builder.h"
#include "tests/backends/xnnpack/loaded_delegate.h"

namespace rushlight::xnnpack {
namespace {

using ::testing::ElementsAre;

// Notes delegate events as they end, and values.
class Recorder final : public EventTracer {
 public:
  std::vector<std::string> lines;

  void create_event_block(const char* name) override { lines.emplace_back(name); }
  EventTracerEntry start_profiling(const char* name, ChainId, DebugHandle) override {
    lines.emplace_back(name);
    return {};
  }
  void end_profiling(const EventTracerEntry&) override {}
  EventTracerEntry start_profiling_delegate(DelegateEventId id) override {
    names_.emplace_back(id.name);
    EventTracerEntry entry;
    entry.event_id = static_cast<int64_t>(names_.size() - 1);
    entry.delegate_id_kind = DelegateIdKind::Name;
    return entry;
  }
  void end_profiling_delegate(const EventTracerEntry& entry, Span<const uint8_t> metadata) override {
    lines.push_back(names_[static_cast<size_t>(entry.event_id)] + "|" +
                    std::string(metadata.begin(), metadata.end()));
  }
  void log_profiling_delegate(DelegateEventId, uint64_t, uint64_t, Span<const uint8_t>) override {}
  AllocatorId track_allocator(const char*) override { return 0; }
  void track_allocation(AllocatorId, size_t) override {}
  Result<bool> log_value(const EValue&, LoggedValue) override { return false; }
  Result<bool> log_delegate_output(DelegateEventId id, const EValue& value) override {
    lines.push_back(std::string(id.name) + "=" +
                    std::to_string(value.to_tensor().const_data_ptr<float>()[1]));
    return true;
  }
  Result<bool> log_delegate_output(DelegateEventId, Span<const Tensor>) override { return false; }
  void set_delegate_output_filter(EventTracerFilter*) override {}

 private:
  std::vector<std::string> names_;
};

// Has `limit` bytes.
class Host final : public BackendHost {
 public:
  explicit Host(size_t limit = SIZE_MAX) : left_(limit) {}
  ~Host() {
    if (object_ != nullptr) kind_->destroy(object_);
  }

  [[nodiscard]] size_t bytes_left() const override { return left_; }
  Error take(const DelegateMemory& memory) override {
    const size_t size = memory.working + (prepares_weights ? memory.prepared : 0);
    if (size > left_) return Error::MemoryAllocationFailed;
    left_ -= size;
    taken.push_back(memory);
    return Error::Ok;
  }
  void give_back(const DelegateMemory& memory) override { left_ += memory.working + memory.prepared; }
  void release_pages() override {}
  [[nodiscard]] bool prepares() const override { return prepares_weights; }
  [[nodiscard]] void* shared(const SharedKind& kind) override {
    kind_ = &kind;
    return object_ = object_ == nullptr ? kind.make() : object_;
  }

  [[nodiscard]] void* object() const { return object_; }

  std::vector<DelegateMemory> taken;
  bool prepares_weights = true;

 private:
  size_t left_;
  const SharedKind* kind_ = nullptr;
  void* object_ = nullptr;
};

Error run(LoadedDelegate* delegate, SizesType rows = 2, EventTracer* tracer = nullptr,
          SizesType outputs = 3) {
  float x[] = {-1, 2, -3, 4, -5, 6};
  std::vector<float> y(static_cast<size_t>(2 * outputs));
  Matrix in(x, rows, 3), out(y.data(), 2, outputs);
  EValue* arguments[] = {&in.value, &out.value};
  return delegate->execute({arguments, 2}, tracer);
}

// y = x . w^T with many weights, so that they are worth packing.
Graph wide_linear() {
  Graph graph;
  graph.values.resize(3);
  graph.values[0].external = 0;
  graph.values[1].dims = {512, 3};
  graph.values[1].constant = 1;
  graph.values[2].dims = {2, 512};
  graph.values[2].external = 1;
  graph.nodes = {{XNodeUnion::XNNFullyConnected, fields(0, 1, kNone, 2, 0)}};
  graph.inputs = {0};
  graph.outputs = {2};
  graph.buffers = {{}, std::vector<uint8_t>(512 * 3 * sizeof(float))};
  return graph;
}

TEST(Delegate, ATracer_IsToldOfEachNode) {
  const std::vector<uint8_t> bytes = two_nodes().build();
  Recorder recorder;
  const auto delegate = load_delegate(bytes, nullptr, &recorder);
  ASSERT_TRUE(delegate.ok());
  recorder.set_chain_debug_handle(0, 3);
  ASSERT_EQ(run(delegate->get(), 2, &recorder), Error::Ok);
  EXPECT_THAT(recorder.lines, ElementsAre("neg.out #1|debug_handle=0", "abs.out #1|debug_handle=0"));
  EXPECT_EQ(recorder.debug_handle(), 3u);
  recorder.lines.clear();
  ASSERT_EQ(run(delegate->get(), 1, &recorder), Error::Ok);  // as in another program
  EXPECT_THAT(recorder.lines, ElementsAre("neg.out #1|debug_handle=0", "abs.out #1|debug_handle=0"));
}

TEST(Delegate, ATracer_HasValuesAndNoTimesAsItAsks) {
  const std::vector<uint8_t> bytes = two_nodes().build();
  Recorder recorder;
  recorder.set_debug_level(DebugLevel::IntermediateOutputs);
  recorder.set_profiling_level(ProfilingLevel::MethodOnly);
  const auto delegate = load_delegate(bytes, nullptr, &recorder);
  ASSERT_TRUE(delegate.ok());
  ASSERT_EQ(run(delegate->get(), 2, &recorder), Error::Ok);
  EXPECT_THAT(recorder.lines, ElementsAre("neg.out #1=-2.000000", "abs.out #1=2.000000"));
  recorder.lines.clear();
  ASSERT_EQ(run(delegate->get()), Error::Ok);  // nobody listens
  EXPECT_TRUE(recorder.lines.empty());
}

TEST(Delegate, AnETDump_HasNamesAndHandles) {
  const std::vector<uint8_t> bytes = two_nodes().build();
  std::vector<uint8_t> memory(1 << 14);
  ETDump trace({memory.data(), memory.size()});
  trace.create_event_block("Execute");
  const auto delegate = load_delegate(bytes, nullptr, &trace);
  ASSERT_TRUE(delegate.ok());
  ASSERT_EQ(run(delegate->get(), 2, &trace), Error::Ok);
  const Span<const uint8_t> file = trace.finish();
  const std::string text(file.begin(), file.end());
  EXPECT_NE(text.find("neg.out #1"), std::string::npos);
  EXPECT_NE(text.find("debug_handle=0"), std::string::npos);
  EXPECT_EQ(text.find("Method::execute"), std::string::npos);
}

TEST(Delegate, EqualWeights_ArePackedOnce) {
  const std::vector<uint8_t> bytes = wide_linear().build(), same = bytes;
  Host host;
  const auto first = load_delegate(bytes, &host), second = load_delegate(same, &host);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_EQ(host.taken.size(), 2u);
  EXPECT_GE(host.taken[0].prepared, 512 * 3 * sizeof(float));
  EXPECT_EQ(host.taken[1].prepared, 0u);
  EXPECT_EQ(run(first->get(), 2, nullptr, 512), Error::Ok);
  EXPECT_EQ(run(second->get(), 2, nullptr, 512), Error::Ok);
  EXPECT_EQ(run(second->get(), 1, nullptr, 512), Error::Ok);  // another program of the same weights
  ASSERT_EQ(host.taken.size(), 3u);
  EXPECT_EQ(host.taken[2].prepared, 0u);
}

TEST(Delegate, OtherWeights_ArePackedToo) {
  Graph graph = wide_linear();
  const std::vector<uint8_t> bytes = graph.build();
  graph.buffers[1][5] = 1;
  const std::vector<uint8_t> other = graph.build();
  Host host;
  const auto first = load_delegate(bytes, &host), second = load_delegate(other, &host);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(host.taken[1].prepared, host.taken[0].prepared);
}

TEST(Delegate, AHostThatPreparesNothing_HasNothingPacked) {
  const std::vector<uint8_t> bytes = wide_linear().build();
  Host host;
  host.prepares_weights = false;
  const auto delegate = load_delegate(bytes, &host);
  ASSERT_TRUE(delegate.ok());
  EXPECT_GE(host.taken[0].prepared, 512 * 3 * sizeof(float));  // the size if it prepared them
  auto* weights = static_cast<SharedWeights*>(host.object());
  EXPECT_EQ(weights->prepared.weights().arena().used(), 0u);
  EXPECT_EQ(run(delegate->get(), 2, nullptr, 512), Error::Ok);
}

TEST(Delegate, AHostsLimit_IsKept) {
  const std::vector<uint8_t> bytes = wide_linear().build();
  Host plenty;
  ASSERT_TRUE(load_delegate(bytes, &plenty).ok());
  const DelegateMemory needs = plenty.taken[0];
  Host scarce(needs.working + needs.prepared - 1);
  const auto unpacked = load_delegate(bytes, &scarce);  // without what does not fit
  ASSERT_TRUE(unpacked.ok());
  EXPECT_EQ(scarce.taken[0].prepared, 0u);
  EXPECT_EQ(run(unpacked->get(), 2, nullptr, 512), Error::Ok);
  Host nothing(100);
  EXPECT_EQ(load_delegate(bytes, &nothing).error(), Error::MemoryAllocationFailed);
}

TEST(Delegate, AProgramThatIsReplaced_GivesItsMemoryBack) {
  const std::vector<uint8_t> bytes = two_nodes().build();
  Host host;
  const auto delegate = load_delegate(bytes, &host);
  ASSERT_TRUE(delegate.ok());
  ASSERT_EQ(run(delegate->get(), 1), Error::Ok);
  ASSERT_EQ(host.taken.size(), 2u);
  EXPECT_EQ(SIZE_MAX - host.bytes_left(), host.taken[1].working + host.taken[1].prepared);
}

}  // namespace
}  // namespace rushlight::xnnpack
