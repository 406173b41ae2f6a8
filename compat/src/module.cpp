// SPDX-License-Identifier: BSD-3-Clause
// Module on top of Program and Method: owns everything that those refer to. Each public function first loads
// what it needs. Loading is idempotent, so a failed call can be repeated, and no function depends on the
// calls before it.
#include <algorithm>
#include <cstdlib>
#include <optional>

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

// The runtime refuses planned buffers with less alignment. Buffers are allocated this much longer, because a
// vector of bytes need not be aligned to more than a byte.
constexpr size_t kPlannedAlignment = 16;
const char* const kForward = "forward";

// The given allocator, or one over malloc.
std::unique_ptr<runtime::MemoryAllocator> or_malloc(std::unique_ptr<runtime::MemoryAllocator> allocator) {
  if (allocator != nullptr) return allocator;
  return std::make_unique<MallocMemoryAllocator>();
}

struct Free {
  void operator()(uint8_t* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<uint8_t, Free>;

// Appends a buffer of zeros with `size` aligned bytes. MethodMeta limits sizes to half of the address space,
// so the sum fits.
Error add_buffer(std::vector<Buffer>& buffers, size_t size) {
  Buffer buffer(static_cast<uint8_t*>(std::calloc(size + kPlannedAlignment, 1)));
  ET_CHECK_OR_RETURN_ERROR(buffer != nullptr, MemoryAllocationFailed,
                           "planned buffer %zu: out of memory: need %zu bytes", buffers.size(), size);
  buffers.push_back(std::move(buffer));
  return Error::Ok;
}

// `size` aligned bytes of a buffer that is large enough.
Span<uint8_t> aligned_part(const Buffer& buffer, size_t size) {
  const auto address = reinterpret_cast<uintptr_t>(buffer.get());
  return {buffer.get() + (rushlight::align_up(address, kPlannedAlignment) - address), size};
}

// Loaders are created by value; a module keeps them under their interface.
template <class Loader>
Result<std::unique_ptr<DataLoader>> on_heap(Result<Loader> loader) {
  if (!loader.ok()) return loader.error();
  return std::unique_ptr<DataLoader>(std::make_unique<Loader>(std::move(*loader)));
}

Result<EValue> first_of(Result<std::vector<EValue>> outputs) {
  if (!outputs.ok()) return outputs.error();
  ET_CHECK_OR_RETURN_ERROR(!outputs->empty(), InvalidArgument, "the method has no outputs");
  return outputs->front();
}

}  // namespace

// The planned buffers of a method, as spans of separate memory or of memory that all methods share.
struct Module::PlannedMemory {
  std::vector<Buffer> own;
  std::vector<Span<uint8_t>> spans;
  std::unique_ptr<runtime::HierarchicalAllocator> allocator;
};

// The sources of a module, the files that it has opened, and memory that its methods share. Members are
// declared in dependency order: maps read from loaders, the program from both.
struct Module::State {
  LoadMode mode = LoadMode::File;
  bool shares_arenas = false;
  std::string path;
  std::vector<std::string> data_paths;

  std::unique_ptr<runtime::MemoryAllocator> method_memory;
  std::unique_ptr<runtime::MemoryAllocator> scratch_memory;
  std::unique_ptr<runtime::EventTracer> tracer;

  std::unique_ptr<DataLoader> program_loader;
  std::vector<std::unique_ptr<DataLoader>> data_loaders;
  std::vector<const MmapDataLoader*> mapped;  // the mapped ones of these loaders
  std::vector<FlatTensorDataMap> data_maps;
  std::optional<ET_MERGED_DATA_MAP_NAMESPACE::MergedDataMap> data;
  std::shared_ptr<Program> program;

  // Copies of the caller's options, to which `options` refers.
  std::vector<std::vector<runtime::BackendOption>> option_lists;
  LoadBackendOptionsMap options;

  // Shared planned buffers, in the order of memory ids; empty until the first method is loaded.
  std::vector<Buffer> arenas;

