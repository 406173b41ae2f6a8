// SPDX-License-Identifier: BSD-3-Clause
// Reports the instructions of a rewritten method by their numbers in the stated one, so that tools find the
// calls of the program's file.
#pragma once

#include "runtime/base/span.h"
#include "runtime/trace/event_tracer.h"

namespace rushlight {

// Forwards everything to another tracer.
class RenumberedTracer final : public EventTracer {
 public:
  // `stated` has the number of each instruction. Both must outlive the tracer.
  RenumberedTracer(EventTracer& outer, Span<const uint32_t> stated) : outer_(outer), stated_(stated) {
    adopt_levels();
  }

  void create_event_block(const char* name) override;
  EventTracerEntry start_profiling(const char* name, ChainId chain, DebugHandle handle) override;
  void end_profiling(const EventTracerEntry& entry) override;
  EventTracerEntry start_profiling_delegate(DelegateEventId id) override;
  void end_profiling_delegate(const EventTracerEntry& entry, Span<const uint8_t> metadata) override;
  void log_profiling_delegate(DelegateEventId id, uint64_t start_time, uint64_t end_time,
                              Span<const uint8_t> metadata) override;
  AllocatorId track_allocator(const char* name) override { return outer_.track_allocator(name); }
  void track_allocation(AllocatorId id, size_t size) override { outer_.track_allocation(id, size); }
  Result<bool> log_value(const EValue& value, LoggedValue kind) override;
  Result<bool> log_delegate_output(DelegateEventId id, const EValue& value) override;
  Result<bool> log_delegate_output(DelegateEventId id, Span<const Tensor> values) override;
  void set_delegate_output_filter(EventTracerFilter* filter) override {
    outer_.set_delegate_output_filter(filter);
  }

 private:
  // The levels of the outer tracer may change between executions.
  void adopt_levels();
  // Passes the present instruction on.
  void number();
  [[nodiscard]] DebugHandle stated(ChainId chain, DebugHandle handle) const;

  EventTracer& outer_;
  Span<const uint32_t> stated_;
};

}  // namespace rushlight
