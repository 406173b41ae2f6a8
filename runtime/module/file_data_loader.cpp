// SPDX-License-Identifier: BSD-3-Clause
// Reads with pread(): no shared file position, so several threads may load parts at once.
#include "runtime/module/file_data_loader.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/module/host_file_part.h"

namespace rushlight {

namespace {

constexpr size_t kAlignment = 16;

void free_memory(void*, void* data, size_t) { std::free(data); }

}  // namespace

Result<FreeableBuffer> read_part(int file, size_t offset, size_t size) {
  if (size == 0) return FreeableBuffer();
  // aligned_alloc requires a multiple of the alignment. Rounding cannot overflow: size is at most a file's
  // size.
  auto* memory = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, align_up(size, kAlignment)));
  RL_CHECK(memory != nullptr, Error::MemoryAllocationFailed, "file: no memory for %lu bytes",
           static_cast<unsigned long>(size));
  FreeableBuffer buffer(memory, size, free_memory);
  for (size_t done = 0; done < size;) {
    const ssize_t got = ::pread(file, memory + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    // End of file before `size` bytes: the file became shorter after it was opened.
    RL_CHECK(got > 0, Error::AccessFailed, "file: %s", got == 0 ? "was truncated" : std::strerror(errno));
    done += static_cast<size_t>(got);
  }
  return buffer;
}

Result<FileDataLoader> FileDataLoader::open(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  RL_CHECK(file >= 0, Error::AccessFailed, "%s: %s", path, std::strerror(errno));
  struct stat status{};
  // Only regular files can be read at any offset.
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(file);
    RL_LOG(Error, "%s: not a regular file", path);
    return Error::AccessFailed;
  }
  return FileDataLoader(file, static_cast<size_t>(status.st_size));
}

FileDataLoader::~FileDataLoader() {
  if (file_ >= 0) ::close(file_);
}

Result<FreeableBuffer> FileDataLoader::load(size_t offset, size_t size) {
  RL_CHECK(range_fits(offset, size, size_), Error::InvalidArgument, "file: %lu bytes at %lu of %lu",
           static_cast<unsigned long>(size), static_cast<unsigned long>(offset),
           static_cast<unsigned long>(size_));
  return read_part(file_, offset, size);
}

}  // namespace rushlight
