// SPDX-License-Identifier: BSD-3-Clause
// Reads parts of a file with pread() into allocated memory: one copy of each part, freed with its buffer.
// Choose MmapDataLoader to share the page cache.
//
//   auto loader = FileDataLoader::from("model.pte");
//   if (!loader.ok()) return loader.error();
//   auto program = Program::load(&*loader);
#pragma once

#include <cstddef>

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension {

// Thread-safe: reading does not move a file position. The size is that at opening.
class FileDataLoader final : public executorch::runtime::DataLoader {
 public:
  // Opens a file for reading. load() returns memory aligned to `alignment`, a power of two. Errors:
  // InvalidArgument (alignment, null name), AccessFailed (logs the system's reason).
  static executorch::runtime::Result<FileDataLoader> from(const char* file_name,
                                                          size_t alignment = alignof(std::max_align_t));
  ET_DEPRECATED static executorch::runtime::Result<FileDataLoader> From(
      const char* file_name, size_t alignment = alignof(std::max_align_t)) {
    return from(file_name, alignment);
  }

  // The moved-from loader then fails with InvalidState.
  FileDataLoader(FileDataLoader&& other) noexcept
      : file_(other.file_), size_(other.size_), alignment_(other.alignment_) {
    other.file_ = -1;
  }
  FileDataLoader(const FileDataLoader&) = delete;
  FileDataLoader& operator=(const FileDataLoader&) = delete;
  FileDataLoader& operator=(FileDataLoader&&) = delete;
  ~FileDataLoader() override;

  // Reads `size` bytes at `offset`; an empty range gives a null buffer. Errors: InvalidArgument (beyond the
  // end), MemoryAllocationFailed, AccessFailed (a read failed, or the file was truncated), InvalidState
  // (moved-from).
  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, const DataLoader::SegmentInfo& segment_info) const override;
  // Reads to memory of the caller, of any alignment. Errors: as load(), and InvalidArgument (null buffer).
  ET_NODISCARD executorch::runtime::Error load_into(size_t offset, size_t size,
                                                    const SegmentInfo& segment_info,
                                                    void* buffer) const override;
  // Bytes of the file when it was opened. Error: InvalidState (moved-from).
  ET_NODISCARD executorch::runtime::Result<size_t> size() const override;

 private:
  friend class FileDescriptorDataLoader;
  // Takes over an open file and closes it at the end. Errors: InvalidArgument (alignment), AccessFailed.
  static executorch::runtime::Result<FileDataLoader> over(int file, size_t alignment);
  FileDataLoader(int file, size_t size, size_t alignment) : file_(file), size_(size), alignment_(alignment) {}

  // The descriptor; -1 in a moved-from loader.
  int file_;
  size_t size_;
  size_t alignment_;
};

}  // namespace executorch::extension

namespace torch::executor::util {
using ::executorch::extension::FileDataLoader;
}
