// SPDX-License-Identifier: BSD-3-Clause
// Records events and allocations in fixed buffers, without heap. The EXECUTORCH_ macros record if
// PROFILING_ENABLED is defined, and otherwise cost nothing. In the runtime only memory allocators record
// here: the times of a method's operators go to an EventTracer (core/event_tracer.h).
//
//   EXECUTORCH_PROFILE_CREATE_BLOCK("second run");
//   { EXECUTORCH_SCOPE_PROF("preprocessing"); preprocess(); }
//   prof_result_t result;
//   EXECUTORCH_DUMP_PROFILE_RESULTS(&result);    // result.prof_data, result.num_bytes
//
// The functions are not thread-safe: only the state of chain and instruction is per thread. A buffer that is
// full ends the process.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Version of the layout, in each block's header.
#define ET_PROF_VER 0x00000001

// Capacity of a block, and the number of blocks. They determine the layout, so the library and all code that
// reads its dumps must be compiled with the same values.
#ifndef MAX_PROFILE_EVENTS
#define MAX_PROFILE_EVENTS 1024
#endif
#ifndef MAX_MEM_PROFILE_EVENTS
#define MAX_MEM_PROFILE_EVENTS 1024
#endif
#ifndef MEM_PROFILE_MAX_ALLOCATORS
#define MEM_PROFILE_MAX_ALLOCATORS 32
#endif
#ifndef MAX_PROFILE_BLOCKS
#define MAX_PROFILE_BLOCKS 2
#endif
// Bytes of a name with its zero byte; longer names are cut.
#define PROF_NAME_MAX_LEN 32

namespace executorch::runtime {

// One event. While it is open, `name_str` points to the caller's name; its end replaces the pointer by the
// characters in `name`. Times are ticks; `end_time` is 0 while the event is open. The state of the thread at
// the start gives the chain and the instruction.
struct alignas(8) prof_event_t {
  union {
    const char* name_str;
    char name[PROF_NAME_MAX_LEN];
  };
  int32_t chain_idx;
  uint32_t instruction_idx;
  uint64_t start_time;
  uint64_t end_time;
};

// One allocation, in bytes.
struct alignas(8) mem_prof_event_t {
  uint32_t allocator_id;
  uint32_t allocation_size;
};

// An allocator's name. Its id is its index in the block.
struct alignas(8) prof_allocator_t {
  char name[PROF_NAME_MAX_LEN];
  uint64_t allocator_id;
};

// A view of all blocks: the memory belongs to the profiler and changes with further events.
struct alignas(8) prof_result_t {
  // The blocks one after another; valid as long as the process.
  uint8_t* prof_data;
  // Bytes of all blocks together: num_blocks * prof_buf_size.
  uint32_t num_bytes;
  uint32_t num_blocks;
};

// Head of a block: its name, the capacity of its arrays and the number of entries that are in use.
struct alignas(8) prof_header_t {
  char name[32];
  uint32_t prof_ver;
  uint32_t max_prof_entries;
  uint32_t prof_entries;
  uint32_t max_allocator_entries;
  uint32_t allocator_entries;
  uint32_t max_mem_prof_entries;
  uint32_t mem_prof_entries;
};

// The instruction that events belong to; chain -1 outside of any.
struct prof_state_t {
  int32_t chain_idx;
  uint32_t instruction_idx;
};

// Layout of a block, as byte offsets: its header, then the arrays of events, allocators and allocations at
// their full capacity. Block k starts at k * prof_buf_size.
//
//   header | events | allocators | allocations
constexpr size_t prof_header_offset = 0;
constexpr size_t prof_events_offset = prof_header_offset + sizeof(prof_header_t);
constexpr size_t prof_mem_alloc_info_offset = prof_events_offset + MAX_PROFILE_EVENTS * sizeof(prof_event_t);
constexpr size_t prof_mem_alloc_events_offset =
    prof_mem_alloc_info_offset + MEM_PROFILE_MAX_ALLOCATORS * sizeof(prof_allocator_t);
constexpr uint32_t prof_buf_size =
    prof_mem_alloc_events_offset + MAX_MEM_PROFILE_EVENTS * sizeof(mem_prof_event_t);

// Discards all blocks and begins one named "default". Optional: the first record does so, too.
void profiler_init(void);
// Opens an event in the last block and returns its index there. `name` must stay valid until end_profiling().
// Aborts after MAX_PROFILE_EVENTS events.
uint32_t begin_profiling(const char* name);
// Closes the event; `token_id` is begin_profiling()'s result. Aborts for an unknown one. Tokens of an earlier
// block are invalid: events do not span blocks.
void end_profiling(uint32_t token_id);
// Describes the blocks in `prof_result`, which must not be null. Copies nothing.
void dump_profile_stats(prof_result_t* prof_result);
// Empties the last block; blocks before it keep their entries.
void reset_profile_stats();
// Records `size` bytes of the allocator `id`; a negative id, an allocator without profiling, is ignored.
// Aborts after MAX_MEM_PROFILE_EVENTS entries.
void track_allocation(int32_t id, uint32_t size);
// Registers an allocator in the last block and returns its id. Aborts after MEM_PROFILE_MAX_ALLOCATORS.
uint32_t track_allocator(const char* name);
// Begins a block, in which later entries are recorded. A last block without events, allocators and
// allocations is renamed instead. Allocators keep their ids; their names stay in the block that they were
// registered in. Aborts after MAX_PROFILE_BLOCKS.
void profiling_create_block(const char* name);

// The instruction of this thread's later events.
const prof_state_t& get_profile_tls_state();
void set_profile_tls_state(const prof_state_t& state);

// An event that lasts until the end of the scope. `name` must outlive the object.
class ExecutorchProfiler {
 public:
  explicit ExecutorchProfiler(const char* name) : event_(begin_profiling(name)) {}
  ExecutorchProfiler(const ExecutorchProfiler&) = delete;
  ExecutorchProfiler& operator=(const ExecutorchProfiler&) = delete;
  ~ExecutorchProfiler() { end_profiling(event_); }

