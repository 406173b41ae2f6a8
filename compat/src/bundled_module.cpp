// SPDX-License-Identifier: BSD-3-Clause
// A Module over the program inside of a bundle. The bundle's bytes stay where they are; methods are loaded as
// by Module, and cases are set and compared by bundled_program.cpp.
#include <executorch/devtools/bundled_program/bundled_program.h>
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/module/bundled_module.h>

#include "runtime/program/bundled_program.h"

namespace executorch::extension::ET_BUNDLED_MODULE_NAMESPACE {

using runtime::DataLoader;
using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;
using runtime::Result;

namespace {

// Assumed size of a file whose length is unknown: its offsets reach no further.
constexpr size_t kMostBytes = INT32_MAX;

// Only the identifier in the first 8 bytes is read; 128 stands for the unknown length.
bool is_bundle(const void* bytes) {
  return executorch::BUNDLED_PROGRAM_NAMESPACE::is_bundled_program(const_cast<void*>(bytes), 128);
}

// A loader of the program inside; empty if there is none, which then fails to load.
std::unique_ptr<DataLoader> loader_of(const void* bundle) {
  rushlight::Span<const uint8_t> program;
  if (is_bundle(bundle)) {
    auto opened = rushlight::BundledProgram::open({static_cast<const uint8_t*>(bundle), kMostBytes});
    if (opened.ok()) program = opened->program();
  }
  return std::make_unique<BufferDataLoader>(program.data(), program.size());
}

}  // namespace

BundledModule::BundledModule(const void* bundled_program_ptr,
                             std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
                             std::unique_ptr<runtime::MemoryAllocator> temp_allocator,
                             std::unique_ptr<runtime::EventTracer> event_tracer,
                             std::unique_ptr<DataLoader> data_map_loader)
    : Module(loader_of(bundled_program_ptr), std::move(memory_allocator), std::move(temp_allocator),
             std::move(event_tracer), std::move(data_map_loader)),
      bundled_program_ptr_(bundled_program_ptr) {}

Result<std::unique_ptr<BundledModule>> BundledModule::from_file(
    const std::string& file_path, std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
    std::unique_ptr<runtime::MemoryAllocator> temp_allocator,
    std::unique_ptr<runtime::EventTracer> event_tracer, std::unique_ptr<DataLoader> data_map_loader) {
  auto loader = FileDataLoader::from(file_path.c_str());
  if (!loader.ok()) return loader.error();
  auto size = loader->size();
  if (!size.ok()) return size.error();
  auto bytes = loader->load(0, *size, DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Program));
  if (!bytes.ok()) return bytes.error();
  ET_CHECK_OR_RETURN_ERROR(*size >= 64, InvalidArgument, "%s: expected a bundled program, got %zu bytes",
                           file_path.c_str(), *size);
  auto file = std::make_unique<FreeableBuffer>(std::move(*bytes));
  // Verified here, where the length is known; a file that is not a bundle fails on use.
  if (rushlight::BundledProgram::is_bundled_program({static_cast<const uint8_t*>(file->data()), *size})) {
    auto proven = rushlight::BundledProgram::open({static_cast<const uint8_t*>(file->data()), *size});
    if (!proven.ok()) return static_cast<Error>(proven.error());
  }
  // The module takes the bytes as they are; moving `file_` does not move them.
  auto module =
      std::make_unique<BundledModule>(file->data(), std::move(memory_allocator), std::move(temp_allocator),
                                      std::move(event_tracer), std::move(data_map_loader));
  module->file_ = std::move(file);
  return module;
}

Result<Method*> BundledModule::method_of_bundle(const std::string& method_name) {
  ET_CHECK_OR_RETURN_ERROR(is_bundle(bundled_program_ptr_), InvalidArgument,
                           "the file: expected a bundled program");
  ET_CHECK_OK_OR_RETURN_ERROR(load_method(method_name));
  return methods_.at(method_name).method.get();
}

Result<std::vector<EValue>> BundledModule::execute(const std::string& method_name, const size_t testset_idx) {
  auto method = method_of_bundle(method_name);
  if (!method.ok()) return method.error();
  ET_CHECK_OK_OR_RETURN_ERROR(
      executorch::BUNDLED_PROGRAM_NAMESPACE::load_bundled_input(**method, bundled_program_ptr_, testset_idx));
  ET_CHECK_OK_OR_RETURN_ERROR((*method)->execute());
  return get_outputs(method_name);
}

Error BundledModule::verify_method_outputs(const std::string& method_name, const size_t testset_idx,
                                           double rtol, double atol) {
  auto method = method_of_bundle(method_name);
  if (!method.ok()) return method.error();
  return executorch::BUNDLED_PROGRAM_NAMESPACE::verify_method_outputs(**method, bundled_program_ptr_,
                                                                      testset_idx, rtol, atol);
}

}  // namespace executorch::extension::ET_BUNDLED_MODULE_NAMESPACE
