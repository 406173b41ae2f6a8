// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/runner/loaded_method.h"

#include <new>

#include "runtime/base/log.h"
#include "runtime/platform/platform.h"

namespace rushlight {

namespace {

// Scratch for kernels that ask for it; on hosts the kernel gives pages only when they are touched.
#ifndef RUSHLIGHT_RUNNER_TEMPORARY_BYTES
#define RUSHLIGHT_RUNNER_TEMPORARY_BYTES 16384
#endif

}  // namespace

Result<LoadedMethod*> LoadedMethod::load(const Program& program, const char* name,
                                         const MethodOptions& options, Report* report) {
  const uint64_t instructions = platform::instruction_count();
  const uint64_t start = platform::now_ns();
  RL_TRY_ASSIGN(const MethodMeta meta, program.method_meta(name));
  RL_TRY_ASSIGN(const size_t arena_bytes, meta.arena_bytes());
  const Span<uint8_t> own = platform::claim_memory(sizeof(LoadedMethod));
  const Span<uint8_t> arena = platform::claim_memory(arena_bytes);
  RL_CHECK(!own.empty() && arena.size() == arena_bytes, Error::MemoryAllocationFailed,
           "method %s: no memory for %lu bytes of values", name, static_cast<unsigned long>(arena_bytes));
  auto* loaded = new (own.data()) LoadedMethod(arena);
  RL_TRY(loaded->claim_planned(meta, report));
  RL_TRY_ASSIGN(Method method, Method::load(program, name, loaded->memory_, selected_operators, options));
  new (&loaded->method_storage_) Method(std::move(method));
  RL_TRY(loaded->claim_outputs());
  report->method_arena_bytes = loaded->arena_.used();
  report->load_instructions = platform::instruction_count() - instructions;
  report->load_ns = platform::now_ns() - start;
  return loaded;
}

LoadedMethod::LoadedMethod(Span<uint8_t> arena)
    : arena_(arena), temporary_(platform::claim_memory(RUSHLIGHT_RUNNER_TEMPORARY_BYTES)) {
  memory_.method = &arena_;
  memory_.temporary = &temporary_;
}

Error LoadedMethod::claim_planned(const MethodMeta& meta, Report* report) {
  const size_t count = meta.num_planned_buffers();
  RL_CHECK(count <= kMaxPlannedBuffers, Error::NotSupported, "method %s: %lu planned buffers, at most %lu",
           meta.name(), static_cast<unsigned long>(count), static_cast<unsigned long>(kMaxPlannedBuffers));
  report->planned_bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    RL_TRY_ASSIGN(const size_t size, meta.planned_buffer_size(i));
    planned_[i] = platform::claim_memory(size);
    RL_CHECK(planned_[i].size() == size, Error::MemoryAllocationFailed,
             "planned buffer %lu: no memory for %lu bytes", static_cast<unsigned long>(i),
             static_cast<unsigned long>(size));
    report->planned_bytes += size;
  }
  memory_.planned = {planned_, count};
  return Error::Ok;
}

Error LoadedMethod::claim_outputs() {
  const size_t count = method().meta().num_outputs();
  for (size_t i = 0; i < count; ++i) {
    const EValue& value = method().output(i);
    if (!value.is_tensor() || value.to_tensor().const_data_ptr() != nullptr) continue;
    const TensorImpl* tensor = value.payload.as_tensor;
    const size_t size = tensor->numel_bound() * element_size(tensor->scalar_type());
    RL_TRY(method().set_output_buffer(i, platform::claim_memory(size)));
  }
  return Error::Ok;
}

}  // namespace rushlight
