// SPDX-License-Identifier: BSD-3-Clause
// An official event tracer as a rushlight tracer, for methods and backends. Each call is passed on with the
// current instruction, which the official interface takes by set_chain_debug_handle(). Ids and times are
// passed unchanged. `tracer` must outlive the adapter.
#pragma once

#include <executorch/runtime/core/event_tracer.h>

#include "compat/detail/convert.h"
#include "compat/detail/tensor_mode.h"
#include "runtime/trace/event_tracer.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

class OurTracer final : public EventTracer {
 public:
  explicit OurTracer(executorch::ET_RUNTIME_NAMESPACE::EventTracer* tracer) : tracer_(tracer) {}

  // Null without a tracer: all other functions require one. Adopts the current levels of the official tracer,
  // which an application may change between executions.
  EventTracer* get();
  [[nodiscard]] executorch::ET_RUNTIME_NAMESPACE::EventTracer* official_tracer() const { return tracer_; }

  void create_event_block(const char* name) override;
  EventTracerEntry start_profiling(const char* name, ChainId chain, DebugHandle handle) override;
  void end_profiling(const EventTracerEntry& entry) override;
  // For rushlight's backends; official backends use their own tracer directly.
  EventTracerEntry start_profiling_delegate(DelegateEventId id) override;
  void end_profiling_delegate(const EventTracerEntry& entry, Span<const uint8_t> metadata) override;
  void log_profiling_delegate(DelegateEventId id, uint64_t start_time, uint64_t end_time,
                              Span<const uint8_t> metadata) override;
  AllocatorId track_allocator(const char* name) override { return tracer_->track_allocator(name); }
  void track_allocation(AllocatorId id, size_t size) override { tracer_->track_allocation(id, size); }
  Result<bool> log_value(const EValue& value, LoggedValue kind) override;
  // Tensors and lists of tensors only; NotSupported for other values.
  Result<bool> log_delegate_output(DelegateEventId id, const EValue& value) override;
  Result<bool> log_delegate_output(DelegateEventId id, Span<const Tensor> values) override;
  // No effect: an application sets the filter at its own tracer.
  void set_delegate_output_filter(EventTracerFilter*) override {}

 private:
  executorch::ET_RUNTIME_NAMESPACE::EventTracer* tracer_;
};

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
