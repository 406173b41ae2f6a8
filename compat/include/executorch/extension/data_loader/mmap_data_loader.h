// SPDX-License-Identifier: BSD-3-Clause
// Maps a file and uses its pages in the page cache: rushlight::MmapDataLoader. Constants are held in memory
// once, also by several processes. Access to a file that was truncated meanwhile raises SIGBUS; replacing it
// by renaming a new file to its path is safe.
//
//   auto loader = MmapDataLoader::from("model.pte", MmapDataLoader::MlockConfig::NoMlock);
#pragma once

#include <utility>

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

#include "runtime/module/mmap_data_loader.h"

namespace executorch::extension {

class MmapDataLoader final : public executorch::runtime::DataLoader {
 public:
  // Locking of loaded parts in RAM, until their buffer is freed.
  enum class MlockConfig {
    NoMlock,
    UseMlock,              // an error if the system refuses
    UseMlockIgnoreErrors,  // pages stay unlocked if the system refuses
    UseMadvise,            // the same as NoMlock here
  };

  // Opens and maps a regular file. Errors: AccessFailed (logs the system's reason), InvalidArgument (null
  // name).
  static executorch::runtime::Result<MmapDataLoader> from(const char* file_name,
                                                          MlockConfig mlock_config = MlockConfig::UseMlock);
  ET_DEPRECATED static executorch::runtime::Result<MmapDataLoader> From(
      const char* file_name, MlockConfig mlock_config = MlockConfig::UseMlock) {
    return from(file_name, mlock_config);
  }
  ET_DEPRECATED static executorch::runtime::Result<MmapDataLoader> From(const char* file_name,
                                                                        bool use_mlock) {
    return from(file_name, use_mlock ? MlockConfig::UseMlock : MlockConfig::NoMlock);
  }

  // The moved-from loader then fails with InvalidState.
  MmapDataLoader(MmapDataLoader&& other) noexcept
      : loader_(std::move(other.loader_)), is_open_(std::exchange(other.is_open_, false)) {}

  // Bytes of the mapping, which must not outlive the loader; those at offset 0 are a copy, because they hold
  // the structures that are verified once and then trusted. Errors: InvalidArgument (beyond the end of the
  // file), AccessFailed (the file changed, or cannot be locked), MemoryAllocationFailed, InvalidState
  // (moved-from).
  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, const DataLoader::SegmentInfo& segment_info) const override;
  // Copies to memory of the caller. Errors: as load(), and InvalidArgument (null buffer).
  ET_NODISCARD executorch::runtime::Error load_into(size_t offset, size_t size,
                                                    const SegmentInfo& segment_info,
                                                    void* buffer) const override;
  // Bytes of the file when it was opened. Error: InvalidState (moved-from).
  ET_NODISCARD executorch::runtime::Result<size_t> size() const override;

  // Not in ExecuTorch. Error: AccessFailed if the file changed since it was opened, by size and modification
  // time.
  ET_NODISCARD executorch::runtime::Error check() const;

 private:
  explicit MmapDataLoader(rushlight::MmapDataLoader loader) : loader_(std::move(loader)) {}

  mutable rushlight::MmapDataLoader loader_;  // load() has no visible side effect
  bool is_open_ = true;
};

}  // namespace executorch::extension

namespace torch::executor::util {
using ::executorch::extension::MmapDataLoader;
}
