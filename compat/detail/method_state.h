// SPDX-License-Identifier: BSD-3-Clause
// The data of an official Program or Method, at an address that does not change when they move: methods point
// to their program, and backends to their method. Official objects hold a unique_ptr to it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/executor/platform_memory_allocator.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/pte_data_map.h>

#include "compat/detail/data_map.h"
#include "compat/detail/registry.h"
#include "compat/detail/stack.h"
#include "compat/detail/tensor_mode.h"
#include "compat/detail/tracer.h"
#ifdef USE_ATEN_LIB
#include "aten/operators.h"
#endif
#include "runtime/executor/method.h"
#include "runtime/module/weight_store.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

// An official loader as rushlight's loader of a program. It passes the segment information that official
// loaders receive (program, constant, backend, mutable), which it finds by offset in the program's tables.
// These are verified before any other part is loaded. `loader` is not owned.
class ProgramLoader final : public DataLoader {
 public:
  explicit ProgramLoader(et::DataLoader* loader) : loader_(loader) {}

  // The bytes, aligned to 16; see aligned() in data_map.h. Errors: the official loader's,
  // MemoryAllocationFailed.
  Result<FreeableBuffer> load(size_t offset, size_t size) override;
  // 0 if the official loader reports an error: loading then fails.
  size_t size() const override {
    auto size = loader_->size();
    return size.ok() ? *size : 0;
  }
  et::DataLoader* official_loader() { return loader_; }

 private:
  // The segment that begins at or contains `offset`; Program if there is none.
  [[nodiscard]] et::DataLoader::SegmentInfo info_of(size_t offset) const;

  et::DataLoader* loader_;
  Span<const uint8_t> program_;  // the last part loaded from the start of the file
};

// A verified program with its named data.
class ProgramState {
 public:
  explicit ProgramState(et::DataLoader* loader) : loader_(loader) {}
  // Loads and verifies the program, and opens its named data. Called once, before any other function. Errors:
  // InvalidProgram, NotSupported, or the loader's.
  et::Error load();

  [[nodiscard]] const Program& program() const { return *program_; }
  // Null without named data.
  [[nodiscard]] const et::NamedDataMap* named_data() const {
    return named_data_.has_value() ? &*named_data_ : nullptr;
  }
  // The root table in the program's memory, as the class that the official schema header declares.
  [[nodiscard]] const executorch_flatbuffer::Program* tables() const {
    return reinterpret_cast<const executorch_flatbuffer::Program*>(program_->root().address());
  }

 private:
  ProgramLoader loader_;
  std::optional<Program> program_;
  std::optional<et::internal::PteDataMap> named_data_;
};

class MethodState;

// An official backend, as rushlight calls it for one method. Its handle points to a heap object with the
// backend's own handle and the payload as an official buffer, which the backend may free when it has read it.
class OurBackend final : public Backend {
 public:
  OurBackend(const et::Backend& backend, MethodState* method) : backend_(&backend), method_(method) {}

  [[nodiscard]] bool is_available() const override { return backend_->backend->is_available(); }
  [[nodiscard]] Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                             Span<const CompileSpec> specs) const override;
  Error execute(BackendExecuteContext& context, DelegateHandle* handle,
                Span<EValue* const> arguments) const override;
  void destroy(DelegateHandle* handle) const override;

 private:
  const et::Backend* backend_;
  MethodState* method_;
};

// All registered backends, in order of registration; at most 16, in an array of fixed address.
et::Span<const et::Backend> registered_backends();

// A loaded method with everything that it points to. Memory comes from the MemoryManager for values (method
// allocator) and planned buffers; packed weights, backends' tables and a minimum of scratch come from the
// heap.
class MethodState {
 public:
  // All arguments must outlive the object; tracer, data and options may be null.
  MethodState(et::MemoryManager* memory, et::EventTracer* tracer, const et::NamedDataMap* external_data,
              const et::LoadBackendOptionsMap* backend_options);

  // Loads the method and prepares its constants. `kernels` take precedence over registered ones and must
  // outlive the object. Errors: InvalidArgument (no such method), MemoryAllocationFailed, or as
  // rushlight::Method::load().
  et::Error load(const Program& program, const char* name, et::Span<const et::Kernel> kernels);
  // Executes with scratch from the temporary allocator, without one from the platform's, and resets that
  // allocator. If it provides less than the kernels need, uses the heap's minimum.
  et::Error execute();

  Method& method() { return *method_; }
  et::MemoryAllocator* method_allocator() { return memory_->method_allocator(); }
  et::EventTracer* tracer() { return tracer_.official_tracer(); }
  // The options of one backend; empty without any.
  [[nodiscard]] et::Span<const et::BackendOption> options_of(const char* backend) const {
    return backend_options_ == nullptr ? et::Span<const et::BackendOption>()
                                       : backend_options_->get_options(backend);
  }
  // Memory for the inputs of a bundled case; valid until the next case.
  Span<uint8_t> bundled_memory(size_t size) {
    bundled_memory_.resize(size);
    return {bundled_memory_.data(), size};
  }
#ifdef USE_ATEN_LIB
  std::map<const EValue*, OfficialView> views;         // of inputs and outputs that were accessed
  std::map<size_t, std::unique_ptr<OurValue>> inputs;  // by index; they keep the memory of tensors
#endif
  bool stepped = false;         // true if step() has executed the method
  std::vector<bool> has_input;  // per input: true if it has a value

 private:
  // Tables of `kernels`, then of `others`: registered kernels and the build's, in ATen mode PyTorch's, too.
  const OperatorTable& operators(et::Span<const et::Kernel> kernels, const OperatorTable& others);
  // Backends registered at run time, then the build's.
  void list_backends();
  // Lets kernels pack their constants, in heap memory, and sizes the minimum of scratch.
  Error prepare();

  et::MemoryManager* memory_;
  et::internal::PlatformMemoryAllocator platform_memory_;
  OurTracer tracer_;
  std::optional<OurDataMap> external_data_;
  const et::LoadBackendOptionsMap* backend_options_;
  Arena arena_;
  Arena temporary_;
  std::vector<uint8_t> bundled_memory_;
  std::vector<uint8_t> scratch_;  // for kernels, if temporary memory is too small
  WeightStore weights_;
  std::vector<Span<uint8_t>> planned_;
  std::vector<OurBackend> backends_;
  std::vector<BackendEntry> backend_entries_;
  BackendTable backend_table_ = {nullptr, 0};
  std::vector<std::unique_ptr<RegisteredOperator>> own_operators_;
  std::vector<std::unique_ptr<Choice>> choices_;
#ifdef USE_ATEN_LIB
  std::optional<rushlight::aten::Operators> aten_operators_;
#endif
  std::optional<Method> method_;  // last, so that it is destroyed first
};

// Error: InvalidState if the state is null, which means that its Method was moved from.
inline et::Error check_present(const MethodState* state) {
  ET_CHECK_OR_RETURN_ERROR(state != nullptr, InvalidState, "method: object was moved from");
  return et::Error::Ok;
}

// Gives functions outside of a class access to its data.
struct ProgramAccess {
  static const Program& program(const et::Program& program) { return program.state_->program(); }
};
struct MethodAccess {
  static et::Error check_present(const et::Method& method) {
    return rushlight::compat::check_present(method.state_.get());
  }
  static MethodState& state(et::Method& method) { return *method.state_; }
};

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
