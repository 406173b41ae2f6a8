// SPDX-License-Identifier: BSD-3-Clause
// Claims memory in a fixed order: arena, scratch, planned buffers, outputs, larger scratch, prepared
// constants. Constants come last, because a method also executes without them. A claim that fails names its
// purpose.
#include "runtime/runner/loaded_method.h"

#include <new>

#include "runtime/base/checked.h"
#include "runtime/base/log.h"
#include "runtime/platform/platform.h"
#include "runtime/runner/claim.h"

namespace rushlight {

namespace {

// Error: MemoryAllocationFailed if `bytes` exceed the limit.
Error check_limit(const MemoryOptions& memory, uint64_t bytes) {
  RL_CHECK(bytes <= memory.max_memory, Error::MemoryAllocationFailed,
           "memory: expected at most %lu bytes, needs %lu", log_number(memory.max_memory), log_number(bytes));
  return Error::Ok;
}

// Bytes of memory.max_memory that `bytes` and the planned buffers leave. The sum saturates. Error:
// MemoryAllocationFailed.
Result<size_t> bytes_left(const MethodMeta& meta, const MemoryOptions& memory, uint64_t bytes) {
  for (size_t i = 0; i < meta.num_planned_buffers(); ++i) {
    RL_TRY_ASSIGN(size_t size, meta.planned_buffer_size(i));
    if (i < MemoryOptions::kMaxPlannedBuffers && memory.planned[i] != MemoryOptions::kAsAsked)
      size = memory.planned[i];
    if (!checked_add(bytes, size, &bytes)) bytes = UINT64_MAX;
  }
  RL_TRY(check_limit(memory, bytes));
  return static_cast<size_t>(memory.max_memory - bytes);
}

}  // namespace

Result<LoadedMethod*> LoadedMethod::load(const Program& program, const char* name, const RunOptions& options,
                                         Report* report) {
  // Loading is measured from here: claims, Method::load() and preparation.
  const uint64_t instructions = platform::instruction_count();
  const uint64_t start = platform::now_ns();
#ifdef RUSHLIGHT_MEMORY_HEADER
  MemoryOptions memory = options.memory;
  RL_TRY(apply_memory_constants(name, &memory));
#else
  const MemoryOptions& memory = options.memory;
#endif
  RL_TRY_ASSIGN(const MethodMeta meta, program.method_meta(name));
  RL_TRY_ASSIGN(size_t arena_bytes, meta.arena_bytes());
  if (meta.num_backends() > 0) arena_bytes += memory.backends;
  if (memory.method_arena != MemoryOptions::kAsAsked) arena_bytes = memory.method_arena;
  const size_t temporary_bytes =
      memory.temporary != MemoryOptions::kAsAsked ? memory.temporary : RUSHLIGHT_RUNNER_TEMPORARY_BYTES;
  size_t left = SIZE_MAX;
  // The limit is checked before the first claim, so a refused method takes no memory.
  if constexpr (RUSHLIGHT_LIMITS != 0) {
    if (memory.max_memory != MemoryOptions::kAsAsked) {
      RL_TRY_ASSIGN(left, bytes_left(meta, memory, uint64_t{arena_bytes} + temporary_bytes));
    }
  }
  RL_TRY_ASSIGN(const Span<uint8_t> own, claim(sizeof(LoadedMethod), "runner"));
  RL_TRY_ASSIGN(const Span<uint8_t> arena, claim(arena_bytes, "method arena"));
  RL_TRY_ASSIGN(const Span<uint8_t> temporary, claim(temporary_bytes, "temporary memory"));
  // The object is in claimed memory as well: small targets have no heap. Nothing destroys it.
  auto* loaded = new (own.data()) LoadedMethod(arena, temporary);
  loaded->left_ = left;
  RL_TRY(loaded->claim_planned(meta, memory, report));
  RL_TRY_ASSIGN(Method method, Method::load(program, name, loaded->memory_, operators_for(program), options));
  new (&loaded->method_storage_) Method(std::move(method));
  RL_TRY(loaded->claim_outputs());
  if constexpr (RUSHLIGHT_PREPARE_KERNELS != 0) RL_TRY(loaded->prepare(memory, report));
  report->method_arena_bytes = loaded->arena_.used();
  report->load_instructions = platform::instruction_count() - instructions;
  report->load_ns = platform::now_ns() - start;
  return loaded;
}

LoadedMethod::LoadedMethod(Span<uint8_t> arena, Span<uint8_t> temporary)
    : arena_(arena), temporary_(temporary) {
  memory_.method = &arena_;
  memory_.temporary = &temporary_;
}

Error LoadedMethod::claim_planned(const MethodMeta& meta, const MemoryOptions& memory, Report* report) {
  const size_t count = meta.num_planned_buffers();
  RL_CHECK(count <= MemoryOptions::kMaxPlannedBuffers, Error::NotSupported,
           "method %s: %lu planned buffers, at most %lu", meta.name(), log_number(count),
           log_number(MemoryOptions::kMaxPlannedBuffers));
  report->planned_bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    RL_TRY_ASSIGN(size_t size, meta.planned_buffer_size(i));
    if (memory.planned[i] != MemoryOptions::kAsAsked) size = memory.planned[i];
    RL_TRY_ASSIGN(planned_[i], claim(size, "planned buffer", memory.banks[i]));
    report->planned_bytes += size;
  }
  memory_.planned = {planned_, count};
  return Error::Ok;
}