 private:
  const uint32_t event_;
};

// Events of this thread until the end of the scope belong to this instruction; then the outer one counts
// again.
class ExecutorchProfilerInstructionScope {
 public:
  explicit ExecutorchProfilerInstructionScope(const prof_state_t& state) { set_profile_tls_state(state); }
  ExecutorchProfilerInstructionScope(const ExecutorchProfilerInstructionScope&) = delete;
  ExecutorchProfilerInstructionScope& operator=(const ExecutorchProfilerInstructionScope&) = delete;
  ~ExecutorchProfilerInstructionScope() { set_profile_tls_state(outer_); }

 private:
  const prof_state_t outer_ = get_profile_tls_state();
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::begin_profiling;
using ::executorch::runtime::dump_profile_stats;
using ::executorch::runtime::end_profiling;
using ::executorch::runtime::ExecutorchProfiler;
using ::executorch::runtime::ExecutorchProfilerInstructionScope;
using ::executorch::runtime::get_profile_tls_state;
using ::executorch::runtime::mem_prof_event_t;
using ::executorch::runtime::prof_allocator_t;
using ::executorch::runtime::prof_buf_size;
using ::executorch::runtime::prof_event_t;
using ::executorch::runtime::prof_events_offset;
using ::executorch::runtime::prof_header_offset;
using ::executorch::runtime::prof_header_t;
using ::executorch::runtime::prof_mem_alloc_events_offset;
using ::executorch::runtime::prof_mem_alloc_info_offset;
using ::executorch::runtime::prof_result_t;
using ::executorch::runtime::prof_state_t;
using ::executorch::runtime::profiler_init;
using ::executorch::runtime::profiling_create_block;
using ::executorch::runtime::reset_profile_stats;
using ::executorch::runtime::set_profile_tls_state;
using ::executorch::runtime::track_allocation;
using ::executorch::runtime::track_allocator;
}  // namespace torch::executor

// With profiling each macro is a call; without, it is its `off` form, which casts the arguments to void so
// that they count as used. Several macros already end in a semicolon, as the official ones do, and cannot be
// part of an expression.
#ifdef PROFILING_ENABLED
#define RUSHLIGHT_PROFILED(call, off) ::executorch::runtime::call
#else
#define RUSHLIGHT_PROFILED(call, off) off
#endif

// As profiling_create_block().
#define EXECUTORCH_PROFILE_CREATE_BLOCK(name) \
  RUSHLIGHT_PROFILED(profiling_create_block(name), static_cast<void>(name));
// As begin_profiling(); an empty initialiser when off: const uint32_t token = EXECUTORCH_BEGIN_PROF("name")
#define EXECUTORCH_BEGIN_PROF(name) RUSHLIGHT_PROFILED(begin_profiling(name);, {})
// As end_profiling().
#define EXECUTORCH_END_PROF(token_id) \
  RUSHLIGHT_PROFILED(end_profiling(token_id), static_cast<void>(token_id));
// As dump_profile_stats(); when off, fills the result with zeros.
#define EXECUTORCH_DUMP_PROFILE_RESULTS(prof_result) \
  RUSHLIGHT_PROFILED(dump_profile_stats(prof_result), memset((prof_result), 0, sizeof(*(prof_result))));
// As reset_profile_stats().
#define EXECUTORCH_RESET_PROFILE_RESULTS() RUSHLIGHT_PROFILED(reset_profile_stats(), static_cast<void>(0));
// As track_allocator(); -1 when off, which track_allocation() ignores.
#define EXECUTORCH_TRACK_ALLOCATOR(name) \
  RUSHLIGHT_PROFILED(track_allocator(name), (static_cast<void>(name), -1))
// As track_allocation().
#define EXECUTORCH_TRACK_ALLOCATION(id, size) \
  RUSHLIGHT_PROFILED(track_allocation(id, size), (static_cast<void>(id), static_cast<void>(size)))

// EXECUTORCH_SCOPE_PROF(name) declares an ExecutorchProfiler for the rest of the scope, under a name with the
// line's number: one a line.
#define EXECUTORCH_SCOPE_PROF_CONCAT(a, b) EXECUTORCH_SCOPE_PROF_CONCAT_IMPL(a, b)
#define EXECUTORCH_SCOPE_PROF_CONCAT_IMPL(a, b) a##b
#define EXECUTORCH_SCOPE_PROF(name)                                                                        \
  RUSHLIGHT_PROFILED(ExecutorchProfiler EXECUTORCH_SCOPE_PROF_CONCAT(rushlight_profiled_, __LINE__)(name), \
                     static_cast<void>(name));
// Declares an ExecutorchProfilerInstructionScope for the rest of the scope: at most one a scope.
#define EXECUTORCH_PROFILE_INSTRUCTION_SCOPE(chain_idx, instruction_idx)                   \
  RUSHLIGHT_PROFILED(ExecutorchProfilerInstructionScope rushlight_profiled_instruction(    \
                         ::executorch::runtime::prof_state_t{chain_idx, instruction_idx}), \
                     (static_cast<void>(chain_idx), static_cast<void>(instruction_idx)));
