// SPDX-License-Identifier: BSD-3-Clause
// The interface of tracers, which record times of methods, operators and delegates, and values.
// devtools/etdump has an implementation that writes ETDump files. The runtime calls a tracer only in builds
// with EXECUTORCH_ENABLE_EVENT_TRACER.
//
//   etdump::ETDumpGen tracer;
//   auto method = program->load_method("forward", &memory, &tracer);
//   method->execute();
//   const etdump::ETDumpResult file = tracer.get_etdump_data();    // free(file.buf) after use
#pragma once

#include <cstdint>

#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/platform.h>
#include <stdlib.h>

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

// Ids: of an allocator; of an instruction list of the method; of an instruction in it (its index); of a part
// of a delegate.
typedef uint32_t AllocatorID;
typedef int32_t ChainID;
// The index of an instruction in its chain.
typedef uint32_t DebugHandle;
// The exporter's number of a part of a delegate.
typedef int32_t DelegateDebugIntId;

// Values that name nothing. The debug handle 0 is also the first instruction's: the chain tells them apart.
constexpr ChainID kUnsetChainId = -1;
constexpr DebugHandle kUnsetDebugHandle = 0;
constexpr DelegateDebugIntId kUnsetDelegateDebugIntId = -1;
constexpr int kUnsetBundledInputIndex = -1;

// The identifier of a delegate's part: an index if the name is null, otherwise the name.
enum class DelegateDebugIdType { kNone, kInt, kStr };
// The origin of a logged value.
enum class LoggedEValueType { kIntermediateOutput = 0, kProgramOutput = 1 };
// Values to log. Each level includes those before it; program outputs are the method's.
enum class EventTracerDebugLogLevel { kNoLogging, kProgramOutputs, kIntermediateOutputs };
// Events to record. The first level records whole methods, the second also operators and their parts.
enum class EventTracerProfilingLevel { kProfileMethodOnly, kProfileAllEvents };

// Selects the delegate outputs to record. An application derives from it; devtools/etdump/etdump_filter.h has
// one that matches names and ranges.
class EventTracerFilterBase {
 public:
  // True for an output that is to be recorded; `name` may be null if the index identifies it. The tracer's
  // log function returns an error of the filter.
  virtual Result<bool> filter(const char* name, DelegateDebugIntId delegate_debug_index) = 0;
  virtual ~EventTracerFilterBase() = default;
};

// A running event: the result of start_profiling(), passed to end_profiling(). `event_id` is the tracer's
// own; `start_time` in ticks.
struct EventTracerEntry {
  int64_t event_id;
  ChainID chain_id;
  DebugHandle debug_handle;
  et_timestamp_t start_time;
  DelegateDebugIdType delegate_event_id_type;
};

// Implementations copy the strings that they receive. One thread at a time may use a tracer; it must outlive
// the methods that were loaded with it.
class EventTracer {
 public:
  // Starts a block; later events belong to it. The runtime names blocks "Default" (loading) and "Execute".
  virtual void create_event_block(const char* name) = 0;
  // Starts an event. Unset ids stand for the ids of set_chain_debug_handle().
  virtual EventTracerEntry start_profiling(const char* name, ChainID chain_id = kUnsetChainId,
                                           DebugHandle debug_handle = kUnsetDebugHandle) = 0;
  // Ends an event. Events nest: the runtime ends the last one first.
  virtual void end_profiling(EventTracerEntry prof_entry) = 0;

  // Starts an event of a part of a delegate, which has a name or, if the name is null, an index.
  virtual EventTracerEntry start_profiling_delegate(const char* name,
                                                    DelegateDebugIntId delegate_debug_index) = 0;
  // Ends it. `metadata` are bytes of the backend for readers of the trace; valid during the call only.
  virtual void end_profiling_delegate(EventTracerEntry event_tracer_entry, const void* metadata = nullptr,
                                      size_t metadata_len = 0) = 0;
  // Records a completed event, for backends that learn their times afterwards. Times are in ticks of the
  // platform's clock.
  virtual void log_profiling_delegate(const char* name, DelegateDebugIntId delegate_debug_index,
                                      et_timestamp_t start_time, et_timestamp_t end_time,
                                      const void* metadata = nullptr, size_t metadata_len = 0) = 0;

  // Reports `size` bytes that an allocator gave out.
  virtual void track_allocation(AllocatorID id, size_t size) = 0;
  // Registers an allocator under a name and returns its id.
  virtual AllocatorID track_allocator(const char* name) = 0;

