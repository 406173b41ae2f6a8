// SPDX-License-Identifier: BSD-3-Clause
// Members are declared in dependency order: methods refer to the program, which refers to its loader and data
// files.
#include "runtime/module/module.h"

#include <cstdlib>
#include <cstring>

#include "runtime/module/file_data_loader.h"
#include "runtime/module/mmap_data_loader.h"
#include "runtime/module/shared_data_loader.h"

namespace rushlight {

Result<Module::OpenFile> Module::open(const char* path, LoadMode mode) {
  if (mode == LoadMode::File) {
    RL_TRY_ASSIGN(FileDataLoader file, FileDataLoader::open(path));
    return OpenFile{std::make_shared<FileDataLoader>(std::move(file)), nullptr};
  }
  const auto lock = mode == LoadMode::Mmap         ? MmapDataLoader::Lock::None
                    : mode == LoadMode::MmapLocked ? MmapDataLoader::Lock::Require
                                                   : MmapDataLoader::Lock::Try;
  RL_TRY_ASSIGN(MmapDataLoader file, MmapDataLoader::open(path, lock));
  auto mapped = std::make_shared<MmapDataLoader>(std::move(file));
  return OpenFile{mapped, mapped};
}

// Methods of a module share the pool of threads and the prepared weights.
Module::Module(OpenFile file, const OperatorTable& operators, const ModuleOptions& options)
    : loader_(std::move(file.loader)),
      operators_(&operators),
      options_(options.method),
      max_memory_(options.max_memory),
      lanes_(options.lanes == 0 ? SIZE_MAX : options.lanes),
      call_seconds_(options.call_seconds) {
  if (file.mapped != nullptr) mapped_.push_back(std::move(file.mapped));
  if (options.rewriter != nullptr) rewriter_ = options.rewriter();
  if (options.prepare) weights_ = std::make_unique<WeightStore>();
  if (options_.threads != nullptr) return;
  threads_ = HostThreads::shared(options.threads == 0 ? HostThreads::default_count() : options.threads);
  options_.threads = threads_.get();
}

// Opens all data files and merges them with the caller's map.
Error Module::open_data(const ModuleOptions& options) {
  if (options.data_files.empty()) return Error::Ok;
  for (const std::string& path : options.data_files) {
    RL_TRY_ASSIGN(OpenFile file, open(path.c_str(), options.load_mode));
    RL_TRY_ASSIGN(FlatTensor map, FlatTensor::load(*file.loader));
    if (file.mapped != nullptr) mapped_.push_back(std::move(file.mapped));
    RL_TRY_ASSIGN(const uint32_t keys, map.num_keys());
    // On the heap at a fixed address: data_maps_ refers to it.
    data_files_.push_back(std::unique_ptr<DataFile>(
        new DataFile{std::move(file.loader), std::move(map), std::vector<uint32_t>(keys)}));
    DataFile& added = *data_files_.back();
    added.map.sort_keys({added.sorted.data(), added.sorted.size()});
    data_maps_.push_back(&added.map);
  }
  // May be null: MergedDataMap skips null maps.
  data_maps_.push_back(options.method.external_data);
  RL_TRY_ASSIGN(MergedDataMap merged, MergedDataMap::merge({data_maps_.data(), data_maps_.size()}));
  data_ = std::make_unique<MergedDataMap>(std::move(merged));
  options_.external_data = data_.get();
  return Error::Ok;
}

Result<std::unique_ptr<Module>> Module::load_open(OpenFile file, const OperatorTable& operators,
                                                  const ModuleOptions& options) {
  // The module first: it keeps the loader alive, to which the program refers.
  std::unique_ptr<Module> module(new Module(std::move(file), operators, options));
  RL_TRY_ASSIGN(Program program, Program::load(*module->loader_, options.verification));
  module->program_ = std::make_unique<Program>(std::move(program));
  RL_TRY(module->open_data(options));
  return module;
}

Result<std::unique_ptr<Module>> Module::load(std::shared_ptr<DataLoader> loader,
                                             const OperatorTable& operators, const ModuleOptions& options) {
  return load_open({std::move(loader), nullptr}, operators, options);
}

Result<std::unique_ptr<Module>> Module::load_file(const char* path, const OperatorTable& operators,
                                                  const ModuleOptions& options) {
  RL_TRY_ASSIGN(OpenFile file, open(path, options.load_mode));
  return load_open(std::move(file), operators, options);
}

// The copy has at least one byte, because aligned_alloc(16, 0) may return null.
Result<std::unique_ptr<Module>> Module::load_bytes(Span<const uint8_t> bytes, const OperatorTable& operators,
                                                   const ModuleOptions& options) {
  constexpr size_t kAlignment = 16;
  void* copy = std::aligned_alloc(kAlignment, align_up(bytes.size() + 1, kAlignment));
  RL_CHECK(copy != nullptr, Error::MemoryAllocationFailed, "program: no memory for %lu bytes",
           log_number(bytes.size()));
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  return load(std::make_shared<SharedDataLoader>(std::shared_ptr<const void>(copy, std::free), bytes.size()),
              operators, options);
}

size_t Module::file_bytes() const {
  size_t bytes = loader_->size();
  for (const auto& file : data_files_) bytes += file->loader->size();
  return bytes;
}

std::vector<std::string> Module::method_names() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < program_->num_methods(); ++i) names.emplace_back(program_->method_name(i));
  return names;
}

