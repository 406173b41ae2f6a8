// SPDX-License-Identifier: BSD-3-Clause
// The ETDump writer by itself: what goes in comes out, whatever the size of its memory.
#include "runtime/trace/etdump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/support/dump_reader.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

uint64_t ticks = 0;
uint64_t tick() { return ticks += 10; }

class ETDumpFile : public ::testing::Test {
 protected:
  void SetUp() override {
    ticks = 0;
    ::testing::internal::CaptureStderr();
  }
  void TearDown() override { ::testing::internal::GetCapturedStderr(); }

  Block memory_{16384};
  ETDump dump_{memory_.span(), tick};
};

TEST_F(ETDumpFile, WithoutBlocks_IsAWholeEmptyFile) {
  EXPECT_THAT(read_dump(dump_.finish()), IsEmpty());
  EXPECT_EQ(dump_.lost_events(), 0u);
}

TEST_F(ETDumpFile, Event_HasItsNameItsInstructionAndItsTimes) {
  dump_.create_event_block("Execute");
  dump_.set_chain_debug_handle(2, 7);
  const auto outer = dump_.start_profiling("outer");
  const auto inner = dump_.start_profiling("inner", 3, 9);
  dump_.end_profiling(inner);
  dump_.end_profiling(outer);
  const auto blocks = read_dump(dump_.finish());
  EXPECT_THAT(lines(blocks), ElementsAre("Execute: profile inner 3/9", "Execute: profile outer 2/7"));
  EXPECT_EQ(blocks[0].events[0].start, 20u);
  EXPECT_EQ(blocks[0].events[0].end, 30u);
  EXPECT_EQ(blocks[0].events[1].start, 10u);
  EXPECT_EQ(blocks[0].events[1].end, 40u);
}

TEST_F(ETDumpFile, ClockOfAnotherUnit_IsNamedByItsBlocks) {
  ETDump dump(memory_.span(), tick, "instructions");
  dump.end_profiling(dump.start_profiling("early"));
  dump.create_event_block("Execute");
  dump.create_event_block("a name that is longer than the memory provided to it");
  const auto blocks = read_dump(dump.finish());
  ASSERT_THAT(blocks, SizeIs(3));
  EXPECT_EQ(blocks[0].name, "Default [instructions]");
  EXPECT_EQ(blocks[1].name, "Execute [instructions]");
  EXPECT_EQ(blocks[2].name, "a name that is longer than the memory provided ");
}

TEST_F(ETDumpFile, EventWithoutBlock_BeginsADefaultOne) {
  dump_.end_profiling(dump_.start_profiling("early"));
  EXPECT_THAT(lines(read_dump(dump_.finish())), ElementsAre("Default: profile early -1/0"));
}

TEST_F(ETDumpFile, Block_HasTheBundledInputOfItsTime) {
  dump_.create_event_block("a");
  dump_.set_bundled_input_index(4);
  dump_.create_event_block("b");
  const auto blocks = read_dump(dump_.finish());
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_EQ(blocks[0].bundled_input, -1);
  EXPECT_EQ(blocks[1].bundled_input, 4);
}

TEST_F(ETDumpFile, DelegateEvents_HaveTheirIdsAndMetadata) {
  const uint8_t metadata[] = {1, 2, 255};
  dump_.set_chain_debug_handle(0, 5);
  dump_.end_profiling_delegate(dump_.start_profiling_delegate({"conv"}), metadata);
  dump_.end_profiling_delegate(dump_.start_profiling_delegate({nullptr, 12}));
  dump_.log_profiling_delegate({nullptr, 0}, 100, 250, metadata);
  const auto blocks = read_dump(dump_.finish());
  EXPECT_THAT(lines(blocks), ElementsAre("Default: profile @conv 0/5", "Default: profile #12 0/5",
                                         "Default: profile #0 0/5"));
  EXPECT_THAT(blocks[0].events[0].metadata, ElementsAre(1, 2, 255));
  EXPECT_THAT(blocks[0].events[1].metadata, IsEmpty());
  EXPECT_EQ(blocks[0].events[2].start, 100u);
  EXPECT_EQ(blocks[0].events[2].end, 250u);
}

