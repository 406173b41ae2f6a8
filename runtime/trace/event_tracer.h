// SPDX-License-Identifier: BSD-3-Clause
// What the runtime tells whoever watches it: when it loads and executes methods, how long each
// instruction and operator takes, what delegates did, and what values came out on the way.
//
// The calls, ids and levels are ExecuTorch's, so that its tools understand what comes out (etdump.h).
// Without ET_EVENT_TRACER_ENABLED (CMake: EXECUTORCH_ENABLE_EVENT_TRACER) the runtime never calls a
// tracer and takes no memory for one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/tensor/evalue.h"
#include "runtime/tensor/tensor.h"

namespace rushlight {

using ChainId = int32_t;
using DebugHandle = uint32_t;  // an instruction's index in its chain
using AllocatorId = uint32_t;

inline constexpr ChainId kUnsetChainId = -1;
inline constexpr DebugHandle kUnsetDebugHandle = 0;
inline constexpr int32_t kUnsetDelegateIndex = -1;
inline constexpr int32_t kUnsetBundledInputIndex = -1;

// What the exporter calls a part of a delegate: a name, or without one an index.
struct DelegateEventId {
  const char* name = nullptr;
  int32_t index = kUnsetDelegateIndex;
};

enum class DelegateIdKind { None, Index, Name };

// A running event, between the call that starts it and the one that ends it.
struct EventTracerEntry {
  int64_t event_id = 0;  // the tracer's own
  ChainId chain_id = kUnsetChainId;
  DebugHandle debug_handle = kUnsetDebugHandle;
  uint64_t start_time = 0;
  DelegateIdKind delegate_id_kind = DelegateIdKind::None;
};

enum class LoggedValue { IntermediateOutput, ProgramOutput };

// Each level logs what those before it do.
enum class DebugLevel { None, ProgramOutputs, IntermediateOutputs };
enum class ProfilingLevel { MethodOnly, AllEvents };

// Chooses among the outputs that delegates offer.
class EventTracerFilter {
 public:
  // Whether the output of `id` is wanted.
  virtual Result<bool> filter(DelegateEventId id) = 0;

 protected:
  ~EventTracerFilter() = default;
};

// Texts are copied during the call. A tracer serves one thread at a time.
class EventTracer {
 public:
  // What follows belongs together, until the next call: "Default" for loading, "Execute" for a run.
  virtual void create_event_block(const char* name) = 0;

  // Unset ids stand for those of set_chain_debug_handle().
  virtual EventTracerEntry start_profiling(const char* name, ChainId chain = kUnsetChainId,
                                           DebugHandle handle = kUnsetDebugHandle) = 0;
  virtual void end_profiling(const EventTracerEntry& entry) = 0;

  virtual EventTracerEntry start_profiling_delegate(DelegateEventId id) = 0;
  // `metadata` is the backend's own, for whoever reads the trace.
  virtual void end_profiling_delegate(const EventTracerEntry& entry, Span<const uint8_t> metadata = {}) = 0;
  // An event that is over, for backends that learn their times afterwards; times are of now_ns()'s clock.
  virtual void log_profiling_delegate(DelegateEventId id, uint64_t start_time, uint64_t end_time,
                                      Span<const uint8_t> metadata = {}) = 0;

  virtual AllocatorId track_allocator(const char* name) = 0;
  virtual void track_allocation(AllocatorId id, size_t size) = 0;

  // A value that an instruction or the whole method made. True: it is logged.
  // Errors: OutOfResources (no memory left), NotSupported (kind of value), or what the sink returned.
  virtual Result<bool> log_value(const EValue& value, LoggedValue kind) = 0;

  // Likewise from inside a delegate; false when the filter does not want it.
  virtual Result<bool> log_delegate_output(DelegateEventId id, const EValue& value) = 0;
  virtual Result<bool> log_delegate_output(DelegateEventId id, Span<const Tensor> values) = 0;
  virtual void set_delegate_output_filter(EventTracerFilter* filter) = 0;

  // The instruction that runs now.
  void set_chain_debug_handle(ChainId chain, DebugHandle handle) {
    chain_id_ = chain;
    debug_handle_ = handle;
  }
  [[nodiscard]] ChainId chain_id() const { return chain_id_; }
  [[nodiscard]] DebugHandle debug_handle() const { return debug_handle_; }

  // Which of a bundled program's inputs the blocks from now on belong to.
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
