// SPDX-License-Identifier: BSD-3-Clause
// An event tracer that writes an ETDump file (.etdp), the format of ExecuTorch's Inspector, into memory of
// fixed size.
//
//   ETDump trace({buffer, sizeof buffer});
//   auto method = Method::load(program, "forward", memory, operators, {.tracer = &trace});
//   method->execute();
//   Span<const uint8_t> file = trace.finish();
//
// One executed operator takes two events, 88 bytes together, plus its name once. Events that do not fit are
// counted and dropped; the file stays valid.
#pragma once

#include "runtime/platform/platform.h"
#include "runtime/trace/data_sink.h"
#include "runtime/trace/event_tracer.h"
#include "runtime/trace/flatbuffer_builder.h"

namespace rushlight {

// Not thread-safe. `memory` must outlive the tracer and the files that finish() returns.
class ETDump final : public EventTracer {
 public:
  using Clock = uint64_t (*)();

  // `clock` returns the current time. If its unit is not nanoseconds, `unit` is appended to the names of
  // blocks: "Execute [instructions]".
  explicit ETDump(Span<uint8_t> memory, Clock clock = platform::now_ns, const char* unit = nullptr)
      : builder_(memory), clock_(clock), unit_(unit) {
    reset();
  }

  // Enables logging of values. The sink must outlive the trace; null disables it.
  void set_data_sink(DataSink* sink) { sink_ = sink; }

  // Completes the file and returns it, or an empty span if the memory is too small even for an empty file. It
  // stays valid until the next block, which starts a new file; events before that block are lost.
  [[nodiscard]] Span<const uint8_t> finish();

  // Discards everything.
  void reset();

  [[nodiscard]] size_t num_blocks() const { return num_blocks_; }
  // Number of events and values of the current file that did not fit.
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
  // Returns 0 if the block already has events: allocators must come first.
  AllocatorId track_allocator(const char* name) override;
  void track_allocation(AllocatorId id, size_t size) override;
  Result<bool> log_value(const EValue& value, LoggedValue kind) override;
  Result<bool> log_delegate_output(DelegateEventId id, const EValue& value) override;
  Result<bool> log_delegate_output(DelegateEventId id, Span<const Tensor> values) override;
  void set_delegate_output_filter(EventTracerFilter* filter) override { filter_ = filter; }

 private:
  using Ref = etdump::Ref;

  enum class State : uint8_t { Empty, InBlock, Full, Finished };

  // Slots of the hash table of names.
  static constexpr size_t kNames = 64;

  // Returns true if `bytes` bytes fit, besides those reserved for completing block and file.
  [[nodiscard]] bool fits(size_t bytes) const;
  bool ready_for(size_t bytes);
  void close_block();
  // Writes a name once; later calls return the existing string while the hash table holds it.
  Ref name(const char* text);
  Ref block_name(const char* text);
  // The shared parts of profiling inside and outside of delegates.
  EventTracerEntry start(const char* name, DelegateIdKind kind);
  void end(const EventTracerEntry& entry, uint64_t end_time, Span<const uint8_t> metadata);
  // Adds an event of the kind `slot` to the block.
  void add_event(uint16_t slot, Ref event);

  // Tables that describe logged values (etdump_values.cpp). Errors: NotSupported (kind of value), or as the
  // sink.
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
  size_t num_allocators_ = 0;  // in the current block
  size_t num_events_ = 0;      // in the current block
  size_t lost_events_ = 0;
  size_t lost_values_ = 0;
  State state_ = State::Empty;
};

}  // namespace rushlight
