// SPDX-License-Identifier: BSD-3-Clause
// A .bpte file with the convenience of a Module: run a case of it, compare what came out.
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
  // Over the bytes of a file, which outlive it. Allocators as Module's.
  explicit BundledModule(const void* bundled_program_ptr,
                         std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                         std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                         std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                         std::unique_ptr<runtime::DataLoader> data_map_loader = nullptr);
  // Errors: AccessFailed, MemoryAllocationFailed. Whether it is a bundled program shows when it is used.
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

  // Runs a method on the inputs of its case `testset_idx`. Errors: InvalidArgument (no bundled program, no
  // such method or case), or the method's.
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> execute(const std::string& method_name,
                                                                     const size_t testset_idx);
  // Holds the outputs of the last execution against the case. Errors: InvalidArgument (likewise, or a
  // difference, which is logged), NotSupported (the case expects nothing).
  ET_NODISCARD runtime::Error verify_method_outputs(const std::string& method_name, const size_t testset_idx,
                                                    double rtol = 1e-5, double atol = 1e-8);

 private:
  runtime::Result<Method*> method_of_bundle(const std::string& method_name);

  const void* bundled_program_ptr_;
  std::unique_ptr<runtime::FreeableBuffer> file_;  // from_file's
};

}  // namespace ET_BUNDLED_MODULE_NAMESPACE

using ET_BUNDLED_MODULE_NAMESPACE::BundledModule;

}  // namespace executorch::extension
