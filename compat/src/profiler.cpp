// SPDX-License-Identifier: BSD-3-Clause
// The profiler's buffers: MAX_PROFILE_BLOCKS blocks of equal layout; the last one is being written.
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/profiler.h>

namespace executorch::runtime {

namespace {

// Static memory: the official format is a dump of these bytes. 8 is the alignment of its 64-bit times.
alignas(8) uint8_t blocks[prof_buf_size * MAX_PROFILE_BLOCKS];
uint32_t block_count = 0;
thread_local prof_state_t state = {-1, 0};

// The block that is being written. Precondition: block_count > 0.
uint8_t* block() { return blocks + static_cast<size_t>(block_count - 1) * prof_buf_size; }
prof_header_t& header() { return *reinterpret_cast<prof_header_t*>(block() + prof_header_offset); }
prof_event_t* events() { return reinterpret_cast<prof_event_t*>(block() + prof_events_offset); }
prof_allocator_t* allocators() {
  return reinterpret_cast<prof_allocator_t*>(block() + prof_mem_alloc_info_offset);
}
mem_prof_event_t* allocations() {
  return reinterpret_cast<mem_prof_event_t*>(block() + prof_mem_alloc_events_offset);
}

// Cut to the field, and padded with zeros: no stale bytes in a dump.
void copy_name(char* target, const char* name) {
  strncpy(target, name, PROF_NAME_MAX_LEN - 1);
  target[PROF_NAME_MAX_LEN - 1] = '\0';
}

// Programs may profile without creating a block first.
void begin_first_block() {
  if (block_count == 0) profiling_create_block("default");
}

}  // namespace

void profiler_init() {
  block_count = 0;
  profiling_create_block("default");
}

void profiling_create_block(const char* name) {
  // An unused block takes the new name.
  const bool unused = block_count > 0 && header().prof_entries == 0 && header().allocator_entries == 0 &&
                      header().mem_prof_entries == 0;
  if (!unused) {
    ET_CHECK_MSG(block_count < MAX_PROFILE_BLOCKS, "profile blocks: expected at most %d", MAX_PROFILE_BLOCKS);
    ++block_count;
  }
  header() = {};
  copy_name(header().name, name);
  header().prof_ver = ET_PROF_VER;
  header().max_prof_entries = MAX_PROFILE_EVENTS;
  header().max_allocator_entries = MEM_PROFILE_MAX_ALLOCATORS;
  header().max_mem_prof_entries = MAX_MEM_PROFILE_EVENTS;
}

uint32_t begin_profiling(const char* name) {
  begin_first_block();
  ET_CHECK_MSG(header().prof_entries < MAX_PROFILE_EVENTS, "profile events: expected at most %d",
               MAX_PROFILE_EVENTS);
  const uint32_t token = header().prof_entries++;
  prof_event_t& event = events()[token];
  event.name_str = name;
  event.chain_idx = state.chain_idx;
  event.instruction_idx = state.instruction_idx;
  event.end_time = 0;
  // Last, so that the event excludes the time of recording it.
  event.start_time = pal_current_ticks();
  return token;
}

void end_profiling(uint32_t token_id) {
  ET_CHECK_MSG(block_count > 0 && token_id < header().prof_entries, "profile event %u: unknown",
               static_cast<unsigned>(token_id));
  prof_event_t& event = events()[token_id];
  event.end_time = pal_current_ticks();
  // Only the pointer is stored while the clock runs; a dump contains the characters.
  const char* name = event.name_str;
  copy_name(event.name, name);
}

void dump_profile_stats(prof_result_t* prof_result) {
  prof_result->prof_data = blocks;
  prof_result->num_bytes = block_count * prof_buf_size;
  prof_result->num_blocks = block_count;
}

// Empties the last block only; earlier ones stay in the dump.
void reset_profile_stats() {
  if (block_count == 0) return;
  header().prof_entries = 0;
  header().allocator_entries = 0;
  header().mem_prof_entries = 0;
}

void track_allocation(int32_t id, uint32_t size) {
  // An allocator that was never registered.
  if (id < 0) return;
  begin_first_block();
  ET_CHECK_MSG(header().mem_prof_entries < MAX_MEM_PROFILE_EVENTS, "allocations: expected at most %d",
               MAX_MEM_PROFILE_EVENTS);
  allocations()[header().mem_prof_entries++] = {static_cast<uint32_t>(id), size};
}

uint32_t track_allocator(const char* name) {
  begin_first_block();
  ET_CHECK_MSG(header().allocator_entries < MEM_PROFILE_MAX_ALLOCATORS, "allocators: expected at most %d",
               MEM_PROFILE_MAX_ALLOCATORS);
  const uint32_t id = header().allocator_entries++;
  copy_name(allocators()[id].name, name);
  allocators()[id].allocator_id = id;
  return id;
}

const prof_state_t& get_profile_tls_state() { return state; }

void set_profile_tls_state(const prof_state_t& new_state) { state = new_state; }

}  // namespace executorch::runtime
