// SPDX-License-Identifier: BSD-3-Clause
// A data loader that maps a file. Loaded data is used in the system's page cache, so weights are read on
// first use and held in memory once.
#pragma once

#include <string>

#include "runtime/program/data_loader.h"

namespace rushlight {

// Data at the start of the file is copied: it holds the structures that are verified once and then trusted,
// so overwriting the file in place can only change constants. Replacing the file (renaming a new one to its
// path) has no effect on this loader. Accessing data beyond the end of a truncated file raises SIGBUS;
// check() detects this in advance.
class MmapDataLoader final : public DataLoader {
 public:
  // Locking of loaded parts in RAM: none, required (an error if the system refuses), or attempted.
  enum class Lock { None, Require, Try };

  // Opens and maps the file at `path`. Error: AccessFailed (logs the system's reason).
  [[nodiscard]] static Result<MmapDataLoader> open(const char* path, Lock lock = Lock::None);

  MmapDataLoader(MmapDataLoader&& other) noexcept
      : path_(std::move(other.path_)),
        file_(other.file_),
        version_(other.version_),
        data_(other.data_),
        lock_(other.lock_) {
    other.file_ = -1;
    other.version_ = {};
    other.data_ = nullptr;
  }
  MmapDataLoader(const MmapDataLoader&) = delete;
  MmapDataLoader& operator=(const MmapDataLoader&) = delete;
  MmapDataLoader& operator=(MmapDataLoader&&) = delete;
  ~MmapDataLoader();

  // Locked parts are unlocked when their buffer is freed. Errors: InvalidArgument (outside of the file), or
  // as check().
  [[nodiscard]] Result<FreeableBuffer> load(size_t offset, size_t size) override;
  [[nodiscard]] size_t size() const override { return version_.size; }

  // Drops unlocked pages from this process's memory; the system reads them again when they are accessed.
  void release_pages() const;

  // Error: AccessFailed if the file changed since it was opened (by size and modification time).
  [[nodiscard]] Error check() const;

 private:
  // Properties that change when a file is written.
  struct Version {
    size_t size = 0;
    int64_t seconds = 0;
    int64_t nanoseconds = 0;
  };
  static bool read_version(int file, Version* version);

  MmapDataLoader(const char* path, int file, const Version& version, uint8_t* data, Lock lock)
      : path_(path), file_(file), version_(version), data_(data), lock_(lock) {}

  std::string path_;
  int file_;
  Version version_;
  uint8_t* data_;  // null for an empty file
  Lock lock_;
};

}  // namespace rushlight
