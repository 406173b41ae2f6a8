// SPDX-License-Identifier: BSD-3-Clause
// The official Program: rushlight's under the official functions and error codes. A missing method is
// InvalidArgument there and NotFound here.
#include <cstring>

#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/program_validation.h>
#include <executorch/schema/program_generated.h>

#include "compat/detail/method_state.h"
#include "runtime/program/schema.h"

namespace executorch::ET_RUNTIME_NAMESPACE {

using rushlight::compat::official;

Program::Program(std::unique_ptr<rushlight::compat::ProgramState> state)
    : state_(std::move(state)), internal_program_(state_->tables()) {}
Program::Program(Program&&) noexcept = default;
Program::~Program() = default;

Result<Program> Program::load(DataLoader* loader, Verification verification) {
  ET_CHECK_OR_RETURN_ERROR(loader != nullptr, InvalidArgument, "the data loader is null");
  // Asked first, because rushlight's loaders cannot report an error of it.
  auto size = loader->size();
  if (!size.ok()) return size.error();
  auto state = std::make_unique<rushlight::compat::ProgramState>(loader);
  ET_CHECK_OK_OR_RETURN_ERROR(state->load());
  // load() has verified the structure of the file in any case; this adds the official check of all tensors.
  if (verification == Verification::InternalConsistency)
    ET_CHECK_OK_OR_RETURN_ERROR(runtime::validate_program(state->tables()));
  return Program(std::move(state));
}

Result<const void*> Program::get_constant_buffer_data(size_t buffer_idx, size_t nbytes) const {
  ET_CHECK_OR_RETURN_ERROR(buffer_idx <= UINT32_MAX, InvalidArgument, "constant %zu", buffer_idx);
  // Bounds are checked by the runtime: the constant must have `nbytes` bytes or more.
  auto data = state_->program().constant(static_cast<uint32_t>(buffer_idx), nbytes);
  if (!data.ok()) return official(data.error());
  return *data;
}

Result<const NamedDataMap*> Program::get_named_data_map() const {
  if (state_->named_data() == nullptr) return Error::NotFound;
  return state_->named_data();
}

size_t Program::num_methods() const { return state_->program().num_methods(); }

Result<const char*> Program::get_method_name(size_t method_index) const {
  ET_CHECK_OR_RETURN_ERROR(method_index < num_methods(), InvalidArgument,
                           "method %zu: expected an index below %zu", method_index, num_methods());
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
  // A table of the generated schema classes is its address in the file, as rushlight's is.
  const auto* plan =
      reinterpret_cast<const executorch_flatbuffer::ExecutionPlan*>(meta->rushlight_meta().plan().address());
  const auto* structure = plan->container_meta_type();
  ET_CHECK_OR_RETURN_ERROR(structure != nullptr && structure->encoded_out_str() != nullptr, InvalidProgram,
                           "method %s: no structure of outputs in the program", method_name);
  return structure->encoded_out_str()->c_str();
}

Result<FreeableBuffer> Program::LoadSegment(const DataLoader::SegmentInfo& segment_info) const {
  const auto* segments = internal_program_->segments();
  // An empty segment counts as missing.
  const size_t index = segment_info.segment_index;
  ET_CHECK_OR_RETURN_ERROR(segments != nullptr && index < segments->size() &&
                               segments->Get(static_cast<uint32_t>(index))->size() > 0,
                           NotFound, "segment %zu: missing or empty", index);
  auto data = state_->program().load_segment(index);
  if (!data.ok()) return official(data.error());
  return official(std::move(*data));
}

Error Program::load_mutable_subsegment_into(size_t mutable_data_segments_index, size_t offset_index,
                                            size_t size, void* buffer) const {
  ET_CHECK_OR_RETURN_ERROR(offset_index <= UINT32_MAX && buffer != nullptr, InvalidArgument,
                           "entry %zu: out of range, or the buffer is null", offset_index);
  return official(state_->program().load_mutable(mutable_data_segments_index,
                                                 static_cast<uint32_t>(offset_index), buffer, size));
}

Error Program::get_backend_delegate_data(size_t index, const void** out_data, size_t* out_size) const {
  const auto* held = internal_program_->backend_delegate_data();
  ET_CHECK_OR_RETURN_ERROR(held != nullptr && index < held->size(), NotFound,
                           "delegate data %zu: expected an index below %u", index,
                           held == nullptr ? 0 : held->size());
  const auto* bytes = held->Get(static_cast<uint32_t>(index))->data();
  *out_data = bytes == nullptr ? nullptr : bytes->data();
  *out_size = bytes == nullptr ? 0 : bytes->size();
  return Error::Ok;
}

Program::HeaderStatus Program::check_header(const void* data, size_t size) {
  // "ET12" is the identifier of the format; other digits are another version of it.
  constexpr size_t kIdentifierOffset = 4;
  if (size < kMinHeadBytes) return ShortData;
  const char* identifier = static_cast<const char*>(data) + kIdentifierOffset;
  if (std::memcmp(identifier, "ET", 2) != 0) return NotPresent;
  return std::memcmp(identifier, "ET12", 4) == 0 ? CompatibleVersion : IncompatibleVersion;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
