// SPDX-License-Identifier: BSD-3-Clause
// A file mapped into memory: what is loaded from it is used where the system keeps the file's pages, so
// that weights are neither read before they are needed nor held twice.
#pragma once

#include "runtime/program/data_loader.h"

namespace rushlight {

// The file must not become shorter while it is mapped: reading what is gone is a bus error.
class MmapDataLoader final : public DataLoader {
 public:
  // Whether loaded parts are kept in memory, and what happens if the system does not allow that.
  enum class Lock { None, Require, Try };

  // Error: AccessFailed, with the system's reason.
  [[nodiscard]] static Result<MmapDataLoader> open(const char* path, Lock lock = Lock::None);

  MmapDataLoader(MmapDataLoader&& other) noexcept
      : data_(other.data_), size_(other.size_), lock_(other.lock_) {
    other.data_ = nullptr;
  }
  MmapDataLoader(const MmapDataLoader&) = delete;
  MmapDataLoader& operator=(const MmapDataLoader&) = delete;
  MmapDataLoader& operator=(MmapDataLoader&&) = delete;
  ~MmapDataLoader();

  // Locked parts are unlocked when they are freed.
  [[nodiscard]] Result<FreeableBuffer> load(size_t offset, size_t size) override;
  [[nodiscard]] size_t size() const override { return size_; }

 private:
  MmapDataLoader(uint8_t* data, size_t size, Lock lock) : data_(data), size_(size), lock_(lock) {}

  uint8_t* data_;  // null for an empty file
  size_t size_;
  Lock lock_;
};

}  // namespace rushlight
