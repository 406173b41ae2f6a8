// SPDX-License-Identifier: BSD-3-Clause
// Sinks for logged values, and ETDumpGen as an adapter of rushlight's writer. The official tracer holds the
// current instruction and bundled input in its base class, the writer in its own: each event passes them on.
#include "runtime/trace/etdump.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <executorch/devtools/etdump/data_sinks/file_data_sink.h>
#include <executorch/devtools/etdump/etdump_flatcc.h>

#include "compat/detail/convert.h"
#include "compat/detail/stack.h"
#include "runtime/base/checked.h"

namespace executorch::etdump {

using runtime::Error;
using runtime::Span;

#ifndef USE_ATEN_LIB  // the same in both modes
Result<BufferDataSink> BufferDataSink::create(Span<uint8_t> buffer, size_t alignment) noexcept {
  ET_CHECK_OR_RETURN_ERROR(alignment != 0 && (alignment & (alignment - 1)) == 0, InvalidArgument,
                           "alignment: expected a power of two, got %zu", alignment);
  return BufferDataSink(buffer, alignment);
}

Result<BufferDataSink> BufferDataSink::create(void* ptr, size_t size, size_t alignment) noexcept {
  return create({static_cast<uint8_t*>(ptr), size}, alignment);
}

Result<size_t> BufferDataSink::write(const void* ptr, size_t size) {
  // An empty tensor takes no bytes, not even padding.
  if (size == 0) return used_;
  // Aligned in memory, for readers on the device.
  const auto start = reinterpret_cast<uintptr_t>(buffer_.data());
  const size_t offset = rushlight::align_up(start + used_, alignment_) - start;
  ET_CHECK_OR_RETURN_ERROR(rushlight::range_fits(offset, size, buffer_.size()), OutOfResources,
                           "data: %zu bytes at offset %zu exceed its %zu bytes", size, offset,
                           buffer_.size());
  std::memcpy(buffer_.data() + offset, ptr, size);
  used_ = offset + size;
  return offset;
}

Result<FileDataSink> FileDataSink::create(const char* file_path) {
  FILE* file = std::fopen(file_path, "wb");
  ET_CHECK_OR_RETURN_ERROR(file != nullptr, AccessFailed, "%s: %s", file_path, std::strerror(errno));
  return FileDataSink(file);
}

FileDataSink& FileDataSink::operator=(FileDataSink&& other) noexcept {
  if (this == &other) return *this;
  close();
  file_ = other.file_;
  written_ = other.written_;
  other.file_ = nullptr;
  return *this;
}

Result<size_t> FileDataSink::write(const void* ptr, size_t size) {
  ET_CHECK_OR_RETURN_ERROR(file_ != nullptr, AccessFailed, "file: closed");
  const size_t offset = written_;
  // Counts a partial write too, so that later offsets stay those in the file.
  written_ += std::fwrite(ptr, 1, size, file_);
  ET_CHECK_OR_RETURN_ERROR(written_ == offset + size, AccessFailed,
                           "file: only %zu of %zu bytes were written", written_ - offset, size);
  return offset;
}

void FileDataSink::close() {
  if (file_ != nullptr) std::fclose(file_);
  file_ = nullptr;
}
#endif

}  // namespace executorch::etdump

namespace executorch::etdump::internal RUSHLIGHT_TENSOR_MODE {

using rushlight::compat::ours;

// rushlight's writer with its sink and filter: the official ones behind rushlight's interfaces. The writer
// refers to this object, so ETDumpGen holds it by pointer.
class ETDumpState final : public rushlight::DataSink, public rushlight::EventTracerFilter {
 public:
  // Untouched pages use no memory.
  static constexpr size_t kOwnBytes = size_t{64} << 20;

  explicit ETDumpState(Span<uint8_t> buffer)
      : own(buffer.empty() ? static_cast<uint8_t*>(std::malloc(kOwnBytes)) : nullptr),
        writer(own == nullptr ? rushlight::Span<uint8_t>(buffer)
                              : rushlight::Span<uint8_t>(own.get(), kOwnBytes)) {}

