// SPDX-License-Identifier: BSD-3-Clause
// What a program's methods execute, collected for ETDump files.
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

class PyTrace {
 public:
  // Logs operators' outputs in `debug_bytes` of memory if that is not 0. Throws std::bad_alloc.
  explicit PyTrace(size_t debug_bytes);
  PyTrace(const PyTrace&) = delete;
  PyTrace& operator=(const PyTrace&) = delete;

  EventTracer* tracer() { return &*etdump_; }
  // To be held while a method loads or runs: a tracer serves one thread at a time.
  std::mutex& mutex() { return mutex_; }

  // Writes what happened since the last file, and the values if there is a path for them; the next load or
  // run begins a new file. Called without the GIL. Throws an OSError.
  void write(const std::string& path, const std::optional<std::string>& debug_path);

  // Events and values that did not fit in the current file. Called without the GIL.
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
