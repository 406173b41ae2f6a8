// SPDX-License-Identifier: BSD-3-Clause
// Reads a file that another process opened, for processes that may not open files, such as isolated services
// of Android.
#pragma once

#include <cstddef>
#include <utility>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension {

// load(), load_into() and size() behave like FileDataLoader's. Positions are absolute, so the descriptor's
// own file position is neither used nor changed.
class FileDescriptorDataLoader final : public executorch::runtime::DataLoader {
 public:
  // `file_descriptor_uri` is "fd:///7" for file descriptor 7, which the loader closes at the end; after an
  // error it stays open. The file must support pread(): no pipe or socket. `alignment` as in
  // FileDataLoader::from(). Errors: InvalidArgument (invalid URI, alignment), AccessFailed.
  static executorch::runtime::Result<FileDescriptorDataLoader> fromFileDescriptorUri(
      const char* file_descriptor_uri, size_t alignment = alignof(std::max_align_t));

  // The moved-from loader then fails with InvalidState.
  FileDescriptorDataLoader(FileDescriptorDataLoader&& other) noexcept = default;
  FileDescriptorDataLoader(const FileDescriptorDataLoader&) = delete;
  FileDescriptorDataLoader& operator=(const FileDescriptorDataLoader&) = delete;
  FileDescriptorDataLoader& operator=(FileDescriptorDataLoader&&) = delete;
  ~FileDescriptorDataLoader() override = default;

  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, const DataLoader::SegmentInfo& segment_info) const override {
    return file_.load(offset, size, segment_info);
  }
  ET_NODISCARD executorch::runtime::Error load_into(size_t offset, size_t size,
                                                    const SegmentInfo& segment_info,
                                                    void* buffer) const override {
    return file_.load_into(offset, size, segment_info, buffer);
  }
  ET_NODISCARD executorch::runtime::Result<size_t> size() const override { return file_.size(); }

 private:
  explicit FileDescriptorDataLoader(FileDataLoader file) : file_(std::move(file)) {}

  FileDataLoader file_;
};

}  // namespace executorch::extension

namespace torch::executor::util {
using ::executorch::extension::FileDescriptorDataLoader;
}
