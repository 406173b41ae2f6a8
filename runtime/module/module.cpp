// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/module/module.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace rushlight {

namespace {

constexpr size_t kAlignment = 16;
// Scratch of one kernel call. Pages that no kernel touches cost nothing.
constexpr size_t kTemporaryBytes = size_t{16} << 20;

}  // namespace

void ModuleMethod::Free::operator()(uint8_t* memory) const { std::free(memory); }

Span<uint8_t> ModuleMethod::allocate(size_t size) {
  // calloc gives multiples of 16 on every 64-bit host and untouched pages for free; the padding makes
  // it hold on 32-bit ones.
  if (size > SIZE_MAX - kAlignment) return {};
  Memory memory(static_cast<uint8_t*>(std::calloc(size + kAlignment, 1)));
  if (memory == nullptr) return {};
  const auto base = reinterpret_cast<uintptr_t>(memory.get());
  uint8_t* aligned = memory.get() + (align_up(base, kAlignment) - base);
  memory_.push_back(std::move(memory));
  return {aligned, size};
}

Result<std::unique_ptr<ModuleMethod>> ModuleMethod::load(const Program& program, const char* name,
                                                         const OperatorTable& operators) {
  RL_TRY_ASSIGN(const MethodMeta meta, program.method_meta(name));
  RL_TRY_ASSIGN(const size_t arena_bytes, meta.arena_bytes());
  std::unique_ptr<ModuleMethod> loaded(new ModuleMethod());
  const Span<uint8_t> arena = loaded->allocate(arena_bytes);
  const Span<uint8_t> temporary = loaded->allocate(kTemporaryBytes);
  RL_CHECK(arena.data() != nullptr && temporary.data() != nullptr, Error::MemoryAllocationFailed,
           "method %s: no memory for %lu bytes of values", name, static_cast<unsigned long>(arena_bytes));
  loaded->arena_ = Arena(arena);
  loaded->temporary_ = Arena(temporary);
  for (size_t i = 0; i < meta.num_planned_buffers(); ++i) {
    RL_TRY_ASSIGN(const size_t size, meta.planned_buffer_size(i));
    loaded->planned_.push_back(loaded->allocate(size));
    RL_CHECK(loaded->planned_.back().data() != nullptr, Error::MemoryAllocationFailed,
             "planned buffer %lu: no memory for %lu bytes", static_cast<unsigned long>(i),
             static_cast<unsigned long>(size));
  }
  MemoryManager memory;
  memory.method = &loaded->arena_;
  memory.temporary = &loaded->temporary_;
  memory.planned = {loaded->planned_.data(), loaded->planned_.size()};
  RL_TRY_ASSIGN(Method method, Method::load(program, name, memory, operators));
  loaded->method_ = std::make_unique<Method>(std::move(method));

  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    const EValue& value = loaded->method_->output(i);
    if (!value.is_tensor() || value.to_tensor().const_data_ptr() != nullptr) continue;
    const TensorImpl* tensor = value.payload.as_tensor;
    const Span<uint8_t> buffer =
        loaded->allocate(tensor->numel_bound() * element_size(tensor->scalar_type()));
    RL_TRY(loaded->method_->set_output_buffer(i, buffer));
  }
  return loaded;
}

Result<std::unique_ptr<Module>> Module::load_file(const char* path, const OperatorTable& operators) {
  std::unique_ptr<Module> module(new Module(operators));
  RL_TRY_ASSIGN(FileDataLoader file, FileDataLoader::open(path));
  module->file_ = std::make_unique<FileDataLoader>(std::move(file));
  DataLoader& loader = *module->file_;
  return finish(std::move(module), loader);
}

Result<std::unique_ptr<Module>> Module::load_bytes(Span<const uint8_t> bytes,
                                                   const OperatorTable& operators) {
  std::unique_ptr<Module> module(new Module(operators));
  auto* copy = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, align_up(bytes.size() + 1, kAlignment)));
  RL_CHECK(copy != nullptr, Error::MemoryAllocationFailed, "program: no memory for %lu bytes",
           static_cast<unsigned long>(bytes.size()));
  module->bytes_ = FreeableBuffer(copy, bytes.size(), [](void*, void* data, size_t) { std::free(data); });
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  module->buffer_ = std::make_unique<BufferDataLoader>(copy, bytes.size());
  DataLoader& loader = *module->buffer_;
  return finish(std::move(module), loader);
}

Result<std::unique_ptr<Module>> Module::finish(std::unique_ptr<Module> module, DataLoader& loader) {
  RL_TRY_ASSIGN(Program program, Program::load(loader));
  module->program_ = std::make_unique<Program>(std::move(program));
  return module;
}

}  // namespace rushlight
