// SPDX-License-Identifier: BSD-3-Clause
// Collects what a program's methods execute, for ETDump files.
#pragma once

#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <pybind11/pybind11.h>

#include "runtime/trace/etdump.h"

namespace rushlight {

// A tracer with its memory and a mutex.
class PyTrace {
 public:
  // If `debug_bytes` is not 0, logs operators' outputs in that much memory. Throws std::bad_alloc.
  explicit PyTrace(size_t debug_bytes);
  PyTrace(const PyTrace&) = delete;
  PyTrace& operator=(const PyTrace&) = delete;

  EventTracer* tracer() { return &*etdump_; }
  // Hold it while a method loads or executes, because a tracer serves one thread at a time.
  std::mutex& mutex() { return mutex_; }

  // Writes the events since the last file and, if `debug_path` is set, the values. The next load or execution
  // starts a new file. Called without the GIL. Throws OSError.
  void write(const std::string& path, const std::optional<std::string>& debug_path);

  // Number of events and values that did not fit in the current file. Called without the GIL.
  [[nodiscard]] std::pair<size_t, size_t> lost();

 private:
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<uint8_t, Free>;

  static Memory allocate(size_t size);

  Memory events_;
  Memory values_;
  BufferDataSink sink_;
  std::optional<ETDump> etdump_;
  std::mutex mutex_;
};

void bind_trace(pybind11::module_& m);

}  // namespace rushlight
