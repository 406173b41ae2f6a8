// SPDX-License-Identifier: BSD-3-Clause
// The files that a runner works on: from the command line, or linked into it.
#pragma once

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/program/data_loader.h"
#include "runtime/program/flat_tensor.h"
#include "runtime/program/merged_data_map.h"

namespace rushlight {

// The value of the first argument --name=value from number `*from` on, which then is the number behind it;
// null when there is none.
const char* next_argument(int argc, char** argv, const char* name, int* from);
const char* argument(int argc, char** argv, const char* name);

// A whole file, in claimed memory. Error: AccessFailed, MemoryAllocationFailed.
[[nodiscard]] Result<Span<const uint8_t>> read_file(const char* path);

// The file of --model_path, or what was linked in; empty when there is neither.
[[nodiscard]] Result<Span<const uint8_t>> read_model(int argc, char** argv);

// `bytes` if they begin at a multiple of 16, else a copy that does. Error: MemoryAllocationFailed.
[[nodiscard]] Result<Span<const uint8_t>> aligned(Span<const uint8_t> bytes);

// The data files of all --data_path, and those that were linked in.
class DataFiles {
 public:
  DataFiles() = default;
  DataFiles(const DataFiles&) = delete;
  DataFiles& operator=(const DataFiles&) = delete;

  // Errors: AccessFailed, NotSupported (more than kMaxFiles), or what FlatTensor and MergedDataMap say.
  Error open(int argc, char** argv);

  // All files as one map; null without files.
  [[nodiscard]] const NamedDataMap* map() const { return merged_; }

  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kMaxFiles = 8;

  Error add(Span<const uint8_t> file);
  Error add_linked();

  size_t count_ = 0;
  uint64_t bytes_ = 0;
  alignas(BufferDataLoader) uint8_t loaders_[kMaxFiles][sizeof(BufferDataLoader)];
  alignas(FlatTensor) uint8_t files_[kMaxFiles][sizeof(FlatTensor)];
  alignas(MergedDataMap) uint8_t merged_storage_[sizeof(MergedDataMap)];
  const NamedDataMap* maps_[kMaxFiles];
  const NamedDataMap* merged_ = nullptr;
};

}  // namespace rushlight
