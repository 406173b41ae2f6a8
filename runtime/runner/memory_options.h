// SPDX-License-Identifier: BSD-3-Clause
// Memory that a runner gives to methods: the sizes that each requests, unless an option overrides them.
//
//   --method_arena_bytes=N      method arena, instead of the exact size of the method's values
//   --planned_bytes=N,N,...     planned buffers, instead of the program's sizes; memory id 1 first
//   --planned_banks=0,1,...     1: the buffer is in the board's fast bank
//   --temporary_bytes=N         scratch of kernels
//   --prepare=0                 disables packing of constants, if the build supports it
//   --backend_bytes=N           extra bytes in the method arena for allocations of backends
//
// Limits on hosts (RUSHLIGHT_LIMITS), for programs of unknown origin:
//
//   --max_memory=N              refuses methods that need more; constants that exceed it stay unpacked
//   --max_instructions=N        instructions per execution
//
// With limits, packed constants also take at most most_prepared_of() of the files' size.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/platform/platform.h"

namespace rushlight {

#ifndef RUSHLIGHT_LIMITS
#define RUSHLIGHT_LIMITS 1
#endif
#ifndef RUSHLIGHT_RUNNER_TEMPORARY_BYTES
#define RUSHLIGHT_RUNNER_TEMPORARY_BYTES 16384
#endif
#ifndef RUSHLIGHT_RUNNER_BACKEND_BYTES
#define RUSHLIGHT_RUNNER_BACKEND_BYTES 65536
#endif

// The parsed options. kAsAsked means no override.
struct MemoryOptions {
  static constexpr size_t kMaxPlannedBuffers = 16;
  static constexpr size_t kAsAsked = SIZE_MAX;

  size_t method_arena = kAsAsked;
  size_t temporary = kAsAsked;  // RUSHLIGHT_RUNNER_TEMPORARY_BYTES
  size_t backends = RUSHLIGHT_RUNNER_BACKEND_BYTES;
  size_t prepare = 1;
  size_t max_memory = kAsAsked;        // no limit
  size_t max_instructions = 0;         // no limit
  uint64_t file_bytes = 0;             // size of the program and its data files; bounds packed constants
  size_t planned[kMaxPlannedBuffers];  // kAsAsked without an override
  platform::Bank banks[kMaxPlannedBuffers] = {};

  MemoryOptions() {
    for (size_t& size : planned) size = kAsAsked;
  }
};

// Applies the sizes that the runner was built with (RUSHLIGHT_MEMORY_HEADER, written by `rushlight size
// --header`) to `method`; options of the command line take precedence. Error: InvalidArgument (unknown
// method).
Error apply_memory_constants(const char* method, MemoryOptions* options);

// Parses the options. Error: InvalidArgument (not a number, or too many numbers).
Error read_memory_options(int argc, char** argv, MemoryOptions* options);

}  // namespace rushlight