  // Logs a value that an instruction or the method produced. True if it was recorded. Errors are the
  // tracer's; the runtime ignores them, so that tracing never ends an execution.
  virtual Result<bool> log_evalue(const EValue& evalue, LoggedEValueType evalue_type) = 0;
  // The same from inside a delegate, for a tensor, several tensors or a number. False if the filter rejects
  // the output.
  virtual Result<bool> log_intermediate_output_delegate(const char* name,
                                                        DelegateDebugIntId delegate_debug_index,
                                                        const executorch::aten::Tensor& output) = 0;
  virtual Result<bool> log_intermediate_output_delegate(const char* name,
                                                        DelegateDebugIntId delegate_debug_index,
                                                        const ArrayRef<executorch::aten::Tensor> output) = 0;
  virtual Result<bool> log_intermediate_output_delegate(const char* name,
                                                        DelegateDebugIntId delegate_debug_index,
                                                        const int& output) = 0;
  virtual Result<bool> log_intermediate_output_delegate(const char* name,
                                                        DelegateDebugIntId delegate_debug_index,
                                                        const bool& output) = 0;
  virtual Result<bool> log_intermediate_output_delegate(const char* name,
                                                        DelegateDebugIntId delegate_debug_index,
                                                        const double& output) = 0;
  // The filter is not owned; null records all outputs.
  virtual void set_delegation_intermediate_output_filter(EventTracerFilterBase* event_tracer_filter) = 0;

  virtual ~EventTracer() = default;

  // Sets the instruction that later events belong to. The runtime calls it, not the tracer.
  void set_chain_debug_handle(ChainID chain_id, DebugHandle debug_handle) {
    chain_id_ = chain_id;
    debug_handle_ = debug_handle;
  }
  // The ids of set_chain_debug_handle(), which events with unset ids take.
  ChainID current_chain_id() { return chain_id_; }
  DebugHandle current_debug_handle() { return debug_handle_; }

  // The input of a bundled program that later blocks belong to; kUnsetBundledInputIndex without one.
  void set_bundled_input_index(int bundled_input_index) { bundled_input_index_ = bundled_input_index; }
  int bundled_input_index() { return bundled_input_index_; }

  // Levels that the application chooses. rushlight reads them at the start of each execution. Defaults: no
  // values, all events.
  void set_event_tracer_debug_level(EventTracerDebugLogLevel log_level) {
    event_tracer_debug_level_ = log_level;
  }
  EventTracerDebugLogLevel event_tracer_debug_level() { return event_tracer_debug_level_; }
  void set_event_tracer_profiling_level(EventTracerProfilingLevel profiling_level) {
    event_tracer_profiling_level_ = profiling_level;
  }
  EventTracerProfilingLevel event_tracer_profiling_level() { return event_tracer_profiling_level_; }
  // For derived classes of older code: rushlight reads the debug level instead, and never sets this flag.
  bool intermediate_outputs_logging_status() { return log_intermediate_tensors_; }

 protected:
  ChainID chain_id_ = kUnsetChainId;
  DebugHandle debug_handle_ = kUnsetDebugHandle;
  bool event_tracer_enable_debugging_ = false;
  bool log_intermediate_tensors_ = false;
  int bundled_input_index_ = kUnsetBundledInputIndex;
  EventTracerDebugLogLevel event_tracer_debug_level_ = EventTracerDebugLogLevel::kNoLogging;
  EventTracerProfilingLevel event_tracer_profiling_level_ = EventTracerProfilingLevel::kProfileAllEvents;
};

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE

namespace torch::executor {
using ::executorch::runtime::AllocatorID;
using ::executorch::runtime::ChainID;
using ::executorch::runtime::DebugHandle;
using ::executorch::runtime::DelegateDebugIdType;
using ::executorch::runtime::DelegateDebugIntId;
using ::executorch::runtime::EventTracer;
using ::executorch::runtime::EventTracerDebugLogLevel;
using ::executorch::runtime::EventTracerEntry;
using ::executorch::runtime::kUnsetBundledInputIndex;
using ::executorch::runtime::kUnsetChainId;
using ::executorch::runtime::kUnsetDebugHandle;
using ::executorch::runtime::kUnsetDelegateDebugIntId;
using ::executorch::runtime::LoggedEValueType;
}  // namespace torch::executor
