// SPDX-License-Identifier: BSD-3-Clause
// The convenient front for hosts: a program, its data files and its methods, with all memory taken from
// the heap.
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

enum class LoadMode {
  File,           // read into memory of its own, part by part
  Mmap,           // used where the system keeps the file's pages
  MmapLocked,     // which are then kept in memory; it is an error if the system does not allow that
  MmapTryLocked,  // likewise, but if not, they are not
};

struct ModuleOptions {
  LoadMode load_mode = LoadMode::Mmap;
  Verification verification = Verification::InternalConsistency;
  std::vector<std::string> data_files = {};  // .ptd files, for tensors whose data lies outside the program
  MethodOptions method = {};                 // external_data is in addition to data_files
  size_t threads = 0;   // that kernels share, unless `method` has some; 0: HostThreads::default_count()
  bool prepare = true;  // whether kernels pack constants, which takes memory for them a second time
  // Bytes that one loaded method may take: values, planned buffers, outputs, scratch and packed constants,
  // which are left out where they do not fit. 0: as much as the machine has.
  size_t max_memory = 0;
};

class Module {
 public:
  // A .pte file, or data that a loader has, or bytes, which are copied. Errors: AccessFailed,
  // InvalidProgram, InvalidExternalData, NotSupported, each logged with what is wrong.
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
  // Of the program and its data files.
  [[nodiscard]] size_t file_bytes() const;
  [[nodiscard]] std::vector<std::string> method_names() const;
  // Error: NotFound.
  [[nodiscard]] Result<MethodMeta> method_meta(const char* name) const { return program_->method_meta(name); }

  // A new instance of the method, with state of its own; the module outlives it. Errors: what
  // ModuleMethod::load returns, AccessFailed (a mapped file was overwritten since it was loaded).
  [[nodiscard]] Result<std::unique_ptr<ModuleMethod>> load_method(const char* name) const;

  // The module's own instance of a method, loaded when it is first asked for: its state lasts from one
  // call to the next. One thread at a time. Errors: what load_method returns.
  [[nodiscard]] Result<ModuleMethod*> method(const char* name = "forward");

  // Sets an input that later calls leave out, or that execute() without inputs uses.
  Error set_input(size_t index, const EValue& value, const char* method_name = "forward");
  // Runs the module's own instance of a method and returns its outputs, which change when it runs again.
  // Without inputs those that set_input() set are used. Errors: what ModuleMethod::execute returns.
  [[nodiscard]] Result<std::vector<EValue>> execute(const char* method_name,
                                                    const std::vector<EValue>& inputs);
  [[nodiscard]] Result<std::vector<EValue>> forward(const std::vector<EValue>& inputs = {}) {
    return execute("forward", inputs);
  }

 private:
  struct OpenFile {
    std::shared_ptr<DataLoader> loader;
    std::shared_ptr<MmapDataLoader> mapped;  // the same, where that is what it is
  };
  // A data file and the loader that it reads through.
  struct DataFile {
    std::shared_ptr<DataLoader> loader;
    FlatTensor map;
    std::vector<uint32_t> sorted;  // the map's
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
  std::shared_ptr<HostThreads> threads_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<WeightStore> weights_;  // null: kernels prepare nothing
  std::unique_ptr<SharedObjects> objects_ = std::make_unique<SharedObjects>();
  std::map<std::string, std::unique_ptr<ModuleMethod>, std::less<>> methods_;
};

}  // namespace rushlight
