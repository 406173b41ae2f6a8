// SPDX-License-Identifier: BSD-3-Clause
// The runner's trace: collected in memory that is claimed beforehand, written to files at the end.
#pragma once

#include "runtime/base/error.h"
#include "runtime/trace/event_tracer.h"

#ifdef ET_EVENT_TRACER_ENABLED
#include "runtime/trace/etdump.h"
#endif

namespace rushlight {

// The words of the command line that ask for it; null where there is none.
struct TraceRequest {
  const char* etdump = nullptr;        // file for the events
  const char* etdump_size = nullptr;   // bytes of memory for them
  const char* debug_output = nullptr;  // file for what operators put out
  const char* debug_size = nullptr;    // bytes of memory for that
};

#ifdef ET_EVENT_TRACER_ENABLED

class TraceFiles {
 public:
  // Errors: InvalidArgument (a size that is none), MemoryAllocationFailed.
  Error begin(const TraceRequest& request);

  // Null when no trace was asked for.
  [[nodiscard]] EventTracer* tracer() { return etdump_; }

  // Writes the files and tells what was lost. Errors: MemoryAllocationFailed (no room for even an empty
  // trace), AccessFailed.
  Error write();

 private:
  TraceRequest request_;
  ETDump* etdump_ = nullptr;
  BufferDataSink sink_;
  alignas(ETDump) uint8_t storage_[sizeof(ETDump)];
};

#else

class TraceFiles {
 public:
  static Error begin(const TraceRequest& request) {
    return request.etdump == nullptr ? Error::Ok : Error::NotSupported;
  }
  [[nodiscard]] static EventTracer* tracer() { return nullptr; }
  static Error write() { return Error::Ok; }
};

#endif

}  // namespace rushlight
