// SPDX-License-Identifier: BSD-3-Clause
// Calls to an event tracer that may be null; without ET_EVENT_TRACER_ENABLED they compile to nothing.
#pragma once

#include <executorch/runtime/core/event_tracer.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

namespace internal {

inline constexpr bool event_tracer_enabled() {
#ifdef ET_EVENT_TRACER_ENABLED
  return true;
#else
  return false;
#endif
}

// The event of an operator, or of a part of one.
class EventTracerProfileOpScope final {
 public:
  EventTracerProfileOpScope(EventTracer* event_tracer, const char* name) {
    if (!event_tracer_enabled() || event_tracer == nullptr) return;
    if (event_tracer->event_tracer_profiling_level() <= EventTracerProfilingLevel::kProfileMethodOnly) return;
    event_tracer_ = event_tracer;
    entry_ = event_tracer->start_profiling(name);
  }
  ~EventTracerProfileOpScope() {
    if (event_tracer_enabled() && event_tracer_ != nullptr) event_tracer_->end_profiling(entry_);
  }
  EventTracerProfileOpScope(const EventTracerProfileOpScope&) = delete;
  EventTracerProfileOpScope& operator=(const EventTracerProfileOpScope&) = delete;

 private:
  EventTracer* event_tracer_ = nullptr;
  EventTracerEntry entry_;
};

using EventTracerProfileScope = EventTracerProfileOpScope;

// The event of a method's execution.
class EventTracerProfileMethodScope final {
 public:
  EventTracerProfileMethodScope(EventTracer* event_tracer, const char* name) : event_tracer_(event_tracer) {
    if (event_tracer_enabled() && event_tracer_ != nullptr) entry_ = event_tracer_->start_profiling(name);
  }
  ~EventTracerProfileMethodScope() {
    if (event_tracer_enabled() && event_tracer_ != nullptr) event_tracer_->end_profiling(entry_);
  }
  EventTracerProfileMethodScope(const EventTracerProfileMethodScope&) = delete;
  EventTracerProfileMethodScope& operator=(const EventTracerProfileMethodScope&) = delete;

 private:
  EventTracer* event_tracer_;
  EventTracerEntry entry_;
};

// The event of an instruction: events during its lifetime have its chain and handle.
class EventTracerProfileInstructionScope final {
 public:
  EventTracerProfileInstructionScope(EventTracer* event_tracer, ChainID chain_idx, DebugHandle debug_handle)
      : event_tracer_(event_tracer) {
    if (event_tracer_enabled() && event_tracer_ != nullptr) {
      event_tracer_->set_chain_debug_handle(chain_idx, debug_handle);
    }
  }
  ~EventTracerProfileInstructionScope() {
    if (event_tracer_enabled() && event_tracer_ != nullptr) {
      event_tracer_->set_chain_debug_handle(kUnsetChainId, kUnsetDebugHandle);
    }
  }
  EventTracerProfileInstructionScope(const EventTracerProfileInstructionScope&) = delete;
  EventTracerProfileInstructionScope& operator=(const EventTracerProfileInstructionScope&) = delete;

 private:
  EventTracer* event_tracer_;
};

inline void event_tracer_create_event_block(EventTracer* event_tracer, char const* name) {
  if (event_tracer_enabled() && event_tracer != nullptr) event_tracer->create_event_block(name);
}

inline EventTracerEntry event_tracer_begin_profiling_event(EventTracer* event_tracer, char const* name) {
  if (event_tracer_enabled() && event_tracer != nullptr) return event_tracer->start_profiling(name);
  return EventTracerEntry();
}

inline void event_tracer_end_profiling_event(EventTracer* event_tracer, EventTracerEntry event) {
  if (event_tracer_enabled() && event_tracer != nullptr) event_tracer->end_profiling(event);
}

inline AllocatorID event_tracer_track_allocator(EventTracer* event_tracer, const char* name) {
  return event_tracer_enabled() && event_tracer != nullptr ? event_tracer->track_allocator(name) : 0;
}

inline void event_tracer_track_allocation(EventTracer* event_tracer, AllocatorID id, size_t size) {
  if (event_tracer_enabled() && event_tracer != nullptr) event_tracer->track_allocation(id, size);
}

inline void event_tracer_log_evalue(EventTracer* event_tracer, EValue& evalue) {
  if (!event_tracer_enabled() || event_tracer == nullptr) return;
  if (event_tracer->event_tracer_debug_level() >= EventTracerDebugLogLevel::kIntermediateOutputs) {
    static_cast<void>(event_tracer->log_evalue(evalue, LoggedEValueType::kIntermediateOutput));
  }
}

inline void event_tracer_log_evalue_output(EventTracer* event_tracer, const EValue& evalue) {
  if (!event_tracer_enabled() || event_tracer == nullptr) return;
  if (event_tracer->event_tracer_debug_level() >= EventTracerDebugLogLevel::kProgramOutputs) {
    static_cast<void>(event_tracer->log_evalue(evalue, LoggedEValueType::kProgramOutput));
  }
}

inline void event_tracer_set_bundled_input_index(EventTracer* event_tracer, int bundled_input_index) {
  if (event_tracer_enabled() && event_tracer != nullptr) {
    event_tracer->set_bundled_input_index(bundled_input_index);
  }
}

}  // namespace internal

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor::internal {
using ::executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_begin_profiling_event;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_create_event_block;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_end_profiling_event;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_log_evalue;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_log_evalue_output;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_set_bundled_input_index;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_track_allocation;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_track_allocator;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::EventTracerProfileInstructionScope;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::EventTracerProfileMethodScope;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::EventTracerProfileOpScope;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::EventTracerProfileScope;
}  // namespace torch::executor::internal
