// SPDX-License-Identifier: BSD-3-Clause
// The convenient interface: a program, its data files and its methods, loaded on first use.
//
//   Module module("model.pte");
//   auto outputs = module.forward(make_tensor_ptr({1, 3}, {1.0f, 2.0f, 3.0f}));
//   if (outputs.ok()) use(outputs->at(0).toTensor());
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <executorch/runtime/backend/backend_options_map.h>
#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/core/device_memory_buffer.h>
#include <executorch/runtime/executor/program.h>

#define ET_MODULE_NAMESPACE module

namespace executorch::extension {

using ET_RUNTIME_NAMESPACE::Kernel;
using ET_RUNTIME_NAMESPACE::Method;
using ET_RUNTIME_NAMESPACE::MethodMeta;
using ET_RUNTIME_NAMESPACE::NamedDataMap;
using ET_RUNTIME_NAMESPACE::Program;
using runtime::LoadBackendOptionsMap;

namespace ET_MODULE_NAMESPACE {

// Not thread-safe. Outputs refer to the module's memory and change when their method executes again.
class Module {
 public:
  enum class LoadMode {
    File,
    Mmap,
    MmapUseMlock,
    MmapUseMlockIgnoreErrors,
    MmapUseMadvise,
  };

  // Null allocators are replaced by ones over malloc. With shared arenas all methods use the same planned
  // memory, so outputs are valid until any method executes.
  explicit Module(const std::string& file_path, const LoadMode load_mode = LoadMode::File,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                  bool share_memory_arenas = false);
  // With one data file (.ptd), or several.
  explicit Module(const std::string& file_path, const std::string& data_map_path,
                  const LoadMode load_mode = LoadMode::File,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                  bool share_memory_arenas = false);
  explicit Module(const std::string& file_path, std::vector<std::string> data_files,
                  const LoadMode load_mode = LoadMode::File,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                  bool share_memory_arenas = false);
  explicit Module(std::unique_ptr<runtime::DataLoader> data_loader,
                  std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::DataLoader> data_map_loader = nullptr,
                  bool share_memory_arenas = false);
  explicit Module(std::shared_ptr<Program> program,
                  std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::DataLoader> data_map_loader = nullptr,
                  bool share_memory_arenas = false);

  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  Module(Module&&) = delete;
  Module& operator=(Module&&) = delete;
  virtual ~Module();

  // Opens the program and its data files, once. Options apply to methods that are loaded later.
  ET_NODISCARD virtual runtime::Error load(
      const Program::Verification verification = Program::Verification::Minimal);
  ET_NODISCARD virtual runtime::Error load(
      const LoadBackendOptionsMap& backend_options,
      const Program::Verification verification = Program::Verification::Minimal);
  const LoadBackendOptionsMap& backend_options() const;
  virtual bool is_loaded() const;
  std::shared_ptr<Program> program() const;

  runtime::Result<size_t> num_methods();
  runtime::Result<std::unordered_set<std::string>> method_names();
  runtime::Result<MethodMeta> method_meta(const std::string& method_name);

  // Loads a method, once. The arguments must outlive the module.
  ET_NODISCARD runtime::Error load_method(const std::string& method_name,
                                          runtime::HierarchicalAllocator* planned_memory = nullptr,
                                          torch::executor::EventTracer* event_tracer = nullptr,
                                          const LoadBackendOptionsMap* backend_options = nullptr,
                                          std::vector<Kernel> kernel_registry = {});
  ET_DEPRECATED ET_NODISCARD runtime::Error load_method(const std::string& method_name,
                                                        torch::executor::EventTracer* event_tracer);
  ET_NODISCARD runtime::Error load_forward(runtime::HierarchicalAllocator* planned_memory = nullptr,
                                           torch::executor::EventTracer* event_tracer = nullptr,
                                           const LoadBackendOptionsMap* backend_options = nullptr,
                                           std::vector<Kernel> kernel_registry = {});
  ET_DEPRECATED ET_NODISCARD runtime::Error load_forward(torch::executor::EventTracer* event_tracer);
  bool unload_method(const std::string& method_name);
  bool unload_forward();
  bool is_method_loaded(const std::string& method_name) const;
  ET_DEPRECATED ET_NODISCARD runtime::Result<Method*> method(const std::string& method_name);

