// SPDX-License-Identifier: BSD-3-Clause
// An event tracer that writes ETDump files (.etdp), which ExecuTorch's Inspector reads: rushlight::ETDump
// under the official interface, without flatcc.
//
//   ETDumpGen tracer;
//   auto method = program->load_method("forward", &memory, &tracer);
//   method->execute();
//   ETDumpResult file = tracer.get_etdump_data();
//
// Tracing is compiled in with EXECUTORCH_ENABLE_EVENT_TRACER. An executed operator takes 88 bytes, plus its
// name once. Events that do not fit are dropped, and the file stays valid.
#pragma once

#include <cstdint>
#include <memory>

#include <executorch/devtools/etdump/data_sinks/buffer_data_sink.h>
#include <executorch/devtools/etdump/data_sinks/data_sink_base.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/platform.h>

#include "compat/detail/tensor_mode.h"

#define ETDUMP_VERSION 0

struct flatcc_builder;

namespace executorch::etdump RUSHLIGHT_TENSOR_MODE {

using ::executorch::runtime::DelegateDebugIntId;
using ::executorch::runtime::EventTracerFilterBase;
using ::executorch::runtime::Result;

}  // namespace executorch::etdumpRUSHLIGHT_TENSOR_MODE

namespace executorch::etdump::internal RUSHLIGHT_TENSOR_MODE {

// Memory in two parts: the front for building, the back for the file. For code that names it; rushlight's
// writer does not use it.
struct ETDumpStaticAllocator {
  uint8_t* data = nullptr;
  size_t data_size = 0, allocated = 0;
  size_t out_size = 0, front_left = 0;
  uint8_t* front_cursor = nullptr;

  // The first `alloc_buf_size` of `total_buf_size` bytes are for building; precondition: alloc_buf_size <=
  // total_buf_size. The buffer is not owned.
  void set_buffer(uint8_t* buffer, size_t total_buf_size, size_t alloc_buf_size) {
    *this = ETDumpStaticAllocator();
    data = buffer;
    data_size = alloc_buf_size;
    front_left = out_size = total_buf_size - data_size;
    front_cursor = data + total_buf_size;
  }
};

class ETDumpState;

}  // namespace executorch::etdump::internalRUSHLIGHT_TENSOR_MODE

namespace executorch::etdump RUSHLIGHT_TENSOR_MODE {

// A finished file; null and 0 if there is none.
struct ETDumpResult {
  void* buf;
  size_t size;
};

// Not thread-safe. A method calls the functions of EventTracer; an application calls the others.
class ETDumpGen : public ::executorch::runtime::EventTracer {
 public:
  // Writes to `buffer`, which must outlive the tracer and the file. Without one the tracer allocates 64 MiB,
  // of which untouched pages use no memory.
  ETDumpGen(::executorch::runtime::Span<uint8_t> buffer = {nullptr, size_t{0}});
  ETDumpGen(const ETDumpGen&) = delete;
  ETDumpGen& operator=(const ETDumpGen&) = delete;
  ~ETDumpGen() override;

  // Both discard all events.
  void clear_builder();
  void reset();
  // Completes the file and returns it, or null if there is none: the memory was too small even for an empty
  // file. In a buffer of the caller it is valid until the next event block, which begins a new file. If the
  // memory is the tracer's own, the result is a copy, which the caller must free().
  ETDumpResult get_etdump_data();
  // Number of event blocks: one per load and execution of a method.
  size_t get_num_blocks();
  // True if the caller provided the memory.
  bool is_static_etdump();

  // Enables logging of values and sets the storage of their bytes, each aligned to 64, which must outlive the
  // tracer's use. The tracer's debug level determines the values that methods log. Error: InvalidArgument (no
  // memory).
  Result<bool> set_debug_buffer(::executorch::runtime::Span<uint8_t> buffer);
  // The same with any storage, which is not owned; null disables logging of values. get_data_sink() is null
  // then.
  void set_data_sink(DataSinkBase* data_sink);
  DataSinkBase* get_data_sink();

  // Events; see EventTracer. Names are copied. The events of delegates identify them by a name or, if that is
  // null, by an integer.
  void create_event_block(const char* name) override;
  ::executorch::runtime::EventTracerEntry start_profiling(
      const char* name, ::executorch::runtime::ChainID chain_id = -1,
      ::executorch::runtime::DebugHandle debug_handle = 0) override;
  void end_profiling(::executorch::runtime::EventTracerEntry prof_entry) override;
  ::executorch::runtime::EventTracerEntry start_profiling_delegate(
      const char* name, DelegateDebugIntId delegate_debug_index) override;
  void end_profiling_delegate(::executorch::runtime::EventTracerEntry prof_entry, const void* metadata,
                              size_t metadata_len) override;
  void log_profiling_delegate(const char* name, DelegateDebugIntId delegate_debug_index,
                              et_timestamp_t start_time, et_timestamp_t end_time, const void* metadata,
                              size_t metadata_len) override;
  void track_allocation(::executorch::runtime::AllocatorID id, size_t size) override;
  ::executorch::runtime::AllocatorID track_allocator(const char* name) override;
  // Values. They return false if nothing was logged: no sink, or excluded by the filter. Errors:
  // OutOfResources (the file's memory is full), NotSupported (kind of value), or the sink's.
  Result<bool> log_evalue(const ::executorch::runtime::EValue& evalue,
                          ::executorch::runtime::LoggedEValueType evalue_type =
                              ::executorch::runtime::LoggedEValueType::kIntermediateOutput) override;
  Result<bool> log_intermediate_output_delegate(const char* name, DelegateDebugIntId delegate_debug_index,
                                                const executorch::aten::Tensor& output) override;
  Result<bool> log_intermediate_output_delegate(
      const char* name, DelegateDebugIntId delegate_debug_index,
      const ::executorch::runtime::ArrayRef<executorch::aten::Tensor> output) override;
  Result<bool> log_intermediate_output_delegate(const char* name, DelegateDebugIntId delegate_debug_index,
                                                const int& output) override;
  Result<bool> log_intermediate_output_delegate(const char* name, DelegateDebugIntId delegate_debug_index,
                                                const bool& output) override;
  Result<bool> log_intermediate_output_delegate(const char* name, DelegateDebugIntId delegate_debug_index,
                                                const double& output) override;
  // Selects the delegate outputs to log; not owned. Null selects all.
  void set_delegation_intermediate_output_filter(EventTracerFilterBase* event_tracer_filter) override;

 private:
  std::unique_ptr<internal::ETDumpState> state_;
};

}  // namespace executorch::etdumpRUSHLIGHT_TENSOR_MODE

namespace torch::executor {
using etdump_result = ::executorch::etdump::ETDumpResult;
using ::executorch::etdump::ETDumpGen;
}  // namespace torch::executor
