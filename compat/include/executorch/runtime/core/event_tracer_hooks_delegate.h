// SPDX-License-Identifier: BSD-3-Clause
// Hooks for backends: internal events and outputs of a delegate. The tracer is the execution context's
// event_tracer() and may be null. `name` identifies a part of the delegate; if it is null,
// `delegate_debug_id` does.
//
//   const auto event = event_tracer_start_profiling_delegate(tracer, "conv_1", -1);
//   compute();
//   event_tracer_end_profiling_delegate(tracer, event);
#pragma once

#include <type_traits>

#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/event_tracer_hooks.h>

#include "compat/detail/tensor_mode.h"

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

// Starts an event while it happens. Without a tracer the entry has all members 0.
inline EventTracerEntry event_tracer_start_profiling_delegate(EventTracer* event_tracer, const char* name,
                                                              DebugHandle delegate_debug_id) {
  if (!executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_enabled() || event_tracer == nullptr)
    return EventTracerEntry();
  return event_tracer->start_profiling_delegate(name, static_cast<DelegateDebugIntId>(delegate_debug_id));
}

// Ends an event. `metadata` (may be null) are `metadata_len` bytes for readers of the trace; the tracer
// copies them. The backend and the reader agree on their format.
inline void event_tracer_end_profiling_delegate(EventTracer* event_tracer,
                                                EventTracerEntry event_tracer_entry,
                                                const void* metadata = nullptr, size_t metadata_len = 0) {
  if (!executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_enabled() || event_tracer == nullptr) return;
  event_tracer->end_profiling_delegate(event_tracer_entry, metadata, metadata_len);
}

// Records an event after the fact, with times in ticks of the platform's clock.
inline void event_tracer_log_profiling_delegate(EventTracer* event_tracer, const char* name,
                                                DebugHandle delegate_debug_id, et_timestamp_t start_time,
                                                et_timestamp_t end_time, const void* metadata = nullptr,
                                                size_t metadata_len = 0) {
  if (!executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_enabled() || event_tracer == nullptr) return;
  event_tracer->log_profiling_delegate(name, static_cast<DelegateDebugIntId>(delegate_debug_id), start_time,
                                       end_time, metadata, metadata_len);
}

// Logs an intermediate result of the delegate; errors are ignored. T is int, bool, double, Tensor or
// ArrayRef<Tensor>. The debug level is not checked here: the tracer and its filter decide.
template <class T>
inline void event_tracer_log_output_delegate(EventTracer* event_tracer, const char* name,
                                             DebugHandle delegate_debug_id, const T& output) {
  static_assert(std::is_same_v<T, int> || std::is_same_v<T, bool> || std::is_same_v<T, double> ||
                std::is_same_v<T, executorch::aten::Tensor> ||
                std::is_same_v<T, ArrayRef<executorch::aten::Tensor>>);
  if (!executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_enabled() || event_tracer == nullptr) return;
  static_cast<void>(event_tracer->log_intermediate_output_delegate(
      name, static_cast<DelegateDebugIntId>(delegate_debug_id), output));
}

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE

namespace torch::executor {
using ::executorch::runtime::event_tracer_end_profiling_delegate;
using ::executorch::runtime::event_tracer_log_output_delegate;
using ::executorch::runtime::event_tracer_log_profiling_delegate;
using ::executorch::runtime::event_tracer_start_profiling_delegate;
}  // namespace torch::executor
