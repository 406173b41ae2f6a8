// SPDX-License-Identifier: BSD-3-Clause
// The memory that a runner gives to methods: what each asks for, unless the command line says otherwise.
//
//   --method_arena_bytes=N      instead of exactly what the method's values take
//   --planned_bytes=N,N,...     instead of what the program says, memory id 1 first
//   --planned_banks=0,1,...     1: the buffer lies in the board's fast bank
//   --temporary_bytes=N         scratch of kernels
//   --prepare=0                 kernels pack no constants, where the build has them do so
//   --backend_bytes=N           more in the method arena, for what backends allocate
//
// And on hosts (RUSHLIGHT_LIMITS), for programs of unknown origin:
//
//   --max_memory=N              a method that takes more is refused; constants that do not fit are not packed
//   --max_instructions=N        that one execution may run
//
// There packed constants also take no more than most_prepared_of() the files' bytes.
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

struct MemoryOptions {
  static constexpr size_t kMaxPlannedBuffers = 16;
  static constexpr size_t kAsAsked = SIZE_MAX;

  size_t method_arena = kAsAsked;
  size_t temporary = kAsAsked;  // RUSHLIGHT_RUNNER_TEMPORARY_BYTES
  size_t backends = RUSHLIGHT_RUNNER_BACKEND_BYTES;
  size_t prepare = 1;
  size_t max_memory = kAsAsked;        // no limit
  size_t max_instructions = 0;         // no limit
  uint64_t file_bytes = 0;             // of the program and its data files, which bound what is packed
  size_t planned[kMaxPlannedBuffers];  // kAsAsked where nothing was said
  platform::Bank banks[kMaxPlannedBuffers] = {};

  MemoryOptions() {
    for (size_t& size : planned) size = kAsAsked;
  }
};

// Where the runner is built with constants for its memory (RUSHLIGHT_MEMORY_HEADER, which `rushlight size
// --header` writes), they are what `method` gets, unless the command line says otherwise. Error:
// InvalidArgument for a method that they do not know.
Error apply_memory_constants(const char* method, MemoryOptions* options);

// Error: InvalidArgument for what is no number, or too many of them.
Error read_memory_options(int argc, char** argv, MemoryOptions* options);

}  // namespace rushlight
