// SPDX-License-Identifier: BSD-3-Clause
// The convenient interface: a program, its data files and its methods, loaded on first use.
//
//   Module module("model.pte");
//   auto outputs = module.forward(make_tensor_ptr({1, 3}, {1.0f, 2.0f, 3.0f}));
//   if (outputs.ok()) use(outputs->at(0).toTensor());
//
// Functions that name no method use "forward". Every function that needs the program or a method loads it
// first, and may then return an error of load() or load_method(). Errors are returned; only the C++ heap
// throws, if planned buffers or scratch exceed it.
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

#ifdef USE_ATEN_LIB
#define ET_MODULE_NAMESPACE module::aten
#else
#define ET_MODULE_NAMESPACE module
#endif

namespace executorch::extension {

using ET_RUNTIME_NAMESPACE::Kernel;
using ET_RUNTIME_NAMESPACE::Method;
using ET_RUNTIME_NAMESPACE::MethodMeta;
using ET_RUNTIME_NAMESPACE::NamedDataMap;
using ET_RUNTIME_NAMESPACE::Program;
using runtime::LoadBackendOptionsMap;

namespace ET_MODULE_NAMESPACE {

// Not thread-safe: one thread at a time may use a module. Outputs are handles: their tensors refer to the
// module's memory and change when their method executes again.
class Module {
 public:
  // Access to the program's file and to the data files that are given by path.
  enum class LoadMode {
    // Reads each part into memory that the module allocates.
    File,
    // Maps the file and reads its pages on first access. The file must not be overwritten while the module
    // uses it.
    Mmap,
    // As Mmap, and locks what is loaded in RAM; AccessFailed if the system refuses.
    MmapUseMlock,
    // As MmapUseMlock, but pages that the system does not lock are used unlocked.
    MmapUseMlockIgnoreErrors,
    // Here the same as Mmap.
    MmapUseMadvise,
  };

  // Opens nothing yet: a missing file is an error of load(). The module owns the tracer, the allocators and
  // the loaders.
  //
  // `memory_allocator` provides the tables of each method, which are freed with the allocator, not by
  // unload_method(). `temp_allocator` provides scratch for each execution and is reset after it. Null
  // allocators are replaced by ones over malloc. With shared arenas all methods use the same planned memory,
  // of the largest size that any of them needs, so outputs are valid until any method executes.
  explicit Module(const std::string& file_path, const LoadMode load_mode = LoadMode::File,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                  bool share_memory_arenas = false);
  // With one data file (.ptd; no file if the path is empty), or several, which are merged; their keys must
  // differ.
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
  // Reads the program and its data through loaders instead of files.
  explicit Module(std::unique_ptr<runtime::DataLoader> data_loader,
                  std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::DataLoader> data_map_loader = nullptr,
                  bool share_memory_arenas = false);
  // Uses a program that is loaded already, so that several modules hold its constants once. The program's own
  // loader must outlive all of them; the data loader belongs to this module only.
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

  // Opens the data files and the program, once: later calls return Ok and ignore `verification`. After an
  // error the next call tries again. Errors: AccessFailed (file), InvalidProgram, InvalidExternalData,
  // NotSupported (unknown schema version), InvalidArgument (two data files have the same key), or the
  // loader's.
  //
  // Backend options are copied. They apply to methods that are loaded later, and replace all options of an
  // earlier call.
  ET_NODISCARD virtual runtime::Error load(
      const Program::Verification verification = Program::Verification::Minimal);
  ET_NODISCARD virtual runtime::Error load(
      const LoadBackendOptionsMap& backend_options,
      const Program::Verification verification = Program::Verification::Minimal);
  // The options of the last load() with options.
  const LoadBackendOptionsMap& backend_options() const;
  // True if the program is loaded; the data files may not be.
  virtual bool is_loaded() const;
  // Null before load(). Sharing it does not extend the life of its loader, which the module owns.
  std::shared_ptr<Program> program() const;

  // Properties of the program, which these functions load. The metadata refers to the program's memory.
  // method_meta() returns InvalidArgument if there is no such method.
  runtime::Result<size_t> num_methods();
  runtime::Result<std::unordered_set<std::string>> method_names();
  runtime::Result<MethodMeta> method_meta(const std::string& method_name);

