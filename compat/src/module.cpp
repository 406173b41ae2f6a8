// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/named_data_map/merged_data_map.h>
#include <executorch/runtime/platform/runtime.h>

#include "runtime/base/checked.h"

namespace executorch::extension::ET_MODULE_NAMESPACE {

using runtime::DataLoader;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;

namespace {

constexpr size_t kPlannedAlignment = 16;

std::unique_ptr<runtime::MemoryAllocator> or_malloc(std::unique_ptr<runtime::MemoryAllocator> allocator) {
  if (allocator != nullptr) return allocator;
  return std::make_unique<MallocMemoryAllocator>();
}

// `size` bytes of a buffer that is long enough to align them.
Span<uint8_t> aligned_part(std::vector<uint8_t>& buffer, size_t size) {
  const auto address = reinterpret_cast<uintptr_t>(buffer.data());
  return {buffer.data() + (rushlight::align_up(address, kPlannedAlignment) - address), size};
}

template <class Loader>
Result<std::unique_ptr<DataLoader>> on_heap(Result<Loader> loader) {
  if (!loader.ok()) return loader.error();
  return std::unique_ptr<DataLoader>(std::make_unique<Loader>(std::move(*loader)));
}

}  // namespace

Module::Module(const std::string& file_path, const LoadMode load_mode,
               std::unique_ptr<runtime::EventTracer> event_tracer,
               std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
               std::unique_ptr<runtime::MemoryAllocator> temp_allocator, bool share_memory_arenas)
    : Module(file_path, std::vector<std::string>(), load_mode, std::move(event_tracer),
             std::move(memory_allocator), std::move(temp_allocator), share_memory_arenas) {}

Module::Module(const std::string& file_path, const std::string& data_map_path, const LoadMode load_mode,
               std::unique_ptr<runtime::EventTracer> event_tracer,
               std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
               std::unique_ptr<runtime::MemoryAllocator> temp_allocator, bool share_memory_arenas)
    : Module(file_path,
             data_map_path.empty() ? std::vector<std::string>() : std::vector<std::string>{data_map_path},
             load_mode, std::move(event_tracer), std::move(memory_allocator), std::move(temp_allocator),
             share_memory_arenas) {}

Module::Module(const std::string& file_path, std::vector<std::string> data_files, const LoadMode load_mode,
               std::unique_ptr<runtime::EventTracer> event_tracer,
               std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
               std::unique_ptr<runtime::MemoryAllocator> temp_allocator, bool share_memory_arenas)
    : file_path_(file_path),
      data_files_(std::move(data_files)),
      load_mode_(load_mode),
      memory_allocator_(or_malloc(std::move(memory_allocator))),
      temp_allocator_(or_malloc(std::move(temp_allocator))),
      event_tracer_(std::move(event_tracer)),
      share_memory_arenas_(share_memory_arenas) {
  runtime::runtime_init();
}

Module::Module(std::unique_ptr<DataLoader> data_loader,
               std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
               std::unique_ptr<runtime::MemoryAllocator> temp_allocator,
               std::unique_ptr<runtime::EventTracer> event_tracer,
               std::unique_ptr<DataLoader> data_map_loader, bool share_memory_arenas)
    : data_loader_(std::move(data_loader)),
      memory_allocator_(or_malloc(std::move(memory_allocator))),
      temp_allocator_(or_malloc(std::move(temp_allocator))),
      event_tracer_(std::move(event_tracer)),
      share_memory_arenas_(share_memory_arenas) {
  if (data_map_loader != nullptr) data_map_loaders_.push_back(std::move(data_map_loader));
  runtime::runtime_init();
}

Module::Module(std::shared_ptr<Program> program, std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
               std::unique_ptr<runtime::MemoryAllocator> temp_allocator,
               std::unique_ptr<runtime::EventTracer> event_tracer,
               std::unique_ptr<DataLoader> data_map_loader, bool share_memory_arenas)
    : Module(std::unique_ptr<DataLoader>(), std::move(memory_allocator), std::move(temp_allocator),
             std::move(event_tracer), std::move(data_map_loader), share_memory_arenas) {
  program_ = std::move(program);
}

Result<std::unique_ptr<DataLoader>> Module::open(const std::string& path) const {
  using Mlock = MmapDataLoader::MlockConfig;
  switch (load_mode_) {
    case LoadMode::File:
      return on_heap(FileDataLoader::from(path.c_str()));
    case LoadMode::Mmap:
      return on_heap(MmapDataLoader::from(path.c_str(), Mlock::NoMlock));
    case LoadMode::MmapUseMlock:
      return on_heap(MmapDataLoader::from(path.c_str(), Mlock::UseMlock));
    case LoadMode::MmapUseMlockIgnoreErrors:
      return on_heap(MmapDataLoader::from(path.c_str(), Mlock::UseMlockIgnoreErrors));
    case LoadMode::MmapUseMadvise:
      return on_heap(MmapDataLoader::from(path.c_str(), Mlock::UseMadvise));
  }
  return Error::InvalidArgument;
}

Error Module::load_data_maps() {
  for (const std::string& path : data_files_) {
    auto loader = open(path);
    if (!loader.ok()) return loader.error();
    data_map_loaders_.push_back(std::move(*loader));
  }
  data_files_.clear();
  std::vector<const NamedDataMap*> maps;
  for (const auto& loader : data_map_loaders_) {
    auto map = FlatTensorDataMap::load(loader.get());
    if (!map.ok()) return map.error();
    named_data_maps_.push_back(std::make_unique<FlatTensorDataMap>(std::move(*map)));
    maps.push_back(named_data_maps_.back().get());
  }
  if (maps.empty()) return Error::Ok;
  using merged_data_map::MergedDataMap;
  auto merged = MergedDataMap::load({maps.data(), maps.size()});
  if (!merged.ok()) return merged.error();
  merged_data_map_ = std::make_unique<MergedDataMap>(std::move(*merged));
  return Error::Ok;
}

Error Module::load_program(Program::Verification verification) {
  const bool maps_are_open = merged_data_map_ != nullptr;
  if (!maps_are_open) {
    named_data_maps_.clear();  // of a load that failed
    ET_CHECK_OK_OR_RETURN_ERROR(load_data_maps());
  }
  if (program_ != nullptr) return Error::Ok;
  if (data_loader_ == nullptr) {
    auto loader = open(file_path_);
    if (!loader.ok()) return loader.error();
    data_loader_ = std::move(*loader);
  }
  auto program = Program::load(data_loader_.get(), verification);
  if (!program.ok()) return program.error();
  program_ = std::make_shared<Program>(std::move(*program));
  return Error::Ok;
}

Error Module::load(const Program::Verification verification) { return load_program(verification); }

Error Module::load(const LoadBackendOptionsMap& backend_options, const Program::Verification verification) {
  backend_options_storage_.clear();
  backend_options_map_ = LoadBackendOptionsMap();
  for (size_t i = 0; i < backend_options.size(); ++i) {
    const auto entry = backend_options.entry_at(i);
    auto& copy = backend_options_storage_.emplace_back(entry.options.begin(), entry.options.end());
    ET_CHECK_OK_OR_RETURN_ERROR(
        backend_options_map_.set_options(entry.backend_id, {copy.data(), copy.size()}));
  }
  return load_program(verification);
}

Result<size_t> Module::num_methods() {
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  return program_->num_methods();
}

Result<std::unordered_set<std::string>> Module::method_names() {
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  std::unordered_set<std::string> names;
  for (size_t i = 0; i < program_->num_methods(); ++i) names.emplace(program_->get_method_name(i).get());
  return names;
}

Result<MethodMeta> Module::method_meta(const std::string& method_name) {
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  return program_->method_meta(method_name.c_str());
}

Result<std::unique_ptr<Module::PlannedMemory>> Module::plan(const std::string& method_name) {
  auto meta = program_->method_meta(method_name.c_str());
  if (!meta.ok()) return meta.error();
  auto planned = std::make_unique<PlannedMemory>();
  const size_t count = meta->num_memory_planned_buffers();
  std::vector<size_t> sizes(count);
  for (size_t i = 0; i < count; ++i) {
    auto size = meta->memory_planned_buffer_size(i);
    if (!size.ok()) return size.error();
    sizes[i] = static_cast<size_t>(*size);
  }
  auto& buffers = share_memory_arenas_ ? shared_arenas_ : planned->buffers;
  if (buffers.empty() || !share_memory_arenas_) {
    // Shared ones are made once, as large as the largest method needs them.
    std::vector<size_t> needed = sizes;
    for (size_t m = 0; share_memory_arenas_ && m < program_->num_methods(); ++m) {
      auto other = program_->method_meta(program_->get_method_name(m).get());
      if (!other.ok()) return other.error();
      needed.resize(std::max(needed.size(), other->num_memory_planned_buffers()));
      for (size_t i = 0; i < other->num_memory_planned_buffers(); ++i) {
        auto size = other->memory_planned_buffer_size(i);
        if (!size.ok()) return size.error();
        needed[i] = std::max(needed[i], static_cast<size_t>(*size));
      }
    }
    for (const size_t size : needed) buffers.emplace_back(size + kPlannedAlignment);
  }
  for (size_t i = 0; i < count; ++i) planned->spans.push_back(aligned_part(buffers[i], sizes[i]));
  planned->allocator = std::make_unique<runtime::HierarchicalAllocator>(
      Span<Span<uint8_t>>(planned->spans.data(), planned->spans.size()));
  return planned;
}

Error Module::load_method(const std::string& method_name, runtime::HierarchicalAllocator* planned_memory,
                          torch::executor::EventTracer* event_tracer,
                          const LoadBackendOptionsMap* backend_options, std::vector<Kernel> kernel_registry) {
  if (is_method_loaded(method_name)) return Error::Ok;
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  MethodHolder holder;
  holder.kernel_registry = std::move(kernel_registry);
  if (planned_memory == nullptr) {
    auto planned = plan(method_name);
    if (!planned.ok()) return planned.error();
    holder.planned_memory = std::move(*planned);
    planned_memory = holder.planned_memory->allocator.get();
  }
  holder.memory_manager = std::make_unique<runtime::MemoryManager>(memory_allocator_.get(), planned_memory,
                                                                   temp_allocator_.get());
  auto method = program_->load_method(method_name.c_str(), holder.memory_manager.get(),
                                      event_tracer != nullptr ? event_tracer : event_tracer_.get(),
                                      merged_data_map_.get(),
                                      backend_options != nullptr ? backend_options : &backend_options_map_,
                                      {holder.kernel_registry.data(), holder.kernel_registry.size()});
  if (!method.ok()) return method.error();
  holder.method = std::make_unique<Method>(std::move(*method));
  methods_.emplace(method_name, std::move(holder));
  return Error::Ok;
}

Result<Method*> Module::loaded(const std::string& method_name) {
  ET_CHECK_OK_OR_RETURN_ERROR(load_method(method_name));
  return methods_.at(method_name).method.get();
}

Result<Method*> Module::method(const std::string& method_name) { return loaded(method_name); }

Result<std::vector<EValue>> Module::execute(const std::string& method_name,
                                            const std::vector<EValue>& input_values) {
  auto method = loaded(method_name);
  if (!method.ok()) return method.error();
  for (size_t i = 0; i < input_values.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR((*method)->set_input(input_values[i], i));
  }
  ET_CHECK_OK_OR_RETURN_ERROR((*method)->execute());
  return get_outputs(method_name);
}

Error Module::set_input(const std::string& method_name, const EValue& input_value, size_t input_index) {
  auto method = loaded(method_name);
  return method.ok() ? (*method)->set_input(input_value, input_index) : method.error();
}

Error Module::set_inputs(const std::string& method_name, const std::vector<EValue>& input_values) {
  auto method = loaded(method_name);
  return method.ok() ? (*method)->set_inputs({input_values.data(), input_values.size()}) : method.error();
}

Error Module::set_output(const std::string& method_name, EValue output_value, size_t output_index) {
  auto method = loaded(method_name);
  if (!method.ok()) return method.error();
  ET_CHECK_OR_RETURN_ERROR(output_value.isTensor(), InvalidArgument, "output %zu: no tensor was given",
                           output_index);
  const auto& tensor = output_value.toTensor();
  return (*method)->set_output_data_ptr(tensor.mutable_data_ptr(), tensor.nbytes(), output_index);
}

Error Module::set_outputs(const std::string& method_name, const std::vector<EValue>& output_values) {
  auto method = loaded(method_name);
  if (!method.ok()) return method.error();
  ET_CHECK_OR_RETURN_ERROR(output_values.size() == (*method)->outputs_size(), InvalidArgument,
                           "%zu outputs, the method gives %zu", output_values.size(),
                           (*method)->outputs_size());
  for (size_t i = 0; i < output_values.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(set_output(method_name, output_values[i], i));
  }
  return Error::Ok;
}

Result<std::vector<EValue>> Module::get_outputs(const std::string& method_name) {
  auto method = loaded(method_name);
  if (!method.ok()) return method.error();
  std::vector<EValue> outputs((*method)->outputs_size());
  ET_CHECK_OK_OR_RETURN_ERROR((*method)->get_outputs(outputs.data(), outputs.size()));
  return outputs;
}

Result<EValue> Module::get_output(const std::string& method_name, size_t output_index) {
  auto method = loaded(method_name);
  if (!method.ok()) return method.error();
  ET_CHECK_OR_RETURN_ERROR(output_index < (*method)->outputs_size(), InvalidArgument, "output %zu of %zu",
                           output_index, (*method)->outputs_size());
  return (*method)->get_output(output_index);
}

}  // namespace executorch::extension::ET_MODULE_NAMESPACE
