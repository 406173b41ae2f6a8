// SPDX-License-Identifier: BSD-3-Clause
// Writes to a file, for values that memory cannot hold. Values follow each other without padding.
//
//   auto sink = FileDataSink::create("values.bin");
//   tracer.set_data_sink(&*sink);
#pragma once

#include <cstdio>

#include <executorch/devtools/etdump/data_sinks/data_sink_base.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::etdump {

// Owns the open file. A moved-from sink is closed.
class FileDataSink : public DataSinkBase {
 public:
  // Creates the file, or truncates an existing one. Error: AccessFailed (logs the system's reason).
  static ::executorch::runtime::Result<FileDataSink> create(const char* file_path);

  FileDataSink(const FileDataSink&) = delete;
  FileDataSink& operator=(const FileDataSink&) = delete;
  FileDataSink(FileDataSink&& other) noexcept : file_(other.file_), written_(other.written_) {
    other.file_ = nullptr;
  }
  FileDataSink& operator=(FileDataSink&& other) noexcept;
  ~FileDataSink() override { close(); }

  // Appends `size` bytes and returns their offset. The C library buffers them until close(). Error:
  // AccessFailed (the sink is closed, the disk is full).
  ::executorch::runtime::Result<size_t> write(const void* ptr, size_t size) override;
  // Bytes written, also after close().
  size_t get_used_bytes() const override { return written_; }
  // Writes what is buffered and closes the file; later writes fail. A second call has no effect.
  void close();

 private:
  explicit FileDataSink(FILE* file) : file_(file) {}

  FILE* file_;
  size_t written_ = 0;
};

}  // namespace executorch::etdump