  static std::unique_ptr<State> make(std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
                                     std::unique_ptr<runtime::MemoryAllocator> temp_allocator,
                                     std::unique_ptr<runtime::EventTracer> event_tracer,
                                     bool share_memory_arenas) {
    runtime::runtime_init();
    auto state = std::make_unique<State>();
    state->method_memory = or_malloc(std::move(memory_allocator));
    state->scratch_memory = or_malloc(std::move(temp_allocator));
    state->tracer = std::move(event_tracer);
    state->shares_arenas = share_memory_arenas;
    return state;
  }

  Result<std::unique_ptr<DataLoader>> open(const std::string& file);
  // Checks that no mapped file changed since it was opened. Error: AccessFailed.
  Error check_mapped() const;
  Error open_data();
  Result<std::vector<size_t>> needed_by(const std::string& method_name) const;
  Error make_arenas();
};

Module::Module(const std::string& file_path, std::vector<std::string> data_files, const LoadMode load_mode,
               std::unique_ptr<runtime::EventTracer> event_tracer,
               std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
               std::unique_ptr<runtime::MemoryAllocator> temp_allocator, bool share_memory_arenas)
    : state_(State::make(std::move(memory_allocator), std::move(temp_allocator), std::move(event_tracer),
                         share_memory_arenas)) {
  state_->mode = load_mode;
  state_->path = file_path;
  state_->data_paths = std::move(data_files);
}

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

Module::Module(std::unique_ptr<DataLoader> data_loader,
               std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
               std::unique_ptr<runtime::MemoryAllocator> temp_allocator,
               std::unique_ptr<runtime::EventTracer> event_tracer,
               std::unique_ptr<DataLoader> data_map_loader, bool share_memory_arenas)
    : state_(State::make(std::move(memory_allocator), std::move(temp_allocator), std::move(event_tracer),
                         share_memory_arenas)) {
  state_->program_loader = std::move(data_loader);
  if (data_map_loader != nullptr) state_->data_loaders.push_back(std::move(data_map_loader));
}

Module::Module(std::shared_ptr<Program> program, std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
               std::unique_ptr<runtime::MemoryAllocator> temp_allocator,
               std::unique_ptr<runtime::EventTracer> event_tracer,
               std::unique_ptr<DataLoader> data_map_loader, bool share_memory_arenas)
    : state_(State::make(std::move(memory_allocator), std::move(temp_allocator), std::move(event_tracer),
                         share_memory_arenas)) {
  state_->program = std::move(program);
  if (data_map_loader != nullptr) state_->data_loaders.push_back(std::move(data_map_loader));
}

// Methods refer to the program and its arenas, so they are destroyed first.
Module::~Module() { methods_.clear(); }

Result<std::unique_ptr<DataLoader>> Module::State::open(const std::string& file) {
  using Mlock = MmapDataLoader::MlockConfig;
  // MmapDataLoader locks by default, so each mode names its configuration.
  Mlock config = Mlock::NoMlock;
  switch (mode) {
    case LoadMode::File:
      return on_heap(FileDataLoader::from(file.c_str()));
    case LoadMode::Mmap:
      break;
    case LoadMode::MmapUseMlock:
      config = Mlock::UseMlock;
      break;
    case LoadMode::MmapUseMlockIgnoreErrors:
      config = Mlock::UseMlockIgnoreErrors;
      break;
    case LoadMode::MmapUseMadvise:
      config = Mlock::UseMadvise;
      break;
  }
  auto loader = MmapDataLoader::from(file.c_str(), config);
  if (!loader.ok()) return loader.error();
  auto opened = std::make_unique<MmapDataLoader>(std::move(*loader));
  // Remembers the loader, which `program_loader` or `data_loaders` will own, for check_mapped().
  mapped.push_back(opened.get());
  return std::unique_ptr<DataLoader>(std::move(opened));
}

Error Module::State::check_mapped() const {
  for (const MmapDataLoader* file : mapped) ET_CHECK_OK_OR_RETURN_ERROR(file->check());
  return Error::Ok;
}

// Merges all data files to one map. A failed attempt leaves no partial state.
Error Module::State::open_data() {
  if (data.has_value()) return Error::Ok;
  // A path leaves the list once its file is open, so a second attempt opens only the others.
  for (; !data_paths.empty(); data_paths.erase(data_paths.begin())) {
    auto loader = open(data_paths.front());
    if (!loader.ok()) return loader.error();
    data_loaders.push_back(std::move(*loader));
  }
  if (data_loaders.empty()) return Error::Ok;
  // The merged map keeps pointers to the maps: the vector must not grow later.
  data_maps.clear();
  data_maps.reserve(data_loaders.size());
  std::vector<const NamedDataMap*> maps;
  for (const auto& loader : data_loaders) {
    auto map = FlatTensorDataMap::load(loader.get());
    if (!map.ok()) return map.error();
    maps.push_back(&data_maps.emplace_back(std::move(*map)));
  }
  auto merged = ET_MERGED_DATA_MAP_NAMESPACE::MergedDataMap::load({maps.data(), maps.size()});
  if (!merged.ok()) return merged.error();
  data.emplace(std::move(*merged));
  return Error::Ok;
}

Error Module::open_program(Program::Verification verification) {
  ET_CHECK_OK_OR_RETURN_ERROR(state_->open_data());
  if (is_loaded()) return Error::Ok;
  if (state_->program_loader == nullptr) {
    auto loader = state_->open(state_->path);
    if (!loader.ok()) return loader.error();
    state_->program_loader = std::move(*loader);
  }
  // If this fails, the loader stays for the next attempt.
  auto program = Program::load(state_->program_loader.get(), verification);
  if (!program.ok()) return program.error();
  state_->program = std::make_shared<Program>(std::move(*program));
  return Error::Ok;
}

Error Module::load(const Program::Verification verification) { return open_program(verification); }

Error Module::load(const LoadBackendOptionsMap& backend_options, const Program::Verification verification) {
  state_->options = LoadBackendOptionsMap();
  state_->option_lists.clear();
  for (size_t i = 0; i < backend_options.size(); ++i) {
    const auto given = backend_options.entry_at(i);
    // A growing outer vector moves the inner ones, whose items stay at their addresses.
    auto& kept = state_->option_lists.emplace_back(given.options.begin(), given.options.end());
    ET_CHECK_OK_OR_RETURN_ERROR(state_->options.set_options(given.backend_id, {kept.data(), kept.size()}));
  }
  return open_program(verification);
}

bool Module::is_loaded() const { return state_->program != nullptr; }
std::shared_ptr<Program> Module::program() const { return state_->program; }
const LoadBackendOptionsMap& Module::backend_options() const { return state_->options; }
runtime::EventTracer* Module::event_tracer() const { return state_->tracer.get(); }
Span<uint8_t> Module::debug_buffer() { return {}; }

Result<size_t> Module::num_methods() {
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  return program()->num_methods();
}

Result<std::unordered_set<std::string>> Module::method_names() {
  auto count = num_methods();
  if (!count.ok()) return count.error();
  std::unordered_set<std::string> names(*count);
  for (size_t i = 0; i < *count; ++i) names.insert(program()->get_method_name(i).get());
  return names;
}

Result<MethodMeta> Module::method_meta(const std::string& method_name) {
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  return program()->method_meta(method_name.c_str());
}

// The sizes of a method's planned buffers.
Result<std::vector<size_t>> Module::State::needed_by(const std::string& method_name) const {
  auto meta = program->method_meta(method_name.c_str());
  if (!meta.ok()) return meta.error();
  std::vector<size_t> sizes;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    auto size = meta->memory_planned_buffer_size(i);
    if (!size.ok()) return size.error();
    sizes.push_back(static_cast<size_t>(*size));
  }
  return sizes;
}

