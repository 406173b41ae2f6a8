// SPDX-License-Identifier: BSD-3-Clause
// Records events and allocations in fixed buffers. The EXECUTORCH_ macros record if PROFILING_ENABLED is
// defined, and otherwise cost nothing.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ET_PROF_VER 0x00000001

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
#define PROF_NAME_MAX_LEN 32

namespace executorch::runtime {

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

struct alignas(8) mem_prof_event_t {
  uint32_t allocator_id;
  uint32_t allocation_size;
};

struct alignas(8) prof_allocator_t {
  char name[PROF_NAME_MAX_LEN];
  uint64_t allocator_id;
};

struct alignas(8) prof_result_t {
  uint8_t* prof_data;
  uint32_t num_bytes;
  uint32_t num_blocks;
};

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

struct prof_state_t {
  int32_t chain_idx;
  uint32_t instruction_idx;
};

// A block: its header, then arrays of events, allocators and allocations.
constexpr size_t prof_header_offset = 0;
constexpr size_t prof_events_offset = prof_header_offset + sizeof(prof_header_t);
constexpr size_t prof_mem_alloc_info_offset = prof_events_offset + MAX_PROFILE_EVENTS * sizeof(prof_event_t);
constexpr size_t prof_mem_alloc_events_offset =
    prof_mem_alloc_info_offset + MEM_PROFILE_MAX_ALLOCATORS * sizeof(prof_allocator_t);
constexpr uint32_t prof_buf_size =
    prof_mem_alloc_events_offset + MAX_MEM_PROFILE_EVENTS * sizeof(mem_prof_event_t);

void profiler_init(void);
uint32_t begin_profiling(const char* name);
void end_profiling(uint32_t token_id);
void dump_profile_stats(prof_result_t* prof_result);
void reset_profile_stats();
void track_allocation(int32_t id, uint32_t size);
uint32_t track_allocator(const char* name);
void profiling_create_block(const char* name);

const prof_state_t& get_profile_tls_state();
void set_profile_tls_state(const prof_state_t& state);

// An event that lasts until the end of the scope.
class ExecutorchProfiler {
 public:
  explicit ExecutorchProfiler(const char* name) : event_(begin_profiling(name)) {}
  ExecutorchProfiler(const ExecutorchProfiler&) = delete;
  ExecutorchProfiler& operator=(const ExecutorchProfiler&) = delete;
  ~ExecutorchProfiler() { end_profiling(event_); }

 private:
  const uint32_t event_;
};

// Events until the end of the scope belong to this instruction.
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

// With profiling each macro is a call; without, it accepts its arguments and does nothing.
#ifdef PROFILING_ENABLED
#define RUSHLIGHT_PROFILED(call, off) ::executorch::runtime::call
#else
#define RUSHLIGHT_PROFILED(call, off) off
#endif

#define EXECUTORCH_PROFILE_CREATE_BLOCK(name) \
  RUSHLIGHT_PROFILED(profiling_create_block(name), static_cast<void>(name));
#define EXECUTORCH_BEGIN_PROF(name) RUSHLIGHT_PROFILED(begin_profiling(name);, {})  // also an initialiser
#define EXECUTORCH_END_PROF(token_id) \
  RUSHLIGHT_PROFILED(end_profiling(token_id), static_cast<void>(token_id));
#define EXECUTORCH_DUMP_PROFILE_RESULTS(prof_result) \
  RUSHLIGHT_PROFILED(dump_profile_stats(prof_result), memset((prof_result), 0, sizeof(*(prof_result))));
#define EXECUTORCH_RESET_PROFILE_RESULTS() RUSHLIGHT_PROFILED(reset_profile_stats(), static_cast<void>(0));
#define EXECUTORCH_TRACK_ALLOCATOR(name) \
  RUSHLIGHT_PROFILED(track_allocator(name), (static_cast<void>(name), -1))
#define EXECUTORCH_TRACK_ALLOCATION(id, size) \
  RUSHLIGHT_PROFILED(track_allocation(id, size), (static_cast<void>(id), static_cast<void>(size)))

#define EXECUTORCH_SCOPE_PROF_CONCAT(a, b) EXECUTORCH_SCOPE_PROF_CONCAT_IMPL(a, b)
#define EXECUTORCH_SCOPE_PROF_CONCAT_IMPL(a, b) a##b
#define EXECUTORCH_SCOPE_PROF(name)                                                                        \
  RUSHLIGHT_PROFILED(ExecutorchProfiler EXECUTORCH_SCOPE_PROF_CONCAT(rushlight_profiled_, __LINE__)(name), \
                     static_cast<void>(name));
#define EXECUTORCH_PROFILE_INSTRUCTION_SCOPE(chain_idx, instruction_idx)                   \
  RUSHLIGHT_PROFILED(ExecutorchProfilerInstructionScope rushlight_profiled_instruction(    \
                         ::executorch::runtime::prof_state_t{chain_idx, instruction_idx}), \
                     (static_cast<void>(chain_idx), static_cast<void>(instruction_idx)));
