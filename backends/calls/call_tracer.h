// SPDX-License-Identifier: BSD-3-Clause
// Shows the calls of a list as a delegate's events in the trace of the method that has the delegate: the
// operator's name with a running number, "convolution_act.clamp_out #2", and as metadata the exporter's
// handle, "debug_handle=7". The official delegate names its events so, too, after XNNPACK's operators.
#pragma once

#include <string>
#include <vector>

#include "backends/calls/call_list.h"
#include "runtime/trace/event_tracer.h"

namespace rushlight {

class CallTracer final : public EventTracer {
 public:
  explicit CallTracer(const CallList& calls);

  // Where events go from now on, with the levels that it has.
  void report_to(EventTracer* outer);

  // Of the method that runs the calls: the events of operators are passed on, all others are not.
  void create_event_block(const char*) override {}
  EventTracerEntry start_profiling(const char* name, ChainId, DebugHandle) override;
  void end_profiling(const EventTracerEntry& entry) override;
  Result<bool> log_value(const EValue& value, LoggedValue kind) override;

  // A list of calls has no delegates, and its allocators are its own matter.
  EventTracerEntry start_profiling_delegate(DelegateEventId) override { return {}; }
  void end_profiling_delegate(const EventTracerEntry&, Span<const uint8_t>) override {}
  void log_profiling_delegate(DelegateEventId, uint64_t, uint64_t, Span<const uint8_t>) override {}
  AllocatorId track_allocator(const char*) override { return 0; }
  void track_allocation(AllocatorId, size_t) override {}
  Result<bool> log_delegate_output(DelegateEventId, const EValue&) override { return false; }
  Result<bool> log_delegate_output(DelegateEventId, Span<const Tensor>) override { return false; }
  void set_delegate_output_filter(EventTracerFilter*) override {}

 private:
  struct Shown {
    std::string name, metadata;
  };

  // Of the call that runs now; null outside of calls.
  [[nodiscard]] const Shown* current() const;

  std::vector<Shown> calls_;
  EventTracer* outer_ = nullptr;
};

}  // namespace rushlight