// Makes one buffer for the first planned buffer of all methods, one for the second, ..., each of the largest
// size.
Error Module::State::make_arenas() {
  std::vector<size_t> largest;
  for (size_t m = 0; m < program->num_methods(); ++m) {
    auto sizes = needed_by(program->get_method_name(m).get());
    if (!sizes.ok()) return sizes.error();
    if (sizes->size() > largest.size()) largest.resize(sizes->size());
    for (size_t i = 0; i < sizes->size(); ++i) largest[i] = std::max(largest[i], (*sizes)[i]);
  }
  std::vector<Buffer> made;
  for (const size_t size : largest) ET_CHECK_OK_OR_RETURN_ERROR(add_buffer(made, size));
  arenas = std::move(made);
  return Error::Ok;
}

Result<std::unique_ptr<Module::PlannedMemory>> Module::plan(const std::string& method_name) {
  auto sizes = state_->needed_by(method_name);
  if (!sizes.ok()) return sizes.error();
  auto planned = std::make_unique<PlannedMemory>();
  if (!state_->shares_arenas) {
    for (const size_t size : *sizes) ET_CHECK_OK_OR_RETURN_ERROR(add_buffer(planned->own, size));
  } else if (state_->arenas.empty()) {
    ET_CHECK_OK_OR_RETURN_ERROR(state_->make_arenas());
  }
  auto& buffers = state_->shares_arenas ? state_->arenas : planned->own;
  for (size_t i = 0; i < sizes->size(); ++i) {
    planned->spans.push_back(aligned_part(buffers[i], (*sizes)[i]));
  }
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
  // The method refers to the kernels and to the memory manager: both stay at their addresses when the holder
  // moves into the map.
  holder.kernel_registry.swap(kernel_registry);
  // Memory of the caller has precedence over the module's own.
  if (planned_memory == nullptr) {
    auto planned = plan(method_name);
    if (!planned.ok()) return planned.error();
    holder.planned_memory = std::move(*planned);
    planned_memory = holder.planned_memory->allocator.get();
  }
  holder.memory_manager = std::make_unique<runtime::MemoryManager>(
      state_->method_memory.get(), planned_memory, state_->scratch_memory.get());
  const NamedDataMap* data = state_->data.has_value() ? &*state_->data : nullptr;
  auto method = program()->load_method(method_name.c_str(), holder.memory_manager.get(),
                                       event_tracer == nullptr ? state_->tracer.get() : event_tracer, data,
                                       backend_options == nullptr ? &state_->options : backend_options,
                                       {holder.kernel_registry.data(), holder.kernel_registry.size()});
  if (!method.ok()) return method.error();
  holder.method = std::make_unique<Method>(std::move(*method));
  methods_.emplace(method_name, std::move(holder));
  return Error::Ok;
}

