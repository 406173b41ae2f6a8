// SPDX-License-Identifier: BSD-3-Clause
// A loaded program file (.pte): rushlight::Program with the official members. Weights stay in the memory of
// the data loader, where it permits that.
//
//   auto loader = FileDataLoader::from("model.pte");
//   auto program = Program::load(&loader.get());
//   auto method = program->load_method("forward", &memory_manager);
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

#include "compat/detail/tensor_mode.h"

namespace executorch_flatbuffer {
struct Program;
}

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {
class ProgramState;
struct ProgramAccess;
}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE

namespace executorch::ET_RUNTIME_NAMESPACE::testing {
class ProgramTestFriend;
}

namespace executorch::ET_RUNTIME_NAMESPACE {

// Does not change after load(). Must outlive its methods and every MethodMeta; moving it is permitted,
// because its state is on the heap.
class Program final {
 public:
  // The amount of verification at load. Both verify that the whole file can be read, so damaged files fail in
  // either mode; in ExecuTorch Minimal verifies the header only. InternalConsistency also verifies tensors
  // and lists by validate_program(), which loading a method does in any case.
  enum class Verification : uint8_t { Minimal, InternalConsistency };

  // The newest schema version of files that load() accepts.
  static constexpr uint32_t kMaxSupportedSchemaVersion = 0;

  // Reads the tables of a file and its constants; the other segments are loaded when a method needs them.
  // `loader` must outlive the program and its methods. Parts that are aligned to 4 but not to 16 bytes, as in
  // a bundled program, are copied to the heap.
  //
  // Errors: InvalidArgument (null), InvalidProgram (damaged, or not a .pte), NotSupported (unknown schema
  // version), or the loader's.
  ET_NODISCARD static Result<Program> load(DataLoader* loader,
                                           Verification verification = Verification::Minimal);
  ET_DEPRECATED ET_NODISCARD static Result<Program> Load(DataLoader* loader,
                                                         Verification verification = Verification::Minimal) {
    return load(loader, verification);
  }

  // The moved-from object may only be destroyed.
  Program(Program&& other) noexcept;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program& operator=(Program&&) = delete;
  ~Program();

  // The first `nbytes` bytes of a constant, in memory that is valid as long as the program. Index 0 means "no
  // data" in the file's tensors. Errors: InvalidArgument (an index of more than 32 bits), InvalidProgram (no
  // such constant, or it is smaller).
  Result<const void*> get_constant_buffer_data(size_t buffer_idx, size_t nbytes) const;
  // The program's named data, a map that the program owns. Error: NotFound (there is none), without a log
  // line.
  Result<const NamedDataMap*> get_named_data_map() const;

  // Methods in the order of the file. Names are valid as long as the program.
  size_t num_methods() const;
  Result<const char*> get_method_name(size_t method_index) const;  // InvalidArgument (index)
  Result<MethodMeta> method_meta(const char* method_name) const;   // InvalidArgument (name)

  // Verifies the method, looks its operators and backends up, and binds its values to the memory. Everything
  // that the arguments point to must outlive the method, except for the name: the memory manager with its
  // allocators, the tracer, the data map, the options, the kernels. So must the program.
  //
  // `event_tracer` is used in builds with EXECUTORCH_ENABLE_EVENT_TRACER. `named_data_map` (may be null) has
  // data that the program keeps in other files. Kernels in `kernel_registry` take precedence over registered
  // ones.
  //
  // Missing operators and backends are all logged before the call fails. Errors: InvalidArgument (a null name
  // or manager, no such method, a planned buffer that is not aligned to 16 bytes), OperatorMissing, NotFound
  // (a backend, external data), MemoryAllocationFailed (an allocator or planned buffer is too small),
  // NotSupported (such as memory on a device), InvalidProgram, InvalidExternalData (data that does not
  // match), or a backend's or kernel's.
  Result<Method> load_method(const char* method_name, MemoryManager* memory_manager,
                             EventTracer* event_tracer = nullptr,
                             const NamedDataMap* named_data_map = nullptr,
                             const LoadBackendOptionsMap* backend_options = nullptr,
                             Span<const Kernel> kernel_registry = {}) const;

  // The pytree of the method's outputs, as text that the exporter wrote. Errors: InvalidArgument (name),
  // InvalidProgram (the file has none).
  ET_DEPRECATED Result<const char*> get_output_flattening_encoding(const char* method_name = "forward") const;

  // The result of check_header(): the identifier is that of our version, that of another, missing, or beyond
  // the given bytes.
  enum HeaderStatus { CompatibleVersion, IncompatibleVersion, NotPresent, ShortData };
  static constexpr size_t kMinHeadBytes = 64;
  // Examines the first bytes of a file, without reading the rest: `size` is at least kMinHeadBytes, otherwise
  // ShortData is returned. Compares the identifier "ET12" at byte 4 only.
  static HeaderStatus check_header(const void* data, size_t size);

 private:
  friend struct rushlight::compat::ProgramAccess;
  friend class testing::ProgramTestFriend;

  explicit Program(std::unique_ptr<rushlight::compat::ProgramState> state);

  // Members that ExecuTorch's own tests access as friends, through ProgramTestFriend.

  // All bytes of the segment with `segment_info.segment_index`; the other members are ignored. Error:
  // NotFound (no such segment, or it is empty), or the loader's.
  ET_NODISCARD Result<FreeableBuffer> LoadSegment(const DataLoader::SegmentInfo& segment_info) const;
  // Copies the initial state of a mutable tensor, `size` bytes, to `buffer`. Errors: InvalidArgument (a null
  // buffer, an index of more than 32 bits), InvalidProgram (no such entry, or it is too small), or the
  // loader's.
  ET_NODISCARD Error load_mutable_subsegment_into(size_t mutable_data_segments_index, size_t offset_index,
                                                  size_t size, void* buffer) const;
  // The payload of a delegate that is stored in the program's tables rather than in a segment; null and 0 if
  // it is empty. It is valid as long as the program. Error: NotFound (index).
  ET_NODISCARD Error get_backend_delegate_data(size_t index, const void** out_data, size_t* out_size) const;

  std::unique_ptr<rushlight::compat::ProgramState> state_;
  const executorch_flatbuffer::Program* internal_program_;  // the root table, in the state's memory
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::Program;
}