Result<std::unique_ptr<ModuleMethod>> Module::load_method(const char* name) const {
  // Before weights are read: a file that was overwritten would give wrong constants.
  RL_TRY(check_files(mapped_));
  ModuleMethod::Surroundings around;
  around.weights = weights_.get();
  around.rewriter = rewriter_.get();
  around.objects = objects_.get();
  around.mapped = mapped_;
  around.pool = threads_;
  around.max_memory = max_memory_;
  around.lanes = lanes_;
  if (const auto found = call_seconds_.find(name); found != call_seconds_.end())
    around.seconds = found->second;
  return ModuleMethod::load(*program_, name, *operators_, options_, around);
}

std::unique_ptr<RewrittenMethod> Module::rewritten(const char* name) const {
  const auto meta = program_->method_meta(name);
  if (rewriter_ == nullptr || !meta.ok() || !meta->arena_bytes().ok()) return nullptr;
  return rewriter_->rewrite(*program_, name, *operators_, options_.external_data);
}

Result<ModuleMethod*> Module::method(const char* name) {
  // Loaded at first use, and kept with its state.
  auto found = methods_.find(name);
  if (found == methods_.end()) {
    RL_TRY_ASSIGN(std::unique_ptr<ModuleMethod> loaded, load_method(name));
    found = methods_.emplace(name, std::move(loaded)).first;
  }
  return found->second.get();
}

Error Module::set_input(size_t index, const EValue& value, const char* method_name) {
  RL_TRY_ASSIGN(ModuleMethod * target, method(method_name));
  return target->method().set_input(index, value);
}

Result<std::vector<EValue>> Module::execute(const char* method_name, const std::vector<EValue>& inputs) {
  RL_TRY_ASSIGN(ModuleMethod * target, method(method_name));
  const Error error = inputs.empty() ? target->execute() : target->execute({inputs.data(), inputs.size()});
  if (error != Error::Ok) return error;
  return target->outputs();
}

Result<ExecutionQueue::Handle> Module::execute_async(const char* method_name, std::vector<EValue> inputs,
                                                     const ExecutionOptions& options,
                                                     std::function<void(Error)> done) {
  RL_TRY_ASSIGN(ModuleMethod * target, method(method_name));
  return target->execute_async(std::move(inputs), options, std::move(done));
}

}  // namespace rushlight
