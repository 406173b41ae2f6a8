// SPDX-License-Identifier: BSD-3-Clause
// Writes to a file.
#pragma once

#include <cstdio>

#include <executorch/devtools/etdump/data_sinks/data_sink_base.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::etdump {

class FileDataSink : public DataSinkBase {
 public:
  // Creates the file. Error: AccessFailed.
  static ::executorch::runtime::Result<FileDataSink> create(const char* file_path);

  FileDataSink(const FileDataSink&) = delete;
  FileDataSink& operator=(const FileDataSink&) = delete;
  FileDataSink(FileDataSink&& other) noexcept : file_(other.file_), written_(other.written_) {
    other.file_ = nullptr;
  }
  FileDataSink& operator=(FileDataSink&& other) noexcept;
  ~FileDataSink() override { close(); }

  // Errors: AccessFailed (the sink is closed, the disk is full).
  ::executorch::runtime::Result<size_t> write(const void* ptr, size_t size) override;
  size_t get_used_bytes() const override { return written_; }
  void close();

 private:
  explicit FileDataSink(FILE* file) : file_(file) {}

  FILE* file_;
  size_t written_ = 0;
};

}  // namespace executorch::etdump
