// SPDX-License-Identifier: BSD-3-Clause
// Files are read into memory that is never released: a runner ends after its run.
#include "runtime/runner/model_files.h"

#include <cstring>
#include <new>

#include "runtime/base/log.h"
#include "runtime/platform/host_file.h"
#include "runtime/platform/platform.h"

extern "C" {
// Defined if a program or data files are linked; cmake/embed_model.cmake generates them. Each data file is
// preceded by 16 bytes, of which the first 8 hold its size, and starts at a multiple of 16.
extern const uint8_t rushlight_model_start[] __attribute__((weak));
extern const uint8_t rushlight_model_end[] __attribute__((weak));
extern const uint8_t rushlight_data_files_start[] __attribute__((weak));
extern const uint8_t rushlight_data_files_end[] __attribute__((weak));
}

namespace rushlight {

namespace {

constexpr size_t kAlignment = 16;

}  // namespace

// An option counts in the form NAME=VALUE only; `from` makes repeated options possible.
const char* next_argument(int argc, char** argv, const char* name, int* from) {
  const size_t length = std::strlen(name);
  while (*from < argc) {
    const char* word = argv[(*from)++];
    if (std::strncmp(word, name, length) == 0 && word[length] == '=') return word + length + 1;
  }
  return nullptr;
}

const char* argument(int argc, char** argv, const char* name) {
  int from = 1;
  return next_argument(argc, argv, name, &from);
}

Result<Span<const uint8_t>> read_file(const char* path) {
  const int file = platform::file_open(path, platform::FileMode::Read);
  RL_CHECK(file >= 0, Error::AccessFailed, "%s: cannot be opened", path);
  const long size = platform::file_size(file);
  // An empty file claims no memory and is no error here; its reader refuses it.
  const Span<uint8_t> memory = size < 0 ? Span<uint8_t>() : platform::claim_memory(static_cast<size_t>(size));
  if (size > 0 && memory.empty()) platform::file_close(file);
  RL_CHECK(size <= 0 || !memory.empty(), Error::MemoryAllocationFailed, "%s: no memory for %ld bytes", path,
           size);
  const size_t got = platform::file_read(file, memory.data(), memory.size());
  platform::file_close(file);
  RL_CHECK(size >= 0 && got == static_cast<size_t>(size), Error::AccessFailed, "%s: read %lu of %ld bytes",
           path, log_number(got), size);
  return Span<const uint8_t>(memory);
}

Result<Span<const uint8_t>> read_model(int argc, char** argv) {
  const char* path = argument(argc, argv, "--model_path");
  if (path != nullptr) return read_file(path);
  // Weak: the address is null if nothing was linked.
  if (rushlight_model_start == nullptr) return Span<const uint8_t>();
  return Span<const uint8_t>(rushlight_model_start,
                             static_cast<size_t>(rushlight_model_end - rushlight_model_start));
}

Result<Span<const uint8_t>> aligned(Span<const uint8_t> bytes) {
  if (is_aligned(bytes.data(), kAlignment)) return bytes;
  const Span<uint8_t> copy = platform::claim_memory(bytes.size());
  RL_CHECK(copy.size() == bytes.size(), Error::MemoryAllocationFailed, "program: no memory for %lu bytes",
           log_number(bytes.size()));
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return Span<const uint8_t>(copy);
}

Error DataFiles::add(Span<const uint8_t> file) {
  RL_CHECK(count_ < kMaxFiles, Error::NotSupported, "data files: expected at most %lu",
           log_number(kMaxFiles));
  // Placement new into members: the loader must keep its address while its map is in use.
  auto* loader = new (loaders_[count_]) BufferDataLoader(file.data(), file.size());
  RL_TRY_ASSIGN(FlatTensor opened, FlatTensor::load(*loader));
  maps_[count_] = new (files_[count_]) FlatTensor(std::move(opened));
  ++count_;
  bytes_ += file.size();
  return Error::Ok;
}

// Walks over the linked files: 16 bytes with the size, the file, and padding to a multiple of 16.
Error DataFiles::add_linked() {
  if (rushlight_data_files_start == nullptr) return Error::Ok;
  for (const uint8_t* at = rushlight_data_files_start; at < rushlight_data_files_end;) {
    uint64_t size;
    std::memcpy(&size, at, sizeof size);
    RL_TRY(add({at + kAlignment, static_cast<size_t>(size)}));
    at += kAlignment + align_up(static_cast<size_t>(size), kAlignment);
  }
  return Error::Ok;
}

Error DataFiles::open(int argc, char** argv) {
  int from = 1;
  for (const char* path; (path = next_argument(argc, argv, "--data_path", &from)) != nullptr;) {
    RL_TRY_ASSIGN(const Span<const uint8_t> file, read_file(path));
    RL_TRY(add(file));
  }
  RL_TRY(add_linked());
  if (count_ == 0) return Error::Ok;
  RL_TRY_ASSIGN(MergedDataMap merged, MergedDataMap::merge({maps_, count_}));
  merged_ = new (merged_storage_) MergedDataMap(std::move(merged));
  return Error::Ok;
}

}  // namespace rushlight
