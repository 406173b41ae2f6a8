// SPDX-License-Identifier: BSD-3-Clause
// A .pte file, opened: rushlight::Program with the official members.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <executorch/runtime/backend/backend_options_map.h>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/method_meta.h>
#include <executorch/runtime/executor/pte_data_map.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/compiler.h>

namespace rushlight::compat {
class ProgramState;
}

namespace executorch::ET_RUNTIME_NAMESPACE {

class Program final {
 public:
  // How much is proven at load: here always everything.
  enum class Verification : uint8_t { Minimal, InternalConsistency };

  static constexpr uint32_t kMaxSupportedSchemaVersion = 0;

  // `loader` outlives the program. Errors: InvalidProgram, NotSupported, or the loader's.
  ET_NODISCARD static Result<Program> load(DataLoader* loader,
                                           Verification verification = Verification::Minimal);
  ET_DEPRECATED ET_NODISCARD static Result<Program> Load(DataLoader* loader,
                                                         Verification verification = Verification::Minimal) {
    return load(loader, verification);
  }

  Program(Program&& other) noexcept;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program& operator=(Program&&) = delete;
  ~Program();

  Result<const void*> get_constant_buffer_data(size_t buffer_idx, size_t nbytes) const;
  // The program's own named data. Error: NotFound where there are none.
  Result<const NamedDataMap*> get_named_data_map() const;

  size_t num_methods() const;
  Result<const char*> get_method_name(size_t method_index) const;  // InvalidArgument (index)
  Result<MethodMeta> method_meta(const char* method_name) const;   // InvalidArgument (name)

  // Everything given outlives the method. Kernels of `kernel_registry` come before those registered.
  Result<Method> load_method(const char* method_name, MemoryManager* memory_manager,
                             EventTracer* event_tracer = nullptr,
                             const NamedDataMap* named_data_map = nullptr,
                             const LoadBackendOptionsMap* backend_options = nullptr,
                             Span<const Kernel> kernel_registry = {}) const;

  ET_DEPRECATED Result<const char*> get_output_flattening_encoding(const char* method_name = "forward") const;

  enum HeaderStatus { CompatibleVersion, IncompatibleVersion, NotPresent, ShortData };
  static constexpr size_t kMinHeadBytes = 64;
  // Of the first bytes of a file.
  static HeaderStatus check_header(const void* data, size_t size);

 private:
  explicit Program(std::unique_ptr<rushlight::compat::ProgramState> state);

  std::unique_ptr<rushlight::compat::ProgramState> state_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::Program;
}
