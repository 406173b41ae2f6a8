// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/module/module.h"

#include <cstdlib>
#include <cstring>

#include "runtime/module/file_data_loader.h"
#include "runtime/module/mmap_data_loader.h"
#include "runtime/module/shared_data_loader.h"

namespace rushlight {

namespace {

template <class Loader>
Result<std::shared_ptr<DataLoader>> shared(Result<Loader> loader) {
  if (!loader.ok()) return loader.error();
  return std::shared_ptr<DataLoader>(std::make_shared<Loader>(std::move(*loader)));
}

Result<std::shared_ptr<DataLoader>> open(const char* path, LoadMode mode) {
  switch (mode) {
    case LoadMode::File:
      return shared(FileDataLoader::open(path));
    case LoadMode::Mmap:
      return shared(MmapDataLoader::open(path));
    case LoadMode::MmapLocked:
      return shared(MmapDataLoader::open(path, MmapDataLoader::Lock::Require));
    case LoadMode::MmapTryLocked:
      return shared(MmapDataLoader::open(path, MmapDataLoader::Lock::Try));
  }
  return Error::InvalidArgument;
}

}  // namespace

Module::Module(std::shared_ptr<DataLoader> loader, const OperatorTable& operators,
               const ModuleOptions& options)
    : loader_(std::move(loader)), operators_(&operators), options_(options.method) {
  if (options.prepare) weights_ = std::make_unique<WeightStore>();
  if (options_.threads != nullptr) return;
  threads_ = HostThreads::shared(options.threads == 0 ? HostThreads::default_count() : options.threads);
  options_.threads = threads_.get();
}

// All data files, and the caller's map, as one.
Error Module::open_data(const ModuleOptions& options) {
  if (options.data_files.empty()) return Error::Ok;
  for (const std::string& path : options.data_files) {
    RL_TRY_ASSIGN(std::shared_ptr<DataLoader> loader, open(path.c_str(), options.load_mode));
    RL_TRY_ASSIGN(FlatTensor map, FlatTensor::load(*loader));
    data_files_.push_back(std::unique_ptr<DataFile>(new DataFile{std::move(loader), std::move(map)}));
    data_maps_.push_back(&data_files_.back()->map);
  }
  data_maps_.push_back(options.method.external_data);
  RL_TRY_ASSIGN(MergedDataMap merged, MergedDataMap::merge({data_maps_.data(), data_maps_.size()}));
  data_ = std::make_unique<MergedDataMap>(std::move(merged));
  options_.external_data = data_.get();
  return Error::Ok;
}

Result<std::unique_ptr<Module>> Module::load(std::shared_ptr<DataLoader> loader,
                                             const OperatorTable& operators, const ModuleOptions& options) {
  std::unique_ptr<Module> module(new Module(std::move(loader), operators, options));
  RL_TRY_ASSIGN(Program program, Program::load(*module->loader_, options.verification));
  module->program_ = std::make_unique<Program>(std::move(program));
  RL_TRY(module->open_data(options));
  return module;
}

Result<std::unique_ptr<Module>> Module::load_file(const char* path, const OperatorTable& operators,
                                                  const ModuleOptions& options) {
  RL_TRY_ASSIGN(std::shared_ptr<DataLoader> loader, open(path, options.load_mode));
  return load(std::move(loader), operators, options);
}

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

std::vector<std::string> Module::method_names() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < program_->num_methods(); ++i) names.emplace_back(program_->method_name(i));
  return names;
}

Result<std::unique_ptr<ModuleMethod>> Module::load_method(const char* name) const {
  return ModuleMethod::load(*program_, name, *operators_, options_, weights_.get());
}

Result<ModuleMethod*> Module::method(const char* name) {
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
  const Error error =
      inputs.empty() ? target->method().execute() : target->execute({inputs.data(), inputs.size()});
  if (error != Error::Ok) return error;
  return target->outputs();
}

}  // namespace rushlight
