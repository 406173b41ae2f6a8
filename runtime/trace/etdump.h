// SPDX-License-Identifier: BSD-3-Clause
// An event tracer that writes ETDump, the file format (.etdp) that ExecuTorch's Inspector reads, into
// memory of fixed size.
//
//   ETDump trace({buffer, sizeof buffer});
//   auto method = Method::load(program, "forward", memory, operators, {.tracer = &trace});
//   method->execute();
//   Span<const uint8_t> file = trace.finish();
//
// An operator's two events take 88 bytes and its name once. What does not fit is counted and left
// out; the file is whole in any case.
#pragma once

#include "runtime/platform/platform.h"
#include "runtime/trace/data_sink.h"
#include "runtime/trace/event_tracer.h"
#include "runtime/trace/flatbuffer_builder.h"

namespace rushlight {

class ETDump final : public EventTracer {
 public:
  using Clock = uint64_t (*)();

  // A clock of another unit than nanoseconds names it: blocks are then called "Execute [instructions]".
  explicit ETDump(Span<uint8_t> memory, Clock clock = platform::now_ns, const char* unit = nullptr)
      : builder_(memory), clock_(clock), unit_(unit) {
    reset();
  }

  // Values are logged where there is a sink, which outlives the trace.
  void set_data_sink(DataSink* sink) { sink_ = sink; }

  // The file; empty when the memory is too small for even an empty one. It stays until the next block
  // begins, which starts a new file; events in between are lost.
  [[nodiscard]] Span<const uint8_t> finish();

  // Forgets all that was written.
  void reset();

  [[nodiscard]] size_t num_blocks() const { return num_blocks_; }
  // Events and values that did not fit in the current file.
  [[nodiscard]] size_t lost_events() const { return lost_events_; }
  [[nodiscard]] size_t lost_values() const { return lost_values_; }

  void create_event_block(const char* name) override;
  EventTracerEntry start_profiling(const char* name, ChainId chain = kUnsetChainId,
                                   DebugHandle handle = kUnsetDebugHandle) override;
  void end_profiling(const EventTracerEntry& entry) override;
  EventTracerEntry start_profiling_delegate(DelegateEventId id) override;
  void end_profiling_delegate(const EventTracerEntry& entry, Span<const uint8_t> metadata = {}) override;
  void log_profiling_delegate(DelegateEventId id, uint64_t start_time, uint64_t end_time,
                              Span<const uint8_t> metadata = {}) override;
  // Once a block has events, there are no more allocators for it: 0.
  AllocatorId track_allocator(const char* name) override;
  void track_allocation(AllocatorId id, size_t size) override;
  Result<bool> log_value(const EValue& value, LoggedValue kind) override;
  Result<bool> log_delegate_output(DelegateEventId id, const EValue& value) override;
  Result<bool> log_delegate_output(DelegateEventId id, Span<const Tensor> values) override;
  void set_delegate_output_filter(EventTracerFilter* filter) override { filter_ = filter; }

 private:
  using Ref = etdump::Ref;

  enum class State : uint8_t { Empty, InBlock, Full, Finished };

  // The most names that are written once only, by their hash.
  static constexpr size_t kNames = 64;

  [[nodiscard]] bool fits(size_t bytes) const;
  bool ready_for(size_t bytes);
  void close_block();
  Ref name(const char* text);
  Ref block_name(const char* text);
  EventTracerEntry start(const char* name, DelegateIdKind kind);
  void end(const EventTracerEntry& entry, uint64_t end_time, Span<const uint8_t> metadata);
  void add_event(uint16_t slot, Ref event);

  Result<Ref> tensor(const Tensor& tensor);
  Result<Ref> tensor_list(Span<const Tensor> tensors);
  Result<Ref> describe(const EValue& value, Span<const Tensor> tensors, bool is_output);
  Result<bool> wanted(DelegateEventId id);
  Result<bool> log(const DelegateEventId* id, const EValue& value, bool is_output);
  Result<bool> log(const DelegateEventId* id, const EValue& value, Span<const Tensor> tensors,
                   bool is_output);

  etdump::Builder builder_;
  Clock clock_;
  const char* unit_;
  DataSink* sink_ = nullptr;
  EventTracerFilter* filter_ = nullptr;
  Span<const uint8_t> file_;
  Ref names_[kNames];
  Ref block_name_ = 0;
  int32_t block_input_ = kUnsetBundledInputIndex;
  uint32_t file_number_ = 0;
  size_t num_blocks_ = 0;
  size_t num_allocators_ = 0;  // of the block
  size_t num_events_ = 0;      // of the block
  size_t lost_events_ = 0;
  size_t lost_values_ = 0;
  State state_ = State::Empty;
};

}  // namespace rushlight