Error Module::load_method(const std::string& method_name, torch::executor::EventTracer* event_tracer) {
  return load_method(method_name, nullptr, event_tracer);
}
Error Module::load_forward(runtime::HierarchicalAllocator* planned_memory,
                           torch::executor::EventTracer* event_tracer,
                           const LoadBackendOptionsMap* backend_options,
                           std::vector<Kernel> kernel_registry) {
  return load_method(kForward, planned_memory, event_tracer, backend_options, std::move(kernel_registry));
}
Error Module::load_forward(torch::executor::EventTracer* event_tracer) {
  return load_method(kForward, nullptr, event_tracer);
}

bool Module::is_method_loaded(const std::string& method_name) const {
  return methods_.find(method_name) != methods_.end();
}
bool Module::unload_method(const std::string& method_name) { return methods_.erase(method_name) == 1; }
bool Module::unload_forward() { return unload_method(kForward); }

Result<Method*> Module::loaded(const std::string& method_name) {
  ET_CHECK_OK_OR_RETURN_ERROR(load_method(method_name));
  return methods_.at(method_name).method.get();
}

Result<Method*> Module::method(const std::string& method_name) { return loaded(method_name); }

Result<std::vector<EValue>> Module::execute(const std::string& method_name,
                                            const std::vector<EValue>& input_values) {
  auto method = loaded(method_name);
  if (!method.ok()) return method.error();
  // Also refuses more values than the method has inputs: by the index of the first one too many.
  size_t index = 0;
  for (const EValue& value : input_values) {
    ET_CHECK_OK_OR_RETURN_ERROR((*method)->set_input(value, index++));
  }
  // A file that was truncated since it was mapped would raise SIGBUS in a kernel.
  ET_CHECK_OK_OR_RETURN_ERROR(state_->check_mapped());
  ET_CHECK_OK_OR_RETURN_ERROR((*method)->execute());
  return get_outputs(method_name);
}