  // Sets the first inputs, as many as given, and executes. Other inputs keep their value from set_input(); an
  // input without a value is an InvalidArgument.
  ET_NODISCARD virtual runtime::Result<std::vector<runtime::EValue>> execute(
      const std::string& method_name, const std::vector<runtime::EValue>& input_values);
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> execute(const std::string& method_name,
                                                                     const runtime::EValue& input_value);
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> execute(const std::string& method_name);
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> forward(
      const std::vector<runtime::EValue>& input_values);
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> forward(const runtime::EValue& input_value);
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> forward();

  // Executes and returns the first output. Error: InvalidArgument (there is none).
  ET_NODISCARD runtime::Result<runtime::EValue> get(const std::string& method_name,
                                                    const std::vector<runtime::EValue>& input_values);
  ET_NODISCARD runtime::Result<runtime::EValue> get(const std::string& method_name,
                                                    const runtime::EValue& input_value);
  ET_NODISCARD runtime::Result<runtime::EValue> get(const std::string& method_name);

  ET_NODISCARD runtime::Error set_input(const std::string& method_name, const runtime::EValue& input_value,
                                        size_t input_index);
  ET_NODISCARD runtime::Error set_input(const runtime::EValue& input_value, size_t input_index);
  ET_NODISCARD runtime::Error set_inputs(const std::string& method_name,
                                         const std::vector<runtime::EValue>& input_values);
  ET_NODISCARD runtime::Error set_inputs(const std::vector<runtime::EValue>& input_values);

  // Sets a tensor whose memory an unplanned output will use.
  ET_NODISCARD runtime::Error set_output(const std::string& method_name, runtime::EValue output_value,
                                         size_t output_index = 0);
  ET_NODISCARD runtime::Error set_output(runtime::EValue output_value, size_t output_index = 0);
  ET_NODISCARD runtime::Error set_outputs(const std::string& method_name,
                                          const std::vector<runtime::EValue>& output_values);
  ET_NODISCARD runtime::Error set_outputs(const std::vector<runtime::EValue>& output_values);
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> get_outputs(const std::string& method_name);
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> get_outputs();
  ET_NODISCARD runtime::Result<runtime::EValue> get_output(const std::string& method_name,
                                                           size_t output_index = 0);
  ET_NODISCARD runtime::Result<runtime::EValue> get_output(size_t output_index = 0);

  runtime::EventTracer* event_tracer() const;
  // Always empty: give the tracer a buffer of the application instead.
  ET_DEPRECATED ET_NODISCARD runtime::Span<uint8_t> debug_buffer();

 private:
  struct PlannedMemory;
  struct State;

  runtime::Error open_program(Program::Verification verification);
  runtime::Result<std::unique_ptr<PlannedMemory>> plan(const std::string& method_name);
  runtime::Result<Method*> loaded(const std::string& method_name);

  std::unique_ptr<State> state_;

 protected:
  // A method with its memory; members are destroyed from last to first.
  struct MethodHolder {
    std::shared_ptr<PlannedMemory> planned_memory;
    std::unique_ptr<runtime::MemoryManager> memory_manager;
    std::vector<Kernel> kernel_registry;
    std::unique_ptr<Method> method;
  };
  std::unordered_map<std::string, MethodHolder> methods_;
};

}  // namespace ET_MODULE_NAMESPACE

using ET_MODULE_NAMESPACE::Module;

}  // namespace executorch::extension

namespace torch::executor {
using ::executorch::extension::ET_MODULE_NAMESPACE::Module;
}
