// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <cstring>

#include "runtime/program/data_loader.h"

namespace rushlight::fuzz {

// Returns each range as a copy in a separate block, as a loader that reads a file does: sanitizers then see
// reads beyond a range, and reads after its release. Blocks are aligned to 16, which Program::load()
// requires. `bytes` must outlive the loader.
class CopyingLoader final : public DataLoader {
 public:
  explicit CopyingLoader(Span<const uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] Result<FreeableBuffer> load(size_t offset, size_t size) override {
    // As every loader must: offsets come from the file.
    if (!range_fits(offset, size, bytes_.size())) return Error::InvalidArgument;
    void* copy = nullptr;
    if (posix_memalign(&copy, 16, size) != 0) return Error::AccessFailed;
    if (size > 0) std::memcpy(copy, bytes_.data() + offset, size);
    return FreeableBuffer(copy, size, [](void*, void* data, size_t) { std::free(data); });
  }
  [[nodiscard]] size_t size() const override { return bytes_.size(); }

 private:
  Span<const uint8_t> bytes_;
};

}  // namespace rushlight::fuzz
