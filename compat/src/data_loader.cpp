// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <executorch/extension/data_loader/file_data_loader.h>
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

Result<FileDataLoader> FileDataLoader::from(const char* file_name, size_t alignment) {
  ET_CHECK_OR_RETURN_ERROR(alignment != 0 && (alignment & (alignment - 1)) == 0, InvalidArgument,
                           "an alignment of %zu is no power of two", alignment);
  ET_CHECK_OR_RETURN_ERROR(file_name != nullptr, InvalidArgument, "the file's name is null");
  const int file = ::open(file_name, O_RDONLY | O_CLOEXEC);
  ET_CHECK_OR_RETURN_ERROR(file >= 0, AccessFailed, "%s: %s", file_name, std::strerror(errno));
  struct stat status{};
  if (::fstat(file, &status) != 0) {
    ET_LOG(Error, "%s: %s", file_name, std::strerror(errno));
    ::close(file);
    return Error::AccessFailed;
  }
  return FileDataLoader(file, static_cast<size_t>(status.st_size), alignment);
}

FileDataLoader::~FileDataLoader() {
  if (file_ >= 0) ::close(file_);
}

Result<size_t> FileDataLoader::size() const {
  ET_CHECK_OR_RETURN_ERROR(file_ >= 0, InvalidState, "the loader was moved from");
  return size_;
}

Error FileDataLoader::load_into(size_t offset, size_t size, const SegmentInfo&, void* buffer) const {
  ET_CHECK_OR_RETURN_ERROR(file_ >= 0, InvalidState, "the loader was moved from");
  ET_CHECK_OR_RETURN_ERROR(rushlight::range_fits(offset, size, size_), InvalidArgument,
                           "%zu bytes at offset %zu of %zu", size, offset, size_);
  ET_CHECK_OR_RETURN_ERROR(buffer != nullptr, InvalidArgument, "the buffer is null");
  auto* to = static_cast<uint8_t*>(buffer);
  while (size > 0) {
    const ssize_t got = ::pread(file_, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    ET_CHECK_OR_RETURN_ERROR(got > 0, AccessFailed, "reading failed at offset %zu: %s", offset,
                             got == 0 ? "the file has become shorter" : std::strerror(errno));
    to += got;
    offset += static_cast<size_t>(got);
    size -= static_cast<size_t>(got);
  }
  return Error::Ok;
}

Result<FreeableBuffer> FileDataLoader::load(size_t offset, size_t size, const SegmentInfo& info) const {
  ET_CHECK_OR_RETURN_ERROR(rushlight::range_fits(offset, size, size_), InvalidArgument,
                           "%zu bytes at offset %zu of %zu", size, offset, size_);
  if (size == 0) return FreeableBuffer(nullptr, 0, nullptr);
  const size_t alignment = alignment_ < alignof(void*) ? alignof(void*) : alignment_;
  void* data = nullptr;
  ET_CHECK_OR_RETURN_ERROR(::posix_memalign(&data, alignment, size) == 0, MemoryAllocationFailed,
                           "no memory for %zu bytes of the file", size);
  FreeableBuffer buffer(data, size, [](void*, void* memory, size_t) { std::free(memory); });
  ET_CHECK_OK_OR_RETURN_ERROR(load_into(offset, size, info, data));
  return Result<FreeableBuffer>(std::move(buffer));
}

Result<MmapDataLoader> MmapDataLoader::from(const char* file_name, MlockConfig mlock_config) {
  using Lock = rushlight::MmapDataLoader::Lock;
  ET_CHECK_OR_RETURN_ERROR(file_name != nullptr, InvalidArgument, "the file's name is null");
  const Lock lock = mlock_config == MlockConfig::UseMlock               ? Lock::Require
                    : mlock_config == MlockConfig::UseMlockIgnoreErrors ? Lock::Try
                                                                        : Lock::None;
  auto loader = rushlight::MmapDataLoader::open(file_name, lock);
  if (!loader.ok()) return official(loader.error());
  return MmapDataLoader(std::move(*loader));
}

Result<FreeableBuffer> MmapDataLoader::load(size_t offset, size_t size, const SegmentInfo&) const {
  auto loaded = loader_.load(offset, size);
  if (!loaded.ok()) return official(loaded.error());
  return official(std::move(*loaded));
}

Error MmapDataLoader::load_into(size_t offset, size_t size, const SegmentInfo&, void* buffer) const {
  ET_CHECK_OR_RETURN_ERROR(buffer != nullptr, InvalidArgument, "the buffer is null");
  auto loaded = loader_.load(offset, size);
  if (!loaded.ok()) return official(loaded.error());
  if (size > 0) std::memcpy(buffer, loaded->data(), size);
  return Error::Ok;
}

}  // namespace executorch::extension
