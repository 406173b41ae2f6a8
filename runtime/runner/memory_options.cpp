// SPDX-License-Identifier: BSD-3-Clause
// Parses numbers without the C library's functions, which small targets lack. Overflow of size_t is an error,
// not a wrap: a wrapped size would look like a valid small one.
#include "runtime/runner/memory_options.h"

#include "runtime/base/checked.h"
#include "runtime/base/log.h"
#include "runtime/runner/model_files.h"

#ifdef RUSHLIGHT_MEMORY_HEADER
#include <cstring>

#include RUSHLIGHT_MEMORY_HEADER
#endif

namespace rushlight {

namespace {

// Parses decimal numbers separated by commas, at most `capacity` of them.
Error read_numbers(const char* text, size_t* numbers, size_t capacity) {
  for (size_t i = 0;; ++i) {
    RL_CHECK(i < capacity && *text >= '0' && *text <= '9', Error::InvalidArgument,
             "memory: expected at most %lu numbers with commas between them, got '%s'", log_number(capacity),
             text);
    size_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
      RL_CHECK(
          checked_mul(value, 10u, &value) && checked_add(value, static_cast<size_t>(*text - '0'), &value),
          Error::InvalidArgument, "memory: a number is too large");
    }
    numbers[i] = value;
    if (*text == '\0') return Error::Ok;
    RL_CHECK(*text == ',', Error::InvalidArgument, "memory: expected a comma, got '%s'", text);
    ++text;
  }
}

Error read_option(int argc, char** argv, const char* name, size_t* numbers, size_t capacity = 1) {
  const char* text = argument(argc, argv, name);
  return text == nullptr ? Error::Ok : read_numbers(text, numbers, capacity);
}

}  // namespace

#ifdef RUSHLIGHT_MEMORY_HEADER

// Constants of the build: a board's image states its memory once, and needs no arguments.
Error apply_memory_constants(const char* method, MemoryOptions* options) {
  for (const rushlight_memory::MethodMemory& known : rushlight_memory::kMethods) {
    if (std::strcmp(known.method, method) != 0) continue;
    if (options->method_arena == MemoryOptions::kAsAsked) options->method_arena = known.arena;
    if (options->temporary == MemoryOptions::kAsAsked) options->temporary = known.temporary;
    for (size_t i = 0; i < known.planned_count && i < MemoryOptions::kMaxPlannedBuffers; ++i) {
      if (options->planned[i] == MemoryOptions::kAsAsked) options->planned[i] = known.planned[i];
    }
    return Error::Ok;
  }
  RL_CHECK(false, Error::InvalidArgument, "method %s: the runner has no constants for its memory", method);
}

#endif

Error read_memory_options(int argc, char** argv, MemoryOptions* options) {
  RL_TRY(read_option(argc, argv, "--method_arena_bytes", &options->method_arena));
  RL_TRY(read_option(argc, argv, "--temporary_bytes", &options->temporary));
  RL_TRY(read_option(argc, argv, "--backend_bytes", &options->backends));
  if constexpr (RUSHLIGHT_PREPARE_KERNELS != 0)
    RL_TRY(read_option(argc, argv, "--prepare", &options->prepare));
  if constexpr (RUSHLIGHT_LIMITS != 0) {
    RL_TRY(read_option(argc, argv, "--max_memory", &options->max_memory));
    RL_TRY(read_option(argc, argv, "--max_instructions", &options->max_instructions));
  }
  RL_TRY(read_option(argc, argv, "--planned_bytes", options->planned, MemoryOptions::kMaxPlannedBuffers));
  size_t banks[MemoryOptions::kMaxPlannedBuffers] = {};
  // Read as numbers first, because Bank has another size.
  RL_TRY(read_option(argc, argv, "--planned_banks", banks, MemoryOptions::kMaxPlannedBuffers));
  for (size_t i = 0; i < MemoryOptions::kMaxPlannedBuffers; ++i) {
    RL_CHECK(banks[i] <= 1, Error::InvalidArgument, "memory: expected bank 0 or 1, got %lu",
             log_number(banks[i]));
    options->banks[i] = static_cast<platform::Bank>(banks[i]);
  }
  return Error::Ok;
}

}  // namespace rushlight