TEST_F(ETDumpFile, Allocators_AreNumberedFromOneInEachBlock) {
  dump_.create_event_block("Default");
  EXPECT_EQ(dump_.track_allocator("method"), 1u);
  EXPECT_EQ(dump_.track_allocator("temporary"), 2u);
  dump_.track_allocation(2, 640);
  EXPECT_EQ(dump_.track_allocator("late"), 0u);
  const auto blocks = read_dump(dump_.finish());
  EXPECT_THAT(blocks[0].allocators, ElementsAre("method", "temporary"));
  EXPECT_EQ(blocks[0].events[0].what, "2: 640");
}

TEST_F(ETDumpFile, Values_AreLoggedByKind) {
  Block debug(4096);
  BufferDataSink sink(debug.span());
  dump_.set_data_sink(&sink);
  FloatTensor tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(*dump_.log_value(EValue(int64_t{-5}), LoggedValue::IntermediateOutput));
  EXPECT_TRUE(*dump_.log_value(EValue(0.5), LoggedValue::IntermediateOutput));
  EXPECT_TRUE(*dump_.log_value(EValue(true), LoggedValue::IntermediateOutput));
  EXPECT_TRUE(*dump_.log_value(tensor.value(), LoggedValue::IntermediateOutput));
  EXPECT_TRUE(*dump_.log_value(tensor.value(), LoggedValue::ProgramOutput));
  EXPECT_EQ(dump_.log_value(EValue(), LoggedValue::ProgramOutput).error(), Error::NotSupported);
  const auto blocks = read_dump(dump_.finish());
  EXPECT_THAT(lines(blocks), ElementsAre("Default: debug int -5 -1/0", "Default: debug double 0.500000 -1/0",
                                         "Default: debug bool true -1/0", "Default: debug tensor -1/0",
                                         "Default: debug tensor -1/0"));
  const DumpEvent& last = blocks[0].events[4];
  EXPECT_TRUE(last.is_output);
  EXPECT_FALSE(blocks[0].events[3].is_output);
  EXPECT_THAT(last.sizes, ElementsAre(2, 3));
  EXPECT_THAT(last.strides, ElementsAre(3, 1));
  EXPECT_EQ(last.offset, 64);
  EXPECT_EQ(std::memcmp(sink.written().data() + last.offset, tensor.data.data(), 24), 0);
}

TEST_F(ETDumpFile, WithoutSink_LogsNoValue) {
  EXPECT_FALSE(*dump_.log_value(EValue(int64_t{1}), LoggedValue::ProgramOutput));
  EXPECT_EQ(dump_.lost_values(), 0u);
}

TEST_F(ETDumpFile, FullSink_CountsTheValueAndGoesOn) {
  Block debug(23);
  BufferDataSink sink(debug.span());
  dump_.set_data_sink(&sink);
  FloatTensor tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(dump_.log_value(tensor.value(), LoggedValue::IntermediateOutput).error(), Error::OutOfResources);
  EXPECT_TRUE(*dump_.log_value(EValue(int64_t{1}), LoggedValue::IntermediateOutput));
  EXPECT_EQ(dump_.lost_values(), 1u);
  EXPECT_THAT(lines(read_dump(dump_.finish())), ElementsAre("Default: debug int 1 -1/0"));
}

class OnlySevens final : public EventTracerFilter {
 public:
  Result<bool> filter(DelegateEventId id) override { return id.index == 7; }
};

