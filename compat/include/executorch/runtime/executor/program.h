// SPDX-License-Identifier: BSD-3-Clause
// A loaded program file (.pte): rushlight::Program with the official members.
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
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch_flatbuffer {
struct Program;
}

namespace rushlight::compat {
class ProgramState;
struct ProgramAccess;
}  // namespace rushlight::compat

namespace executorch::ET_RUNTIME_NAMESPACE::testing {
class ProgramTestFriend;
}

namespace executorch::ET_RUNTIME_NAMESPACE {

class Program final {
 public:
  // The amount of verification at load. Both verify that the whole file can be read; InternalConsistency also
  // verifies tensors and lists, which loading a method does in any case.
  enum class Verification : uint8_t { Minimal, InternalConsistency };

  static constexpr uint32_t kMaxSupportedSchemaVersion = 0;

  // `loader` must outlive the program. Errors: InvalidProgram, NotSupported, or the loader's.
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
  // The program's named data. Error: NotFound (there is none).
  Result<const NamedDataMap*> get_named_data_map() const;

  size_t num_methods() const;
  Result<const char*> get_method_name(size_t method_index) const;  // InvalidArgument (index)
  Result<MethodMeta> method_meta(const char* method_name) const;   // InvalidArgument (name)

  // All arguments must outlive the method. Kernels in `kernel_registry` take precedence over registered ones.
  Result<Method> load_method(const char* method_name, MemoryManager* memory_manager,
                             EventTracer* event_tracer = nullptr,
                             const NamedDataMap* named_data_map = nullptr,
                             const LoadBackendOptionsMap* backend_options = nullptr,
                             Span<const Kernel> kernel_registry = {}) const;

  ET_DEPRECATED Result<const char*> get_output_flattening_encoding(const char* method_name = "forward") const;

  enum HeaderStatus { CompatibleVersion, IncompatibleVersion, NotPresent, ShortData };
  static constexpr size_t kMinHeadBytes = 64;
  // Examines the first bytes of a file.
  static HeaderStatus check_header(const void* data, size_t size);

 private:
  friend struct rushlight::compat::ProgramAccess;
  friend class testing::ProgramTestFriend;

  explicit Program(std::unique_ptr<rushlight::compat::ProgramState> state);

  // ---- Members that ExecuTorch's own tests access as friends ----

  // Error: NotFound (no such segment, or it is empty), or the loader's.
  ET_NODISCARD Result<FreeableBuffer> LoadSegment(const DataLoader::SegmentInfo& segment_info) const;
  // Copies the initial state of a mutable tensor. Error: InvalidProgram (no such entry, or it is too small),
  // or the loader's.
  ET_NODISCARD Error load_mutable_subsegment_into(size_t mutable_data_segments_index, size_t offset_index,
                                                  size_t size, void* buffer) const;
  // The payload of a delegate that is stored in the program. Error: NotFound (index).
  ET_NODISCARD Error get_backend_delegate_data(size_t index, const void** out_data, size_t* out_size) const;

  std::unique_ptr<rushlight::compat::ProgramState> state_;
  const executorch_flatbuffer::Program* internal_program_;  // the root table, in the state's memory
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::Program;
}
