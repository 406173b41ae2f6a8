// SPDX-License-Identifier: BSD-3-Clause
// The input files of a runner: named on the command line, or linked.
#pragma once

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/program/data_loader.h"
#include "runtime/program/flat_tensor.h"
#include "runtime/program/merged_data_map.h"

namespace rushlight {

// Returns the value of the first argument --name=value at index `*from` or later and sets `*from` to the next
// index; null if there is none. argument() searches from the start.
const char* next_argument(int argc, char** argv, const char* name, int* from);
const char* argument(int argc, char** argv, const char* name);

// Reads a whole file into claimed memory. Errors: AccessFailed, MemoryAllocationFailed.
[[nodiscard]] Result<Span<const uint8_t>> read_file(const char* path);

// Returns the file of --model_path, or the linked program; empty if there is neither.
[[nodiscard]] Result<Span<const uint8_t>> read_model(int argc, char** argv);

// Returns `bytes` if aligned to 16 bytes, otherwise an aligned copy. Error: MemoryAllocationFailed.
[[nodiscard]] Result<Span<const uint8_t>> aligned(Span<const uint8_t> bytes);

// The data files of all --data_path options and the linked ones.
class DataFiles {
 public:
  DataFiles() = default;
  DataFiles(const DataFiles&) = delete;
  DataFiles& operator=(const DataFiles&) = delete;

  // Opens all files. Errors: AccessFailed, NotSupported (more than kMaxFiles), or as FlatTensor and
  // MergedDataMap.
  Error open(int argc, char** argv);

  // All files as one map; null if there are none.
  [[nodiscard]] const NamedDataMap* map() const { return merged_; }

  // The sum of the sizes of all files.
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kMaxFiles = 8;

  // Opens one file; opens the files that the build linked.
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
