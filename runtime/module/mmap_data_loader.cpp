// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/module/mmap_data_loader.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rushlight {

namespace {

void unlock(void*, void* data, size_t size) { ::munlock(data, size); }

}  // namespace

Result<MmapDataLoader> MmapDataLoader::open(const char* path, Lock lock) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  RL_CHECK(file >= 0, Error::AccessFailed, "%s: %s", path, std::strerror(errno));
  struct stat status{};
  const bool regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const auto size = static_cast<size_t>(status.st_size);
  void* data = nullptr;
  if (regular && size > 0) data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  const int reason = errno;
  ::close(file);  // the mapping stays
  RL_CHECK(regular, Error::AccessFailed, "%s: is no regular file", path);
  RL_CHECK(data != MAP_FAILED, Error::AccessFailed, "%s: cannot be mapped: %s", path, std::strerror(reason));
  return MmapDataLoader(static_cast<uint8_t*>(data), size, lock);
}

MmapDataLoader::~MmapDataLoader() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Result<FreeableBuffer> MmapDataLoader::load(size_t offset, size_t size) {
  RL_CHECK(range_fits(offset, size, size_), Error::InvalidArgument,
           "file: %lu bytes at %lu asked for, it has %lu", log_number(size), log_number(offset),
           log_number(size_));
  if (size == 0) return FreeableBuffer();
  if (lock_ == Lock::None) return FreeableBuffer(data_ + offset, size);
  if (::mlock(data_ + offset, size) != 0) {
    RL_CHECK(lock_ == Lock::Try, Error::AccessFailed, "file: %lu bytes cannot be locked in memory: %s",
             log_number(size), std::strerror(errno));
    return FreeableBuffer(data_ + offset, size);
  }
  return FreeableBuffer(data_ + offset, size, unlock);
}

}  // namespace rushlight
