// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include <executorch/runtime/executor/program.h>

#include "compat/detail/method_state.h"
#include "runtime/program/schema.h"

namespace executorch::ET_RUNTIME_NAMESPACE {

using rushlight::compat::official;

Program::Program(std::unique_ptr<rushlight::compat::ProgramState> state) : state_(std::move(state)) {}
Program::Program(Program&&) noexcept = default;
Program::~Program() = default;

Result<Program> Program::load(DataLoader* loader, Verification) {
  ET_CHECK_OR_RETURN_ERROR(loader != nullptr, InvalidArgument, "the data loader is null");
  auto size = loader->size();
  if (!size.ok()) return size.error();
  auto state = std::make_unique<rushlight::compat::ProgramState>(loader);
  ET_CHECK_OK_OR_RETURN_ERROR(state->load());
  return Program(std::move(state));
}

Result<const void*> Program::get_constant_buffer_data(size_t buffer_idx, size_t nbytes) const {
  ET_CHECK_OR_RETURN_ERROR(buffer_idx <= UINT32_MAX, InvalidArgument, "constant %zu", buffer_idx);
  auto data = state_->program().constant(static_cast<uint32_t>(buffer_idx), nbytes);
  if (!data.ok()) return official(data.error());
  return *data;
}

Result<const NamedDataMap*> Program::get_named_data_map() const {
  auto count = state_->named_data()->get_num_keys();
  if (!count.ok()) return count.error();
  if (*count == 0) return Error::NotFound;
  return state_->named_data();
}

size_t Program::num_methods() const { return state_->program().num_methods(); }

Result<const char*> Program::get_method_name(size_t method_index) const {
  ET_CHECK_OR_RETURN_ERROR(method_index < num_methods(), InvalidArgument, "method %zu of %zu", method_index,
                           num_methods());
  return state_->program().method_name(method_index);
}

Result<MethodMeta> Program::method_meta(const char* method_name) const {
  ET_CHECK_OR_RETURN_ERROR(method_name != nullptr, InvalidArgument, "the method's name is null");
  auto meta = state_->program().method_meta(method_name);
  if (!meta.ok())
    return meta.error() == rushlight::Error::NotFound ? Error::InvalidArgument : official(meta.error());
  return MethodMeta(*meta);
}

Result<Method> Program::load_method(const char* method_name, MemoryManager* memory_manager,
                                    EventTracer* event_tracer, const NamedDataMap* named_data_map,
                                    const LoadBackendOptionsMap* backend_options,
                                    Span<const Kernel> kernel_registry) const {
  ET_CHECK_OR_RETURN_ERROR(method_name != nullptr && memory_manager != nullptr, InvalidArgument,
                           "the method's name or memory is null");
  auto state = std::make_unique<rushlight::compat::MethodState>(memory_manager, event_tracer, named_data_map,
                                                                backend_options);
  ET_CHECK_OK_OR_RETURN_ERROR(state->load(state_->program(), method_name, kernel_registry));
  return Method(std::move(state));
}

Result<const char*> Program::get_output_flattening_encoding(const char* method_name) const {
  auto meta = method_meta(method_name);
  if (!meta.ok()) return meta.error();
  constexpr unsigned kOutputEncoding = 1;  // after that of the inputs
  return meta->rushlight_meta()
      .plan()
      .table(rushlight::schema::plan::kContainerMetaType)
      .string(kOutputEncoding);
}

Program::HeaderStatus Program::check_header(const void* data, size_t size) {
  constexpr size_t kIdentifierOffset = 4;
  if (size < kMinHeadBytes) return ShortData;
  const char* identifier = static_cast<const char*>(data) + kIdentifierOffset;
  if (std::memcmp(identifier, "ET", 2) != 0) return NotPresent;
  return std::memcmp(identifier, "ET12", 4) == 0 ? CompatibleVersion : IncompatibleVersion;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