  // The writer calls write() only with a sink and filter() only with a filter, so neither is null here.
  rushlight::Result<size_t> write(const void* data, size_t size) override {
    auto offset = sink->write(data, size);
    if (!offset.ok()) return ours(offset.error());
    return *offset;
  }
  rushlight::Result<bool> filter(rushlight::DelegateEventId id) override {
    auto wanted = official_filter->filter(id.name, id.index);
    if (!wanted.ok()) return ours(wanted.error());
    return *wanted;
  }

  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<uint8_t, Free> own;
  rushlight::ETDump writer;
  BufferDataSink buffer_sink;
  DataSinkBase* sink = nullptr;
  EventTracerFilterBase* official_filter = nullptr;
};

}  // namespace executorch::etdump::internalRUSHLIGHT_TENSOR_MODE

namespace executorch::etdump RUSHLIGHT_TENSOR_MODE {

using runtime::EventTracerEntry;
using rushlight::compat::official;
using rushlight::compat::ours;

namespace {

// The same fields in both forms; the event's id has a meaning for the writer only.
EventTracerEntry entry_of(const rushlight::EventTracerEntry& entry) {
  return {entry.event_id, entry.chain_id, entry.debug_handle, entry.start_time,
          static_cast<runtime::DelegateDebugIdType>(entry.delegate_id_kind)};
}

rushlight::EventTracerEntry entry_of(const EventTracerEntry& entry) {
  return {entry.event_id, entry.chain_id, entry.debug_handle, entry.start_time,
          static_cast<rushlight::DelegateIdKind>(entry.delegate_event_id_type)};
}

rushlight::Span<const uint8_t> bytes(const void* data, size_t size) {
  return {static_cast<const uint8_t*>(data), data == nullptr ? 0 : size};
}

Result<bool> logged(const rushlight::Result<bool>& result) {
  if (!result.ok()) return official(result.error());
  return *result;
}

}  // namespace

ETDumpGen::ETDumpGen(Span<uint8_t> buffer) : state_(std::make_unique<internal::ETDumpState>(buffer)) {}
ETDumpGen::~ETDumpGen() = default;

void ETDumpGen::clear_builder() { state_->writer.reset(); }
void ETDumpGen::reset() { state_->writer.reset(); }
size_t ETDumpGen::get_num_blocks() { return state_->writer.num_blocks(); }
bool ETDumpGen::is_static_etdump() { return state_->own == nullptr; }

ETDumpResult ETDumpGen::get_etdump_data() {
  const auto file = state_->writer.finish();
  if (file.empty()) return {nullptr, 0};
  if (is_static_etdump()) return {const_cast<uint8_t*>(file.data()), file.size()};
  // The official contract: free() by the caller. The writer's memory is used again.
  void* copy = std::malloc(file.size());
  if (copy == nullptr) return {nullptr, 0};
  std::memcpy(copy, file.data(), file.size());
  return {copy, file.size()};
}

Result<bool> ETDumpGen::set_debug_buffer(Span<uint8_t> buffer) {
  ET_CHECK_OR_RETURN_ERROR(!buffer.empty(), InvalidArgument, "debug buffer: expected memory, got none");
  auto sink = BufferDataSink::create(buffer);
  if (!sink.ok()) return sink.error();
  // Owned here; a sink from set_data_sink() is the caller's.
  state_->buffer_sink = std::move(*sink);
  set_data_sink(&state_->buffer_sink);
  return true;
}

void ETDumpGen::set_data_sink(DataSinkBase* data_sink) {
  state_->sink = data_sink;
  state_->writer.set_data_sink(data_sink == nullptr ? nullptr : state_.get());
}

DataSinkBase* ETDumpGen::get_data_sink() { return state_->sink; }

void ETDumpGen::create_event_block(const char* name) {
  // A block records the bundled input that is set when it begins.
  state_->writer.set_bundled_input_index(bundled_input_index());
  state_->writer.create_event_block(name);
}

EventTracerEntry ETDumpGen::start_profiling(const char* name, runtime::ChainID chain_id,
                                            runtime::DebugHandle debug_handle) {
  state_->writer.set_chain_debug_handle(current_chain_id(), current_debug_handle());
  return entry_of(state_->writer.start_profiling(name, chain_id, debug_handle));
}

void ETDumpGen::end_profiling(EventTracerEntry prof_entry) {
  state_->writer.end_profiling(entry_of(prof_entry));
}

EventTracerEntry ETDumpGen::start_profiling_delegate(const char* name, DelegateDebugIntId index) {
  state_->writer.set_chain_debug_handle(current_chain_id(), current_debug_handle());
  return entry_of(state_->writer.start_profiling_delegate({name, index}));
}

void ETDumpGen::end_profiling_delegate(EventTracerEntry prof_entry, const void* metadata,
                                       size_t metadata_len) {
  state_->writer.end_profiling_delegate(entry_of(prof_entry), bytes(metadata, metadata_len));
}

void ETDumpGen::log_profiling_delegate(const char* name, DelegateDebugIntId index, et_timestamp_t start_time,
                                       et_timestamp_t end_time, const void* metadata, size_t metadata_len) {
  state_->writer.set_chain_debug_handle(current_chain_id(), current_debug_handle());
  state_->writer.log_profiling_delegate({name, index}, start_time, end_time, bytes(metadata, metadata_len));
}

void ETDumpGen::track_allocation(runtime::AllocatorID id, size_t size) {
  state_->writer.track_allocation(id, size);
}
runtime::AllocatorID ETDumpGen::track_allocator(const char* name) {
  return state_->writer.track_allocator(name);
}

Result<bool> ETDumpGen::log_evalue(const runtime::EValue& evalue, runtime::LoggedEValueType evalue_type) {
  state_->writer.set_chain_debug_handle(current_chain_id(), current_debug_handle());
#ifdef USE_ATEN_LIB
  runtime::EValue copy = evalue;
  runtime::EValue* pointer = &copy;
  const rushlight::compat::OurStack views({&pointer, size_t{1}});
  if (views.error() != rushlight::Error::Ok) return official(views.error());
  return logged(
      state_->writer.log_value(*views.values()[0], static_cast<rushlight::LoggedValue>(evalue_type)));
#else
  return logged(state_->writer.log_value(evalue, static_cast<rushlight::LoggedValue>(evalue_type)));
#endif
}

Result<bool> ETDumpGen::log_intermediate_output_delegate(const char* name, DelegateDebugIntId index,
                                                         const executorch::aten::Tensor& output) {
#ifdef USE_ATEN_LIB
  const rushlight::compat::OurValue view((runtime::EValue(output)));
  if (view.error() != rushlight::Error::Ok) return official(view.error());
  return logged(state_->writer.log_delegate_output({name, index}, view.value()));
#else
  return logged(state_->writer.log_delegate_output({name, index}, runtime::EValue(output)));
#endif
}
Result<bool> ETDumpGen::log_intermediate_output_delegate(
    const char* name, DelegateDebugIntId index, const runtime::ArrayRef<executorch::aten::Tensor> output) {
#ifdef USE_ATEN_LIB
  std::vector<rushlight::compat::OurValue> views;
  std::vector<rushlight::Tensor> list;
  for (const auto& tensor : output) {
    views.emplace_back(runtime::EValue(tensor));
    if (views.back().error() != rushlight::Error::Ok) return official(views.back().error());
    list.push_back(views.back().value().to_tensor());
  }
  const rushlight::Span<const rushlight::Tensor> tensors(list.data(), list.size());
#else
  const rushlight::Span<const rushlight::Tensor> tensors(output.data(), output.size());
#endif
  return logged(state_->writer.log_delegate_output({name, index}, tensors));
}
Result<bool> ETDumpGen::log_intermediate_output_delegate(const char* name, DelegateDebugIntId index,
                                                         const int& output) {
  return logged(state_->writer.log_delegate_output({name, index}, rushlight::EValue(int64_t{output})));
}
Result<bool> ETDumpGen::log_intermediate_output_delegate(const char* name, DelegateDebugIntId index,
                                                         const bool& output) {
  return logged(state_->writer.log_delegate_output({name, index}, rushlight::EValue(output)));
}
Result<bool> ETDumpGen::log_intermediate_output_delegate(const char* name, DelegateDebugIntId index,
                                                         const double& output) {
  return logged(state_->writer.log_delegate_output({name, index}, rushlight::EValue(output)));
}

void ETDumpGen::set_delegation_intermediate_output_filter(EventTracerFilterBase* event_tracer_filter) {
  state_->official_filter = event_tracer_filter;
  state_->writer.set_delegate_output_filter(event_tracer_filter == nullptr ? nullptr : state_.get());
}

}  // namespace executorch::etdumpRUSHLIGHT_TENSOR_MODE
