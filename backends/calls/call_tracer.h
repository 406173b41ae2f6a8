// SPDX-License-Identifier: BSD-3-Clause
// Reports the calls of a list as events of a delegate in the trace of the enclosing method. An event's name
// is the operator's name and its count, "convolution_act.clamp_out #2"; its metadata is the exporter's
// handle, "debug_handle=7". The official delegate's events have the same form, with XNNPACK's operator names.
#pragma once

#include <string>
#include <vector>

#include "backends/calls/call_list.h"
#include "runtime/trace/event_tracer.h"

namespace rushlight {

// A tracer for the inner method that forwards operator events. It copies names and handles when it is made,
// so it does not refer to the list afterwards.
class CallTracer final : public EventTracer {
 public:
  explicit CallTracer(const CallList& calls);

  // Sets the tracer that receives the events, and adopts its levels. Null stops reporting.
  void report_to(EventTracer* outer);

  // Called by the inner method: operator events are forwarded, others are dropped.
  void create_event_block(const char*) override {}
  EventTracerEntry start_profiling(const char* name, ChainId, DebugHandle) override;
  void end_profiling(const EventTracerEntry& entry) override;
  Result<bool> log_value(const EValue& value, LoggedValue kind) override;

  // A list of calls has no delegates, and its allocators are not reported.
  EventTracerEntry start_profiling_delegate(DelegateEventId) override { return {}; }
  void end_profiling_delegate(const EventTracerEntry&, Span<const uint8_t>) override {}
  void log_profiling_delegate(DelegateEventId, uint64_t, uint64_t, Span<const uint8_t>) override {}
  AllocatorId track_allocator(const char*) override { return 0; }
  void track_allocation(AllocatorId, size_t) override {}
  Result<bool> log_delegate_output(DelegateEventId, const EValue&) override { return false; }
  Result<bool> log_delegate_output(DelegateEventId, Span<const Tensor>) override { return false; }
  void set_delegate_output_filter(EventTracerFilter*) override {}

 private:
  // Name and metadata of a call in the outer trace. `metadata` is empty for nodes that the exporter's passes
  // added.
  struct Shown {
    std::string name, metadata;
  };

  // The current call, or null outside of calls.
  [[nodiscard]] const Shown* current() const;

  std::vector<Shown> calls_;
  EventTracer* outer_ = nullptr;
};

}  // namespace rushlight