Error Module::set_input(const std::string& method_name, const EValue& input_value, size_t input_index) {
  auto method = loaded(method_name);
  return method.ok() ? (*method)->set_input(input_value, input_index) : method.error();
}

Error Module::set_inputs(const std::string& method_name, const std::vector<EValue>& input_values) {
  auto method = loaded(method_name);
  return method.ok() ? (*method)->set_inputs(
                           executorch::aten::ArrayRef<EValue>(input_values.data(), input_values.size()))
                     : method.error();
}

Error Module::set_output(const std::string& method_name, EValue output_value, size_t output_index) {
  auto method = loaded(method_name);
  if (!method.ok()) return method.error();
  ET_CHECK_OR_RETURN_ERROR(output_value.isTensor(), InvalidArgument, "output %zu: expected a tensor",
                           output_index);
  // Only address and size are passed on; the program determines shape and dtype.
  const auto& tensor = output_value.toTensor();
  return (*method)->set_output_data_ptr(tensor.mutable_data_ptr(), tensor.nbytes(), output_index);
}

Error Module::set_outputs(const std::string& method_name, const std::vector<EValue>& output_values) {
  auto method = loaded(method_name);
  if (!method.ok()) return method.error();
  ET_CHECK_OR_RETURN_ERROR(output_values.size() == (*method)->outputs_size(), InvalidArgument,
                           "outputs: got %zu, expected %zu", output_values.size(), (*method)->outputs_size());
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
  ET_CHECK_OR_RETURN_ERROR(output_index < (*method)->outputs_size(), InvalidArgument,
                           "output %zu: expected an index below %zu", output_index,
                           (*method)->outputs_size());
  return (*method)->get_output(output_index);
}

// Short forms: one value or none, the method "forward", the first output.
Result<std::vector<EValue>> Module::execute(const std::string& method_name, const EValue& input_value) {
  return execute(method_name, std::vector<EValue>(1, input_value));
}
Result<std::vector<EValue>> Module::execute(const std::string& method_name) {
  const std::vector<EValue> none;
  return execute(method_name, none);
}
Result<std::vector<EValue>> Module::forward(const std::vector<EValue>& input_values) {
  return execute(kForward, input_values);
}
Result<std::vector<EValue>> Module::forward(const EValue& input_value) {
  return execute(kForward, input_value);
}
Result<std::vector<EValue>> Module::forward() { return execute(kForward); }

Result<EValue> Module::get(const std::string& method_name, const std::vector<EValue>& input_values) {
  return first_of(execute(method_name, input_values));
}
Result<EValue> Module::get(const std::string& method_name, const EValue& input_value) {
  return first_of(execute(method_name, input_value));
}
Result<EValue> Module::get(const std::string& method_name) { return first_of(execute(method_name)); }

Error Module::set_input(const EValue& input_value, size_t input_index) {
  return set_input(kForward, input_value, input_index);
}
Error Module::set_inputs(const std::vector<EValue>& input_values) {
  return set_inputs(kForward, input_values);
}
Error Module::set_output(EValue output_value, size_t output_index) {
  return set_output(kForward, output_value, output_index);
}
Error Module::set_outputs(const std::vector<EValue>& output_values) {
  return set_outputs(kForward, output_values);
}
Result<std::vector<EValue>> Module::get_outputs() { return get_outputs(kForward); }
Result<EValue> Module::get_output(size_t output_index) { return get_output(kForward, output_index); }

}  // namespace executorch::extension::ET_MODULE_NAMESPACE
