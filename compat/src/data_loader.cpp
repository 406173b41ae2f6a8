// SPDX-License-Identifier: BSD-3-Clause
// Loaders of files: read with pread(), through a descriptor of another process, or mapped.
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/data_loader/file_descriptor_data_loader.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compat/detail/data_map.h"
#include "runtime/base/checked.h"

namespace executorch::extension {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using rushlight::compat::official;

Result<FileDataLoader> FileDataLoader::over(int file, size_t alignment) {
  ET_CHECK_OR_RETURN_ERROR(alignment != 0 && (alignment & (alignment - 1)) == 0, InvalidArgument,
                           "alignment: expected a power of two, got %zu", alignment);
  struct stat status{};
  ET_CHECK_OR_RETURN_ERROR(::fstat(file, &status) == 0, AccessFailed, "file descriptor %d: %s", file,
                           std::strerror(errno));
  return FileDataLoader(file, static_cast<size_t>(status.st_size), alignment);
}

Result<FileDataLoader> FileDataLoader::from(const char* file_name, size_t alignment) {
  ET_CHECK_OR_RETURN_ERROR(file_name != nullptr, InvalidArgument, "the file's name is null");
  // Not inherited by programs that the application starts.
  const int file = ::open(file_name, O_RDONLY | O_CLOEXEC);
  ET_CHECK_OR_RETURN_ERROR(file >= 0, AccessFailed, "%s: %s", file_name, std::strerror(errno));
  auto loader = over(file, alignment);
  if (!loader.ok()) ::close(file);
  return loader;
}

Result<FileDescriptorDataLoader> FileDescriptorDataLoader::fromFileDescriptorUri(
    const char* file_descriptor_uri, size_t alignment) {
  constexpr char kPrefix[] = "fd:///";
  constexpr size_t kLength = sizeof kPrefix - 1;
  ET_CHECK_OR_RETURN_ERROR(
      file_descriptor_uri != nullptr && std::strncmp(file_descriptor_uri, kPrefix, kLength) == 0,
      InvalidArgument, "file descriptor: expected a text that begins with %s", kPrefix);
  const char* digits = file_descriptor_uri + kLength;
  char* end = nullptr;
  errno = 0;
  // The whole rest must be the number; strtol() saturates and sets errno on overflow.
  const long number = std::strtol(digits, &end, 10);
  ET_CHECK_OR_RETURN_ERROR(end != digits && *end == '\0' && errno == 0 && number >= 0 && number <= INT_MAX,
                           InvalidArgument, "file descriptor: expected a number, got '%s'", digits);
  // On an error the descriptor stays the caller's.
  auto file = FileDataLoader::over(static_cast<int>(number), alignment);
  if (!file.ok()) return file.error();
  return FileDescriptorDataLoader(std::move(*file));
}

FileDataLoader::~FileDataLoader() {
  if (file_ >= 0) ::close(file_);
}

Result<size_t> FileDataLoader::size() const {
  ET_CHECK_OR_RETURN_ERROR(file_ >= 0, InvalidState, "loader: object was moved from");
  return size_;
}

Error FileDataLoader::load_into(size_t offset, size_t size, const SegmentInfo&, void* buffer) const {
  ET_CHECK_OR_RETURN_ERROR(file_ >= 0, InvalidState, "loader: object was moved from");
  ET_CHECK_OR_RETURN_ERROR(rushlight::range_fits(offset, size, size_), InvalidArgument,
                           "data: %zu bytes at offset %zu exceed its %zu bytes", size, offset, size_);
  ET_CHECK_OR_RETURN_ERROR(buffer != nullptr, InvalidArgument, "the buffer is null");
  auto* to = static_cast<uint8_t*>(buffer);
  // pread() may return less than requested, for example for more than 2 GiB.
  while (size > 0) {
    // pread() has no position to share, so several threads may load from one file.
    const ssize_t got = ::pread(file_, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    ET_CHECK_OR_RETURN_ERROR(got > 0, AccessFailed, "reading failed at offset %zu: %s", offset,
                             got == 0 ? "file: truncated while reading" : std::strerror(errno));
    to += got;
    offset += static_cast<size_t>(got);
    size -= static_cast<size_t>(got);
  }
  return Error::Ok;
}

Result<FreeableBuffer> FileDataLoader::load(size_t offset, size_t size, const SegmentInfo& info) const {
  ET_CHECK_OR_RETURN_ERROR(file_ >= 0, InvalidState, "loader: object was moved from");
  ET_CHECK_OR_RETURN_ERROR(rushlight::range_fits(offset, size, size_), InvalidArgument,
                           "data: %zu bytes at offset %zu exceed its %zu bytes", size, offset, size_);
  if (size == 0) return FreeableBuffer(nullptr, 0, nullptr);
  // posix_memalign() accepts no less.
  const size_t alignment = alignment_ < alignof(void*) ? alignof(void*) : alignment_;
  void* data = nullptr;
  ET_CHECK_OR_RETURN_ERROR(::posix_memalign(&data, alignment, size) == 0, MemoryAllocationFailed,
                           "out of memory: %zu bytes of the file", size);
  // Owns the memory from here on, so that an error of load_into() frees it.
  FreeableBuffer buffer(data, size, [](void*, void* memory, size_t) { std::free(memory); });
  ET_CHECK_OK_OR_RETURN_ERROR(load_into(offset, size, info, data));
  return Result<FreeableBuffer>(std::move(buffer));
}

Result<MmapDataLoader> MmapDataLoader::from(const char* file_name, MlockConfig mlock_config) {
  using Lock = rushlight::MmapDataLoader::Lock;
  ET_CHECK_OR_RETURN_ERROR(file_name != nullptr, InvalidArgument, "the file's name is null");
  // UseMadvise has no counterpart: the kernel's default read-ahead applies.
  const Lock lock = mlock_config == MlockConfig::UseMlock               ? Lock::Require
                    : mlock_config == MlockConfig::UseMlockIgnoreErrors ? Lock::Try
                                                                        : Lock::None;
  auto loader = rushlight::MmapDataLoader::open(file_name, lock);
  if (!loader.ok()) return official(loader.error());
  return MmapDataLoader(std::move(*loader));
}

Result<size_t> MmapDataLoader::size() const {
  ET_CHECK_OR_RETURN_ERROR(is_open_, InvalidState, "loader: object was moved from");
  return loader_.size();
}

Result<FreeableBuffer> MmapDataLoader::load(size_t offset, size_t size, const SegmentInfo&) const {
  ET_CHECK_OR_RETURN_ERROR(is_open_, InvalidState, "loader: object was moved from");
  auto loaded = loader_.load(offset, size);
  if (!loaded.ok()) return official(loaded.error());
  return official(std::move(*loaded));
}

Error MmapDataLoader::check() const {
  ET_CHECK_OR_RETURN_ERROR(is_open_, InvalidState, "loader: object was moved from");
  return official(loader_.check());
}

Error MmapDataLoader::load_into(size_t offset, size_t size, const SegmentInfo&, void* buffer) const {
  ET_CHECK_OR_RETURN_ERROR(is_open_, InvalidState, "loader: object was moved from");
  ET_CHECK_OR_RETURN_ERROR(buffer != nullptr, InvalidArgument, "the buffer is null");
  auto loaded = loader_.load(offset, size);
  if (!loaded.ok()) return official(loaded.error());
  if (size > 0) std::memcpy(buffer, loaded->data(), size);
  return Error::Ok;
}

}  // namespace executorch::extension
