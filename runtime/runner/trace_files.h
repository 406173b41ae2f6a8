// SPDX-License-Identifier: BSD-3-Clause
// The runner's trace: collected in memory that is claimed beforehand, written to files at the end.
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

class TraceFiles {
 public:
  // Reads --etdump (a file for the events) with --etdump_size (the memory for them), --debug_output and
  // --debug_size (likewise for what operators put out).
  // Errors: InvalidArgument (a size that is none), MemoryAllocationFailed.
  Error begin(int argc, char** argv);

  // Null when no trace was asked for.
  [[nodiscard]] EventTracer* tracer() { return etdump_; }

  // Writes the files and tells what was lost. Errors: MemoryAllocationFailed (not enough for an empty
  // trace), AccessFailed.
  Error write();

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

class TraceFiles {
 public:
  // Error: NotSupported when a trace is asked for.
  static Error begin(int argc, char** argv) {
    return argument(argc, argv, "--etdump") == nullptr ? Error::Ok : Error::NotSupported;
  }
  [[nodiscard]] static EventTracer* tracer() { return nullptr; }
  static Error write() { return Error::Ok; }
  [[nodiscard]] static TraceLoss lost() { return {}; }
};

#endif

}  // namespace rushlight
