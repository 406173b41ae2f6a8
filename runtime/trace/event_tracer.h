// SPDX-License-Identifier: BSD-3-Clause
// The interface by which the runtime reports to a profiler or debugger: loading and execution of methods,
// times of instructions and operators, events of delegates, and intermediate values.
//
// Calls, ids and levels match ExecuTorch's EventTracer, so that its tools can read the result (etdump.h).
// Without ET_EVENT_TRACER_ENABLED (CMake: EXECUTORCH_ENABLE_EVENT_TRACER) the runtime calls no tracer and
// reserves no memory for one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/tensor/evalue.h"
#include "runtime/tensor/tensor.h"

namespace rushlight {

using ChainId = int32_t;
using DebugHandle = uint32_t;  // index of an instruction in its chain
using AllocatorId = uint32_t;

inline constexpr ChainId kUnsetChainId = -1;
inline constexpr DebugHandle kUnsetDebugHandle = 0;
inline constexpr int32_t kUnsetDelegateIndex = -1;
inline constexpr int32_t kUnsetBundledInputIndex = -1;

// The exporter's identifier for a part of a delegate: a name, or an index if `name` is null.
struct DelegateEventId {
  const char* name = nullptr;
  int32_t index = kUnsetDelegateIndex;
};

enum class DelegateIdKind { None, Index, Name };

// A running event: the result of start_profiling(), passed to end_profiling().
struct EventTracerEntry {
  int64_t event_id = 0;  // private to the tracer
  ChainId chain_id = kUnsetChainId;
  DebugHandle debug_handle = kUnsetDebugHandle;
  // In units of the tracer's clock.
  uint64_t start_time = 0;
  DelegateIdKind delegate_id_kind = DelegateIdKind::None;
};

// The origin of a logged value.
enum class LoggedValue { IntermediateOutput, ProgramOutput };

// Values or events to log; each level includes those before it.
enum class DebugLevel { None, ProgramOutputs, IntermediateOutputs };
enum class ProfilingLevel { MethodOnly, AllEvents };

// Selects which outputs of delegates are logged.
class EventTracerFilter {
 public:
  // Returns true if the output of `id` is to be logged.
  virtual Result<bool> filter(DelegateEventId id) = 0;

 protected:
  ~EventTracerFilter() = default;
};

// Implementations copy the strings they receive. One thread at a time may use a tracer.
class EventTracer {
 public:
  // Starts a block; later events belong to it. The runtime uses "Default" for loading and "Execute" for an
  // execution.
  virtual void create_event_block(const char* name) = 0;

  // Starts an event. Unset ids default to the ids of set_chain_debug_handle().
  virtual EventTracerEntry start_profiling(const char* name, ChainId chain = kUnsetChainId,
                                           DebugHandle handle = kUnsetDebugHandle) = 0;
  virtual void end_profiling(const EventTracerEntry& entry) = 0;

  // The same for a part of a delegate.
  virtual EventTracerEntry start_profiling_delegate(DelegateEventId id) = 0;
  // `metadata` are bytes that the backend attaches for readers of the trace.
  virtual void end_profiling_delegate(const EventTracerEntry& entry, Span<const uint8_t> metadata = {}) = 0;
  // Logs a completed event, for backends that learn their times afterwards. Times are in units of
  // platform::now_ns().
  virtual void log_profiling_delegate(DelegateEventId id, uint64_t start_time, uint64_t end_time,
                                      Span<const uint8_t> metadata = {}) = 0;

  // Registers a named allocator and returns its id; track_allocation() then reports bytes allocated from it.
  virtual AllocatorId track_allocator(const char* name) = 0;
  virtual void track_allocation(AllocatorId id, size_t size) = 0;

  // Logs a value that an instruction or the method produced. Returns true if it was logged. Errors:
  // OutOfResources (no memory left), NotSupported (kind of value), or an error of the sink.
  virtual Result<bool> log_value(const EValue& value, LoggedValue kind) = 0;

  // The same from inside a delegate. Returns false if the filter rejects it.
  virtual Result<bool> log_delegate_output(DelegateEventId id, const EValue& value) = 0;
  virtual Result<bool> log_delegate_output(DelegateEventId id, Span<const Tensor> values) = 0;
  virtual void set_delegate_output_filter(EventTracerFilter* filter) = 0;

  // Sets the instruction that events from now on belong to.
  void set_chain_debug_handle(ChainId chain, DebugHandle handle) {
    chain_id_ = chain;
    debug_handle_ = handle;
  }
  [[nodiscard]] ChainId chain_id() const { return chain_id_; }
  [[nodiscard]] DebugHandle debug_handle() const { return debug_handle_; }

  // Sets the index of the bundled program's input that later blocks belong to.
  void set_bundled_input_index(int32_t index) { bundled_input_index_ = index; }
  [[nodiscard]] int32_t bundled_input_index() const { return bundled_input_index_; }

  void set_debug_level(DebugLevel level) { debug_level_ = level; }
  [[nodiscard]] DebugLevel debug_level() const { return debug_level_; }
  void set_profiling_level(ProfilingLevel level) { profiling_level_ = level; }
  [[nodiscard]] ProfilingLevel profiling_level() const { return profiling_level_; }

 protected:
  EventTracer() = default;
  ~EventTracer() = default;  // the runtime owns no tracer

 private:
  ChainId chain_id_ = kUnsetChainId;
  DebugHandle debug_handle_ = kUnsetDebugHandle;
  int32_t bundled_input_index_ = kUnsetBundledInputIndex;
  DebugLevel debug_level_ = DebugLevel::None;
  ProfilingLevel profiling_level_ = ProfilingLevel::AllEvents;
};

}  // namespace rushlight