TEST_F(ETDumpFile, DelegateOutputs_PassTheFilter) {
  Block debug(4096);
  BufferDataSink sink(debug.span());
  dump_.set_data_sink(&sink);
  FloatTensor tensor({2}, {1, 2});
  const Tensor two[] = {tensor.value().to_tensor(), tensor.value().to_tensor()};
  EXPECT_TRUE(*dump_.log_delegate_output({"named"}, Span<const Tensor>(two)));
  OnlySevens filter;
  dump_.set_delegate_output_filter(&filter);
  EXPECT_TRUE(*dump_.log_delegate_output({nullptr, 7}, tensor.value()));
  EXPECT_FALSE(*dump_.log_delegate_output({nullptr, 8}, tensor.value()));
  EXPECT_THAT(lines(read_dump(dump_.finish())),
              ElementsAre("Default: debug 2 tensors@named -1/0", "Default: debug tensor#7 -1/0"));
}

TEST_F(ETDumpFile, Finished_StaysUntilTheNextBlock) {
  dump_.create_event_block("one");
  const auto open = dump_.start_profiling("across");
  const auto file = dump_.finish();
  dump_.end_profiling(open);
  EXPECT_EQ(dump_.lost_events(), 1u);
  EXPECT_EQ(dump_.finish().data(), file.data());
  EXPECT_THAT(read_dump(file), SizeIs(1));
  dump_.create_event_block("two");
  dump_.end_profiling(open);  // an event of another file
  EXPECT_EQ(dump_.lost_events(), 1u);
  const auto blocks = read_dump(dump_.finish());
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_EQ(blocks[0].name, "two");
  EXPECT_THAT(blocks[0].events, IsEmpty());
}

TEST_F(ETDumpFile, RepeatedEvents_TakeEightyEightBytesForAnOperator) {
  Block memory(6000);
  ETDump dump(memory.span(), tick);
  size_t pairs = 0;
  while (dump.lost_events() == 0) {
    const auto outer = dump.start_profiling("OPERATOR_CALL");
    dump.end_profiling(dump.start_profiling("native_call_add.out"));
    dump.end_profiling(outer);
    ++pairs;
  }
  EXPECT_GE(pairs, (6000u - 600) / 88);
}

// Everything there is, in two blocks.
void fill(ETDump* dump) {
  FloatTensor tensor({1, 2}, {1, 2});
  const Tensor two[] = {tensor.value().to_tensor(), tensor.value().to_tensor()};
  const uint8_t metadata[] = {1, 2, 3, 4, 5};
  for (const char* block : {"Default", "Execute"}) {
    dump->create_event_block(block);
    dump->track_allocator("planned");
    const auto entry = dump->start_profiling("native_call_convolution.out");
    static_cast<void>(dump->log_value(tensor.value(), LoggedValue::IntermediateOutput));
    static_cast<void>(dump->log_delegate_output({"part"}, Span<const Tensor>(two)));
    dump->end_profiling(entry);
    dump->end_profiling_delegate(dump->start_profiling_delegate({"gemm"}), metadata);
    dump->track_allocation(1, 17);
    static_cast<void>(dump->log_value(EValue(int64_t{1}), LoggedValue::ProgramOutput));
  }
}

TEST_F(ETDumpFile, AnyMemory_HoldsAWholeFileAndCountsTheRest) {
  constexpr size_t kEvents = 2 * 7;  // an allocator counts as one
  bool had_all = false;
  for (size_t size = 0; size < 3000; ++size) {
    const Block memory(size + 1);  // exactly so much, at any alignment of its end
    ETDump dump({memory.span().data() + size % 2, size}, tick);
    Block debug(size % 700);
    BufferDataSink sink(debug.span());
    dump.set_data_sink(&sink);
    fill(&dump);
    const auto file = dump.finish();
    if (file.empty()) {
      EXPECT_LT(size, 128u);
      EXPECT_EQ(dump.lost_events() + dump.lost_values(), kEvents);
      continue;
    }
    size_t events = 0;
    for (const DumpBlock& block : read_dump(file)) events += block.events.size() + block.allocators.size();
    ASSERT_EQ(events + dump.lost_events() + dump.lost_values(), kEvents) << "in " << size << " bytes";
    had_all = had_all || events == kEvents;
  }
  EXPECT_TRUE(had_all);
}

}  // namespace
}  // namespace rushlight
