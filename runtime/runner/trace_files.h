// SPDX-License-Identifier: BSD-3-Clause
// The runner's trace: collected in memory claimed in advance and written to files at the end.
#pragma once

#include "runtime/base/error.h"
#include "runtime/runner/model_files.h"
#include "runtime/runner/outcome.h"
#include "runtime/trace/event_tracer.h"

#ifdef ET_EVENT_TRACER_ENABLED
#include "runtime/trace/etdump.h"
#endif

namespace rushlight {

#ifdef ET_EVENT_TRACER_ENABLED

// A trace in a build with event tracing. Writes through the platform's file functions.
class TraceFiles {
 public:
  // Reads --etdump (file for events) and --etdump_size (memory for them), --debug_output and --debug_size
  // (the same for outputs of operators). Errors: InvalidArgument (invalid size), MemoryAllocationFailed.
  Error begin(int argc, char** argv);

  // Null without --etdump.
  [[nodiscard]] EventTracer* tracer() { return etdump_; }

  // Writes the files and prints how much was lost. Errors: MemoryAllocationFailed (too small for an empty
  // trace), AccessFailed.
  Error write();

  // Events and values that did not fit in memory.
  [[nodiscard]] TraceLoss lost() const {
    if (etdump_ == nullptr) return {};
    return {count(etdump_->lost_events()), count(etdump_->lost_values())};
  }

 private:
  static uint32_t count(size_t lost) { return lost < UINT32_MAX ? static_cast<uint32_t>(lost) : UINT32_MAX; }

  const char* etdump_file_ = nullptr;
  const char* debug_file_ = nullptr;
  ETDump* etdump_ = nullptr;
  BufferDataSink sink_;
  alignas(ETDump) uint8_t storage_[sizeof(ETDump)];
};

#else

// The same interface in a build without event tracing.
class TraceFiles {
 public:
  // Error: NotSupported (a trace was requested).
  static Error begin(int argc, char** argv) {
    return argument(argc, argv, "--etdump") == nullptr ? Error::Ok : Error::NotSupported;
  }
  [[nodiscard]] static EventTracer* tracer() { return nullptr; }
  static Error write() { return Error::Ok; }
  [[nodiscard]] static TraceLoss lost() { return {}; }
};

#endif

}  // namespace rushlight
