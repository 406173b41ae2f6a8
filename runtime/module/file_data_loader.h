// SPDX-License-Identifier: BSD-3-Clause
// A data loader that reads parts of a file with pread() into newly allocated memory. Compared with
// MmapDataLoader, the result does not change if the file is overwritten later.
#pragma once

#include "runtime/program/data_loader.h"

namespace rushlight {

// Keeps the file open. Movable, not copyable.
class FileDataLoader final : public DataLoader {
 public:
  // Opens the file at `path`. Error: AccessFailed (logs the system's reason).
  [[nodiscard]] static Result<FileDataLoader> open(const char* path);

  FileDataLoader(FileDataLoader&& other) noexcept : file_(other.file_), size_(other.size_) {
    other.file_ = -1;
    other.size_ = 0;
  }
  FileDataLoader(const FileDataLoader&) = delete;
  FileDataLoader& operator=(const FileDataLoader&) = delete;
  FileDataLoader& operator=(FileDataLoader&&) = delete;
  ~FileDataLoader();

  // Errors: InvalidArgument (outside of the file), MemoryAllocationFailed, AccessFailed (cannot be read, or
  // the file was truncated).
  [[nodiscard]] Result<FreeableBuffer> load(size_t offset, size_t size) override;
  [[nodiscard]] size_t size() const override { return size_; }

 private:
  FileDataLoader(int file, size_t size) : file_(file), size_(size) {}

  int file_;
  size_t size_;
};

}  // namespace rushlight
