// SPDX-License-Identifier: BSD-3-Clause
// The convenient interface for hosts: loads a program, its data files and its methods, and allocates all
// memory from the heap.
//
//   auto module = Module::load_file("model.pte", selected_operators);
//   HostTensor image({1, 3, 224, 224}, pixels);
//   auto outputs = (*module)->forward({image.value()});
//   if (outputs.ok()) use((*outputs)[0].to_tensor());
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/module/host_tensor.h"
#include "runtime/module/host_threads.h"
#include "runtime/module/module_method.h"
#include "runtime/program/flat_tensor.h"
#include "runtime/program/merged_data_map.h"

namespace rushlight {

// Access to program and data files.
enum class LoadMode {
  File,           // read parts into allocated memory
  Mmap,           // map the file and use its pages in the page cache
  MmapLocked,     // likewise, locked in RAM; an error if the system refuses
  MmapTryLocked,  // likewise, locked in RAM if the system permits
};

// Options of Module::load().
struct ModuleOptions {
  LoadMode load_mode = LoadMode::Mmap;
  Verification verification = Verification::InternalConsistency;
  std::vector<std::string> data_files = {};  // .ptd files, for tensors whose data is outside of the program
  MethodOptions method = {};                 // external_data is searched in addition to data_files
  size_t threads = 0;   // for kernels, if method.threads is null; 0: HostThreads::default_count()
  bool prepare = true;  // let kernels pack constants, which needs memory for a second copy of them
  // Changes methods when they are loaded, such as make_rewriter of backends/rewrite; null: methods are loaded
  // as stated.
  MakeRewriter rewriter = nullptr;
  // Most calls of a method that execute at once, each on its share of the threads: 0 means as many as there
  // are threads, 1 means one call at a time. Results are the same; lanes/lanes.h says when it is done.
  size_t lanes = 0;
  // Measured seconds of each instruction of a method, through all chains, by the method's name. They replace
  // kernels' estimates in decisions about lanes.
  std::map<std::string, std::vector<double>> call_seconds = {};
  // Limit in bytes for one loaded method: values, planned buffers, outputs, scratch and packed constants.
  // Constants that would exceed it stay unpacked. 0 means the machine's physical memory.
  size_t max_memory = 0;
};

// A program with its methods. Not thread-safe; instances from load_method() are independent of each other, so
// threads can use one each.
class Module {
 public:
  // Load a program from a .pte file, from a loader, or from bytes (copied). `operators` must outlive the
  // module. Errors: AccessFailed, InvalidProgram, InvalidExternalData, NotSupported, MemoryAllocationFailed;
  // each is logged with its reason.
  [[nodiscard]] static Result<std::unique_ptr<Module>> load_file(const char* path,
                                                                 const OperatorTable& operators,
                                                                 const ModuleOptions& options = {});
  [[nodiscard]] static Result<std::unique_ptr<Module>> load(std::shared_ptr<DataLoader> loader,
                                                            const OperatorTable& operators,
                                                            const ModuleOptions& options = {});
  [[nodiscard]] static Result<std::unique_ptr<Module>> load_bytes(Span<const uint8_t> bytes,
                                                                  const OperatorTable& operators,
                                                                  const ModuleOptions& options = {});

  [[nodiscard]] const Program& program() const { return *program_; }
  // Bytes of the program and its data files.
  [[nodiscard]] size_t file_bytes() const;
  [[nodiscard]] std::vector<std::string> method_names() const;
  // Properties of a method without loading it. Error: NotFound.
  [[nodiscard]] Result<MethodMeta> method_meta(const char* name) const { return program_->method_meta(name); }

  // Loads a new instance of a method with its own state; the module must outlive it. Errors: as
  // ModuleMethod::load(), and AccessFailed (a mapped file changed since it was loaded).
  [[nodiscard]] Result<std::unique_ptr<ModuleMethod>> load_method(const char* name) const;

  // Rewrites a method without loading it, for tools; null if it stays as it is.
  [[nodiscard]] std::unique_ptr<RewrittenMethod> rewritten(const char* name) const;

  // Returns the module's instance of a method and loads it on the first call. Its state persists between
  // executions. Errors: as load_method().
  [[nodiscard]] Result<ModuleMethod*> method(const char* name = "forward");

  // Sets an input of the module's instance, for executions without inputs. Errors: as method() and
  // Method::set_input().
  Error set_input(size_t index, const EValue& value, const char* method_name = "forward");
  // Executes the module's instance of a method and returns its outputs, which are valid until its next
  // execution. If `inputs` is empty, uses the values of set_input(). Errors: as method() and
  // ModuleMethod::execute().
  [[nodiscard]] Result<std::vector<EValue>> execute(const char* method_name,
                                                    const std::vector<EValue>& inputs);
  [[nodiscard]] Result<std::vector<EValue>> forward(const std::vector<EValue>& inputs = {}) {
    return execute("forward", inputs);
  }
  // Executes the module's instance of a method in the background; see ModuleMethod::execute_async(). Errors:
  // as method().
  [[nodiscard]] Result<ExecutionQueue::Handle> execute_async(const char* method_name,
                                                             std::vector<EValue> inputs,
                                                             const ExecutionOptions& options,
                                                             std::function<void(Error)> done);

 private:
  struct OpenFile {
    std::shared_ptr<DataLoader> loader;
    std::shared_ptr<MmapDataLoader> mapped;  // the same loader, or null if the file is not mapped
  };
  // A data file and its loader.
  struct DataFile {
    std::shared_ptr<DataLoader> loader;
    FlatTensor map;
    std::vector<uint32_t> sorted;  // memory of the map's sorted keys
  };

  Module(OpenFile file, const OperatorTable& operators, const ModuleOptions& options);
  static Result<std::unique_ptr<Module>> load_open(OpenFile file, const OperatorTable& operators,
                                                   const ModuleOptions& options);
  static Result<OpenFile> open(const char* path, LoadMode mode);
  Error open_data(const ModuleOptions& options);

  std::shared_ptr<DataLoader> loader_;
  MappedFiles mapped_;
  std::vector<std::unique_ptr<DataFile>> data_files_;
  std::vector<const NamedDataMap*> data_maps_;
  std::unique_ptr<MergedDataMap> data_;
  const OperatorTable* operators_;
  MethodOptions options_;
  size_t max_memory_;
  size_t lanes_;
  std::map<std::string, std::vector<double>> call_seconds_;
  std::shared_ptr<HostThreads> threads_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<MethodRewriter> rewriter_;  // null: methods are loaded as stated
  std::unique_ptr<WeightStore> weights_;      // null: kernels prepare nothing
  std::unique_ptr<SharedObjects> objects_ = std::make_unique<SharedObjects>();
  std::map<std::string, std::unique_ptr<ModuleMethod>, std::less<>> methods_;
};

}  // namespace rushlight