  // Loads a method, once: for a loaded method all other arguments are ignored. The arguments must outlive the
  // module. Without `planned_memory` the module allocates the planned buffers; without a tracer or options it
  // uses its own. Kernels in `kernel_registry` take precedence over registered ones for this method.
  //
  // Errors: InvalidArgument (no such method), OperatorMissing (each is logged), NotFound (backend, external
  // data), InvalidProgram, InvalidExternalData (shape or dtype differs from the program's), NotSupported,
  // MemoryAllocationFailed, or an error of a backend.
  ET_NODISCARD runtime::Error load_method(const std::string& method_name,
                                          runtime::HierarchicalAllocator* planned_memory = nullptr,
                                          torch::executor::EventTracer* event_tracer = nullptr,
                                          const LoadBackendOptionsMap* backend_options = nullptr,
                                          std::vector<Kernel> kernel_registry = {});
  // The same with another tracer only.
  ET_DEPRECATED ET_NODISCARD runtime::Error load_method(const std::string& method_name,
                                                        torch::executor::EventTracer* event_tracer);
  ET_NODISCARD runtime::Error load_forward(runtime::HierarchicalAllocator* planned_memory = nullptr,
                                           torch::executor::EventTracer* event_tracer = nullptr,
                                           const LoadBackendOptionsMap* backend_options = nullptr,
                                           std::vector<Kernel> kernel_registry = {});
  ET_DEPRECATED ET_NODISCARD runtime::Error load_forward(torch::executor::EventTracer* event_tracer);
  // Destroys a method and its planned memory; outputs and pointers to it become invalid. Returns false if it
  // was not loaded.
  bool unload_method(const std::string& method_name);
  bool unload_forward();
  bool is_method_loaded(const std::string& method_name) const;
  // The module keeps the method: the pointer is valid until the method is unloaded.
  ET_DEPRECATED ET_NODISCARD runtime::Result<Method*> method(const std::string& method_name);

  // Sets the first inputs, as many as given, and executes. Other inputs keep their value from set_input(); an
  // input without a value is an InvalidArgument. A tensor is copied if the program planned the input's
  // memory; otherwise it is used in place, and must stay valid as long as executions use it.
  //
  // Errors: as load_method() and set_input(); AccessFailed if a mapped file was overwritten since it was
  // opened; or the error of a kernel or backend.
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

  // Sets one input, or all; set_inputs() refuses another number of values with InvalidArgument. The shape may
  // be smaller than the program's if that is dynamic; a number must equal the one that the program was
  // exported with. Errors: InvalidArgument (index, shape, dim order, number), InvalidType (kind, dtype),
  // NotSupported (kind).
  ET_NODISCARD runtime::Error set_input(const std::string& method_name, const runtime::EValue& input_value,
                                        size_t input_index);
  ET_NODISCARD runtime::Error set_input(const runtime::EValue& input_value, size_t input_index);
  ET_NODISCARD runtime::Error set_inputs(const std::string& method_name,
                                         const std::vector<runtime::EValue>& input_values);
  ET_NODISCARD runtime::Error set_inputs(const std::vector<runtime::EValue>& input_values);

  // Lets an output that the program left unplanned use the memory of a tensor, which must hold the largest
  // shape and outlive the executions. Only the tensor's address and bytes count, not its dtype and shape.
  // set_outputs() sets all outputs. Errors: InvalidArgument (not a tensor, index, number of outputs, too few
  // bytes), InvalidState (the output is planned).
  ET_NODISCARD runtime::Error set_output(const std::string& method_name, runtime::EValue output_value,
                                         size_t output_index = 0);
  ET_NODISCARD runtime::Error set_output(runtime::EValue output_value, size_t output_index = 0);
  ET_NODISCARD runtime::Error set_outputs(const std::string& method_name,
                                          const std::vector<runtime::EValue>& output_values);
  ET_NODISCARD runtime::Error set_outputs(const std::vector<runtime::EValue>& output_values);
  // The outputs of the last execution, in the form of execute()'s result. Error: InvalidArgument (index).
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> get_outputs(const std::string& method_name);
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> get_outputs();
  ET_NODISCARD runtime::Result<runtime::EValue> get_output(const std::string& method_name,
                                                           size_t output_index = 0);
  ET_NODISCARD runtime::Result<runtime::EValue> get_output(size_t output_index = 0);

  // The tracer given at construction, or null.
  runtime::EventTracer* event_tracer() const;
  // Always empty: give the tracer a buffer of the application instead.
  ET_DEPRECATED ET_NODISCARD runtime::Span<uint8_t> debug_buffer();

 private:
  // The planned buffers of one method, and the data of the module: both in module.cpp.
  struct PlannedMemory;
  struct State;

  // Implements both forms of load().
  runtime::Error open_program(Program::Verification verification);
  // Allocates a method's planned buffers, aligned to 16 bytes, or takes them from the shared arenas.
  runtime::Result<std::unique_ptr<PlannedMemory>> plan(const std::string& method_name);
  // Loads a method if necessary and returns it.
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
