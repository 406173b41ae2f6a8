// SPDX-License-Identifier: BSD-3-Clause
// A bundled program (.bpte) with the convenience of Module: executes its cases and compares the outputs.
//
//   auto module = BundledModule::from_file("model.bpte");
//   auto outputs = (*module)->execute("forward", 0);
//   auto verdict = (*module)->verify_method_outputs("forward", 0);
//
// A case holds the inputs of one call of a method and, optionally, the expected outputs. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <executorch/extension/module/module.h>

#ifdef USE_ATEN_LIB
#define ET_BUNDLED_MODULE_NAMESPACE bundled_module::aten
#else
#define ET_BUNDLED_MODULE_NAMESPACE bundled_module
#endif

namespace executorch::extension {

namespace ET_BUNDLED_MODULE_NAMESPACE {

// execute() and verify_method_outputs() load the method on first use. For inputs that are not in the bundle
// call forward() or Module::execute(), which execute() below hides.
class BundledModule : public Module {
 public:
  // Uses the bytes of a file, which must outlive the module and be aligned to 8. Their length is unknown
  // here, so a file of unknown origin is verified by from_file() only. Allocators and tracer as for Module.
  explicit BundledModule(const void* bundled_program_ptr,
                         std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                         std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                         std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                         std::unique_ptr<runtime::DataLoader> data_map_loader = nullptr);
  // Reads and verifies a file, which the module then owns. Errors: AccessFailed, MemoryAllocationFailed,
  // InvalidArgument (shorter than 64 bytes), InvalidProgram (a damaged bundle). A file that is not a bundle
  // fails on use.
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

  // Executes a method on the inputs of its case `testset_idx`, counted from 0. Returns the outputs as Module
  // does. Errors: InvalidArgument (not a bundled program, no such method or case), or the method's.
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> execute(const std::string& method_name,
                                                                     const size_t testset_idx);
  // Compares the outputs of the last execution with the case: dtypes, shapes, dim orders, integers and bools
  // must be equal; a floating-point element passes if |actual - expected| <= atol + rtol * |expected|, and
  // NaN equals NaN. A negative rtol or atol selects a default for the output's dtype. Errors: InvalidArgument
  // (as above, or a difference, which is logged), NotSupported (the case has no expected outputs).
  ET_NODISCARD runtime::Error verify_method_outputs(const std::string& method_name, const size_t testset_idx,
                                                    double rtol = 1e-5, double atol = 1e-8);

 private:
  // The loaded method; InvalidArgument if the bytes are not a bundle.
  runtime::Result<Method*> method_of_bundle(const std::string& method_name);

  const void* bundled_program_ptr_;
  std::unique_ptr<runtime::FreeableBuffer> file_;  // set by from_file()
};

}  // namespace ET_BUNDLED_MODULE_NAMESPACE

using ET_BUNDLED_MODULE_NAMESPACE::BundledModule;

}  // namespace executorch::extension
