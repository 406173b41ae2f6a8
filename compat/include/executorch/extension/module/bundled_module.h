// SPDX-License-Identifier: BSD-3-Clause
// A bundled program (.bpte) with the convenience of Module: executes its cases and compares the outputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <executorch/extension/module/module.h>

#define ET_BUNDLED_MODULE_NAMESPACE bundled_module

namespace executorch::extension {

namespace ET_BUNDLED_MODULE_NAMESPACE {

class BundledModule : public Module {
 public:
  // Uses the bytes of a file, which must outlive the module. Allocators as for Module.
  explicit BundledModule(const void* bundled_program_ptr,
                         std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                         std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                         std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                         std::unique_ptr<runtime::DataLoader> data_map_loader = nullptr);
  // Reads a file. Errors: AccessFailed, MemoryAllocationFailed. A file that is not a bundle fails on use.
  static runtime::Result<std::unique_ptr<BundledModule>> from_file(
      const std::string& file_path, std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
      std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
      std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
      std::unique_ptr<runtime::DataLoader> data_map_loader = nullptr);

  BundledModule(const BundledModule&) = delete;
  BundledModule& operator=(const BundledModule&) = delete;
  BundledModule(BundledModule&&) = delete;
  BundledModule& operator=(BundledModule&&) = delete;
  ~BundledModule() override = default;

  // Executes a method on the inputs of its case `testset_idx`. Errors: InvalidArgument (not a bundled
  // program, no such method or case), or the method's.
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> execute(const std::string& method_name,
                                                                     const size_t testset_idx);
  // Compares the outputs of the last execution with the case. Errors: InvalidArgument (as above, or a
  // difference, which is logged), NotSupported (the case has no expected outputs).
  ET_NODISCARD runtime::Error verify_method_outputs(const std::string& method_name, const size_t testset_idx,
                                                    double rtol = 1e-5, double atol = 1e-8);

 private:
  runtime::Result<Method*> method_of_bundle(const std::string& method_name);

  const void* bundled_program_ptr_;
  std::unique_ptr<runtime::FreeableBuffer> file_;  // set by from_file()
};

}  // namespace ET_BUNDLED_MODULE_NAMESPACE

using ET_BUNDLED_MODULE_NAMESPACE::BundledModule;

}  // namespace executorch::extension
