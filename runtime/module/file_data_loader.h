// SPDX-License-Identifier: BSD-3-Clause
// A program in a file, read with pread into memory of its own.
#pragma once

#include "runtime/program/data_loader.h"

namespace rushlight {

class FileDataLoader final : public DataLoader {
 public:
  // Error: AccessFailed, with the system's reason.
  [[nodiscard]] static Result<FileDataLoader> open(const char* path);

  FileDataLoader(FileDataLoader&& other) noexcept : file_(other.file_), size_(other.size_) {
    other.file_ = -1;
    other.size_ = 0;
  }
  FileDataLoader(const FileDataLoader&) = delete;
  FileDataLoader& operator=(const FileDataLoader&) = delete;
  FileDataLoader& operator=(FileDataLoader&&) = delete;
  ~FileDataLoader();

  [[nodiscard]] Result<FreeableBuffer> load(size_t offset, size_t size) override;
  [[nodiscard]] size_t size() const override { return size_; }

 private:
  FileDataLoader(int file, size_t size) : file_(file), size_(size) {}

  int file_;
  size_t size_;
};

}  // namespace rushlight
