// SPDX-License-Identifier: BSD-3-Clause
// Detects changes of the file by size and modification time: checking contents would read the whole file.
// There remains a window between check() and an access, which no portable interface closes.
#include "runtime/module/mmap_data_loader.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/module/host_file_part.h"

namespace rushlight {

namespace {

void unlock(void*, void* data, size_t size) { ::munlock(data, size); }

}  // namespace

bool MmapDataLoader::read_version(int file, Version* version) {
  struct stat status{};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  *version = {static_cast<size_t>(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  return true;
}

Result<MmapDataLoader> MmapDataLoader::open(const char* path, Lock lock) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  RL_CHECK(file >= 0, Error::AccessFailed, "%s: %s", path, std::strerror(errno));
  Version version;
  const bool regular = read_version(file, &version);
  void* data = nullptr;
  // An empty file cannot be mapped; its loader has no data.
  if (regular && version.size > 0) data = ::mmap(nullptr, version.size, PROT_READ, MAP_PRIVATE, file, 0);
  // close() may change errno.
  const int reason = errno;
  if (!regular || data == MAP_FAILED) ::close(file);
  RL_CHECK(regular, Error::AccessFailed, "%s: not a regular file", path);
  RL_CHECK(data != MAP_FAILED, Error::AccessFailed, "%s: cannot be mapped: %s", path, std::strerror(reason));
  return MmapDataLoader(path, file, version, static_cast<uint8_t*>(data), lock);
}

MmapDataLoader::~MmapDataLoader() {
  if (data_ != nullptr) ::munmap(data_, version_.size);
  if (file_ >= 0) ::close(file_);
}

void MmapDataLoader::release_pages() const {
  // Pages of a private mapping that were never written belong to the file, so no data is lost.
  if (data_ != nullptr && lock_ == Lock::None)
    static_cast<void>(::madvise(data_, version_.size, MADV_DONTNEED));
}

Error MmapDataLoader::check() const {
  Version now;
  const bool same = read_version(file_, &now) && now.size == version_.size &&
                    now.seconds == version_.seconds && now.nanoseconds == version_.nanoseconds;
  RL_CHECK(same, Error::AccessFailed,
           "%s: was overwritten since it was loaded (%lu bytes then, %lu now): load it again", path_.c_str(),
           log_number(version_.size), log_number(now.size));
  return Error::Ok;
}

// Offset 0 is copied, because the loaders verify and then trust the structures there; see the class.
Result<FreeableBuffer> MmapDataLoader::load(size_t offset, size_t size) {
  RL_CHECK(range_fits(offset, size, version_.size), Error::InvalidArgument, "file: %lu bytes at %lu of %lu",
           log_number(size), log_number(offset), log_number(version_.size));
  if (size == 0) return FreeableBuffer();
  RL_TRY(check());
  if (offset == 0) return read_part(file_, offset, size);
  if (lock_ == Lock::None) return FreeableBuffer(data_ + offset, size);
  // RLIMIT_MEMLOCK is small by default on many systems; Try accepts unlocked pages.
  if (::mlock(data_ + offset, size) != 0) {
    RL_CHECK(lock_ == Lock::Try, Error::AccessFailed, "file: %lu bytes cannot be locked in memory: %s",
             log_number(size), std::strerror(errno));
    return FreeableBuffer(data_ + offset, size);
  }
  return FreeableBuffer(data_ + offset, size, unlock);
}

}  // namespace rushlight
