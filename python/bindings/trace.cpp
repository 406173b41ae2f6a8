// SPDX-License-Identifier: BSD-3-Clause
// Owns the memory of a trace and writes its files. Errors of the C library become OSError.
#include "python/bindings/trace.h"

#include <cerrno>
#include <cstdio>
#include <new>

#include <pybind11/stl.h>

namespace py = pybind11;

namespace rushlight {

namespace {

// Untouched pages use no memory.
constexpr size_t kEventBytes = size_t{64} << 20;

void write_file(const std::string& path, Span<const uint8_t> bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool written = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  // fclose() reports errors of buffered writes.
  if (file != nullptr) written = std::fclose(file) == 0 && written;
  if (written) return;
  // Acquiring the GIL may change errno.
  const int reason = errno;
  const py::gil_scoped_acquire acquired;
  errno = reason;
  PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
  throw py::error_already_set();
}

}  // namespace

PyTrace::Memory PyTrace::allocate(size_t size) {
  Memory memory(static_cast<uint8_t*>(std::calloc(size == 0 ? 1 : size, 1)));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// Trace and values have separate memory: a trace that is full of values would otherwise lose events.
PyTrace::PyTrace(size_t debug_bytes) : events_(allocate(kEventBytes)), values_(allocate(debug_bytes)) {
  etdump_.emplace(Span<uint8_t>(events_.get(), kEventBytes));
  if (debug_bytes == 0) return;
  sink_ = BufferDataSink({values_.get(), debug_bytes});
  etdump_->set_data_sink(&sink_);
  etdump_->set_debug_level(DebugLevel::IntermediateOutputs);
}

void PyTrace::write(const std::string& path, const std::optional<std::string>& debug_path) {
  // Waits for a method that executes: it holds the mutex, and finish() would end its block.
  const std::unique_lock<std::mutex> locked(mutex_);
  write_file(path, etdump_->finish());
  if (debug_path.has_value()) write_file(*debug_path, sink_.written());
}

std::pair<size_t, size_t> PyTrace::lost() {
  const std::unique_lock<std::mutex> locked(mutex_);
  return {etdump_->lost_events(), etdump_->lost_values()};
}

void bind_trace(py::module_& m) {
  py::class_<PyTrace, std::shared_ptr<PyTrace>>(m, "Trace", py::module_local(),
                                                "Collects the events of a program's methods.")
      .def(py::init<size_t>(), py::arg("debug_buffer_size") = 0)
      .def("write", &PyTrace::write, py::arg("path"), py::arg("debug_path") = py::none(),
           py::call_guard<py::gil_scoped_release>(), "Writes an .etdp file, and the outputs of operators.")
      .def("lost", &PyTrace::lost, py::call_guard<py::gil_scoped_release>(),
           "Returns how many events and values did not fit.");
}

}  // namespace rushlight
