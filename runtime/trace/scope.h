// SPDX-License-Identifier: BSD-3-Clause
// Scope objects and functions by which the runtime reports to a tracer that may be null. Without
// ET_EVENT_TRACER_ENABLED they are empty and the compiler removes them.
#pragma once

#include "runtime/trace/event_tracer.h"

namespace rushlight {

// Base class of objects that carry a tracer, which must outlive them. If tracing is disabled, it is empty and
// tracer() is a constant, so that the compiler removes code that depends on it.
class Traced {
 public:
#ifdef ET_EVENT_TRACER_ENABLED
  constexpr Traced() = default;
  explicit constexpr Traced(EventTracer* tracer) : tracer_(tracer) {}
  // Null if no tracer is attached.
  [[nodiscard]] EventTracer* tracer() const { return tracer_; }

 private:
  EventTracer* tracer_ = nullptr;
#else
  constexpr Traced() = default;
  explicit constexpr Traced(EventTracer* tracer) { static_cast<void>(tracer); }
  [[nodiscard]] static constexpr EventTracer* tracer() { return nullptr; }
#endif
};

#ifdef ET_EVENT_TRACER_ENABLED

// Uninitialised storage for an event: without a tracer, constructing it costs nothing.
union PendingEntry {
  PendingEntry() {}
  EventTracerEntry value;
};

// An event that lasts as long as the scope. The tracer (may be null) must outlive it, here and below.
class ProfileScope {
 public:
  // `name` is copied by the tracer.
  ProfileScope(EventTracer* tracer, const char* name) : tracer_(tracer) {
    if (tracer_ != nullptr) entry_.value = tracer_->start_profiling(name);
  }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;
  ~ProfileScope() {
    if (tracer_ != nullptr) tracer_->end_profiling(entry_.value);
  }

 private:
  EventTracer* tracer_;
  PendingEntry entry_;
};

// The event of one instruction: `index` in `chain`. Other reports during its lifetime refer to that
// instruction. Events are recorded at ProfilingLevel::AllEvents; the reference is set at every level.
class InstructionScope {
 public:
  InstructionScope(EventTracer* tracer, size_t chain, size_t index, const char* name) : tracer_(tracer) {
    if (tracer_ != nullptr) begin(chain, index, name);
  }
  InstructionScope(const InstructionScope&) = delete;
  InstructionScope& operator=(const InstructionScope&) = delete;
  ~InstructionScope() {
    if (tracer_ != nullptr) end();
  }

 private:
  // Set or clear the tracer's instruction, and start or end its event. Not inlined, so that executions
  // without a tracer only test a pointer.
  void begin(size_t chain, size_t index, const char* name);
  void end();

  EventTracer* tracer_;
  PendingEntry entry_;
};

// The event of one operator, nested in its instruction's event. As in ExecuTorch, prim operators and
// operators that write no tensor have no event.
class OperatorScope {
 public:
  // `name` and `signature` are as in KernelEntry.
  OperatorScope(EventTracer* tracer, const char* name, const char* signature)
      : tracer_(tracer), signature_(signature) {
    if (tracer_ != nullptr) begin(name);
  }
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;
  ~OperatorScope() {
    if (tracer_ != nullptr) end();
  }

  // Logs the arguments that the operator wrote, by the signature: call it after a successful call.
  void log_outputs(EValue* const* arguments) const {
    if (tracer_ != nullptr) log(arguments);
  }

 private:
  // begin() also clears the tracer for operators that have no event.
  void begin(const char* name);
  void end();
  void log(EValue* const* arguments) const;

  EventTracer* tracer_;  // null also for operators without an event
  const char* signature_;
  PendingEntry entry_;
};

// Starts an event block: later events belong to it.
inline void trace_block(EventTracer* tracer, const char* name) {
  if (tracer != nullptr) tracer->create_event_block(name);
}

// Sets the index of the bundled input that later blocks belong to.
inline void trace_bundled_input(EventTracer* tracer, size_t index) {
  if (tracer != nullptr) tracer->set_bundled_input_index(static_cast<int32_t>(index));
}

// Logs a value if the tracer (may be null) has a debug level that includes `kind`. A failure to log does not
// fail the execution.
void trace_value(EventTracer* tracer, const EValue& value, LoggedValue kind);

// Logs the arguments of a delegate call, including its outputs.
inline void trace_values(EventTracer* tracer, Span<EValue* const> values) {
  if (tracer == nullptr) return;
  for (EValue* value : values) trace_value(tracer, *value, LoggedValue::IntermediateOutput);
}

#else

// The same without tracing.
class ProfileScope {
 public:
  ProfileScope(EventTracer* /*tracer*/, const char* /*name*/) {}
  ~ProfileScope() {}  // avoids a warning about an unused variable
};

class InstructionScope {
 public:
  InstructionScope(EventTracer* /*tracer*/, size_t /*chain*/, size_t /*index*/, const char* /*name*/) {}
  ~InstructionScope() {}
};

class OperatorScope {
 public:
  OperatorScope(EventTracer* /*tracer*/, const char* /*name*/, const char* /*signature*/) {}
  ~OperatorScope() {}
  void log_outputs(EValue* const* /*arguments*/) const {}
};

inline void trace_block(EventTracer* /*tracer*/, const char* /*name*/) {}
inline void trace_bundled_input(EventTracer* /*tracer*/, size_t /*index*/) {}
inline void trace_value(EventTracer* /*tracer*/, const EValue& /*value*/, LoggedValue /*kind*/) {}
inline void trace_values(EventTracer* /*tracer*/, Span<EValue* const> /*values*/) {}

#endif

}  // namespace rushlight
