// SPDX-License-Identifier: BSD-3-Clause
// A file mapped into memory: what is loaded from it is used where the system keeps the file's pages, so
// that weights are neither read before they are needed nor held twice.
#pragma once

#include <string>

#include "runtime/program/data_loader.h"

namespace rushlight {

// What is loaded from the file's beginning is a copy: there the formats have all that is checked once and
// relied on from then on, so that a file which is overwritten in place can change constants only. A file that
// is replaced (a new one renamed to its path) stays what it was. Reading what is gone of a file that has
// become shorter is a bus error: check() tells before.
class MmapDataLoader final : public DataLoader {
 public:
  // Whether loaded parts are kept in memory, and what happens if the system does not allow that.
  enum class Lock { None, Require, Try };

  // Error: AccessFailed, with the system's reason.
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

  // Locked parts are unlocked when they are freed. Errors: also what check() returns.
  [[nodiscard]] Result<FreeableBuffer> load(size_t offset, size_t size) override;
  [[nodiscard]] size_t size() const override { return version_.size; }

  // Takes pages out of this process's memory that are not kept there; they are read again where the system
  // has them, if they are needed.
  void release_pages() const;

  // Whether the file is still the one that was opened: AccessFailed if it was written to since.
  [[nodiscard]] Error check() const;

 private:
  // What changes when somebody writes to a file.
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