// Scratch grows to the largest request, and constants are prepared if they fit in the limit.
Error LoadedMethod::prepare(const MemoryOptions& memory, Report* report) {
  Preparation needs;
  needs.most_prepared_bytes = left_;
  // Without limits the program is trusted: all that its kernels ask for is claimed.
  if constexpr (RUSHLIGHT_LIMITS != 0) {
    const uint64_t share = most_prepared_of(memory.file_bytes);
    if (share < left_) needs.most_prepared_bytes = static_cast<size_t>(share);
  }
  RL_TRY(method().measure(nullptr, &needs));
  report->scratch_bytes = needs.scratch_bytes;
  // The scratch that was claimed first stays unused, because memory is never returned.
  if (memory.temporary == MemoryOptions::kAsAsked && needs.scratch_bytes > temporary_.size()) {
    if constexpr (RUSHLIGHT_LIMITS != 0) {
      RL_TRY(check_limit(memory, uint64_t{memory.max_memory - left_} + needs.scratch_bytes));
      left_ -= needs.scratch_bytes;
    }
    RL_TRY_ASSIGN(const Span<uint8_t> scratch, claim(needs.scratch_bytes, "kernels' scratch"));
    temporary_ = Arena(scratch);
  }
  // Larger than what is left: scratch took it after the measurement.
  if (!memory.prepare || needs.prepared_bytes == 0 || needs.prepared_bytes > left_) return Error::Ok;
  RL_TRY_ASSIGN(const Span<uint8_t> prepared,
                claim(needs.prepared_bytes + needs.index_bytes, "prepared weights"));
  weights_.extend(prepared);
  report->prepared_bytes = prepared.size();
  left_ -= needs.prepared_bytes;
  return method().prepare(&weights_);
}

Error LoadedMethod::claim_outputs() {
  const size_t count = method().meta().num_outputs();
  for (size_t i = 0; i < count; ++i) {
    const EValue& value = method().output(i);
    if (!value.is_tensor() || value.to_tensor().const_data_ptr() != nullptr) continue;
    const TensorImpl* tensor = value.payload.as_tensor.impl();
    const size_t size = tensor->numel_bound() * element_size(tensor->scalar_type());
    if constexpr (RUSHLIGHT_LIMITS != 0) {
      RL_CHECK(size <= left_, Error::MemoryAllocationFailed,
               "memory: output %lu needs %lu bytes, %lu are left of --max_memory", log_number(i),
               log_number(size), log_number(left_));
      left_ -= size;
    }
    RL_TRY_ASSIGN(const Span<uint8_t> claimed, claim(size, "output"));
    RL_TRY(method().set_output_buffer(i, claimed));
  }
  return Error::Ok;
}

}  // namespace rushlight
