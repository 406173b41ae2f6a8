// SPDX-License-Identifier: BSD-3-Clause
// Calls to an event tracer that may be null; without ET_EVENT_TRACER_ENABLED they compile to nothing.
// rushlight's executor reports by its own hooks (runtime/trace/scope.h); these serve code that was written
// against the official ones. Each object and call is for one thread.
//
//   EventTracerProfileMethodScope method_scope(tracer, "forward");
//   for (size_t i = 0; i < steps; ++i) {
//     EventTracerProfileInstructionScope instruction_scope(tracer, 0, i);
//     EventTracerProfileOpScope op_scope(tracer, "my_part");    // recorded until the end of the block
//     execute(i);
//   }
#pragma once

#include <executorch/runtime/core/event_tracer.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

namespace internal {

// True if this translation unit is compiled with the hooks. A function and no macro, so that disabled code is
// still compiled and checked.
inline constexpr bool event_tracer_enabled() {
#ifdef ET_EVENT_TRACER_ENABLED
  return true;
#else
  return false;
#endif
}

// The event of an operator, or of a part of one, from construction to destruction. Recorded at the level
// kProfileAllEvents only.
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

// The older name.
using EventTracerProfileScope = EventTracerProfileOpScope;

// The event of a method's execution, from construction to destruction, recorded at every level. Both scopes
// pass `name` at construction only. The tracer must outlive the scope.
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

// The event of an instruction: events during its lifetime have its chain and handle, later ones none, because
// destruction resets both. So scopes of this kind do not nest. Records nothing itself.
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

// Starts a block of events; later events belong to it until another begins.
inline void event_tracer_create_event_block(EventTracer* event_tracer, char const* name) {
  if (event_tracer_enabled() && event_tracer != nullptr) event_tracer->create_event_block(name);
}

// Starts and ends an event without a scope. Without a tracer the entry has all members 0, and ending it does
// nothing.
inline EventTracerEntry event_tracer_begin_profiling_event(EventTracer* event_tracer, char const* name) {
  if (event_tracer_enabled() && event_tracer != nullptr) return event_tracer->start_profiling(name);
  return EventTracerEntry();
}

inline void event_tracer_end_profiling_event(EventTracer* event_tracer, EventTracerEntry event) {
  if (event_tracer_enabled() && event_tracer != nullptr) event_tracer->end_profiling(event);
}

// Registers an allocator under a name, which the tracer copies. The id is 0 without a tracer.
inline AllocatorID event_tracer_track_allocator(EventTracer* event_tracer, const char* name) {
  return event_tracer_enabled() && event_tracer != nullptr ? event_tracer->track_allocator(name) : 0;
}

// Reports `size` bytes that the allocator with this id gave out.
inline void event_tracer_track_allocation(EventTracer* event_tracer, AllocatorID id, size_t size) {
  if (event_tracer_enabled() && event_tracer != nullptr) event_tracer->track_allocation(id, size);
}

// Logs an instruction's result, if the debug level includes intermediate outputs; ignores errors.
inline void event_tracer_log_evalue(EventTracer* event_tracer, EValue& evalue) {
  if (!event_tracer_enabled() || event_tracer == nullptr) return;
  if (event_tracer->event_tracer_debug_level() >= EventTracerDebugLogLevel::kIntermediateOutputs) {
    static_cast<void>(event_tracer->log_evalue(evalue, LoggedEValueType::kIntermediateOutput));
  }
}

// Logs an output of the method, if the debug level includes outputs; ignores errors.
inline void event_tracer_log_evalue_output(EventTracer* event_tracer, const EValue& evalue) {
  if (!event_tracer_enabled() || event_tracer == nullptr) return;
  if (event_tracer->event_tracer_debug_level() >= EventTracerDebugLogLevel::kProgramOutputs) {
    static_cast<void>(event_tracer->log_evalue(evalue, LoggedEValueType::kProgramOutput));
  }
}

// Names the bundled input that later blocks belong to.
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
