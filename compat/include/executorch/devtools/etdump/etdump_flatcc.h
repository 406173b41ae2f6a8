// SPDX-License-Identifier: BSD-3-Clause
// An event tracer that writes ETDump files: rushlight::ETDump under the official interface.
#pragma once

#include <cstdint>
#include <memory>

#include <executorch/devtools/etdump/data_sinks/buffer_data_sink.h>
#include <executorch/devtools/etdump/data_sinks/data_sink_base.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/platform.h>

#define ETDUMP_VERSION 0

struct flatcc_builder;

namespace executorch::etdump {

using ::executorch::runtime::DelegateDebugIntId;
using ::executorch::runtime::EventTracerFilterBase;
using ::executorch::runtime::Result;

namespace internal {

// Memory in two parts: the front for building, the back for the file.
struct ETDumpStaticAllocator {
  uint8_t* data = nullptr;
  size_t data_size = 0, allocated = 0;
  size_t out_size = 0, front_left = 0;
  uint8_t* front_cursor = nullptr;

  // The first `alloc_buf_size` of `total_buf_size` bytes are for building.
  void set_buffer(uint8_t* buffer, size_t total_buf_size, size_t alloc_buf_size) {
    *this = ETDumpStaticAllocator();
    data = buffer;
    data_size = alloc_buf_size;
    front_left = out_size = total_buf_size - data_size;
    front_cursor = data + total_buf_size;
  }
};

class ETDumpState;

}  // namespace internal

struct ETDumpResult {
  void* buf;
  size_t size;
};

class ETDumpGen : public ::executorch::runtime::EventTracer {
 public:
  // Writes to `buffer`, or to its own memory without one.
  ETDumpGen(::executorch::runtime::Span<uint8_t> buffer = {nullptr, size_t{0}});
  ETDumpGen(const ETDumpGen&) = delete;
  ETDumpGen& operator=(const ETDumpGen&) = delete;
  ~ETDumpGen() override;

  void clear_builder();
  void reset();
  // Returns the file, or null if there is none. If the memory is its own, the caller must free() the file.
  ETDumpResult get_etdump_data();
  size_t get_num_blocks();
  bool is_static_etdump();

  // Enables logging of values and sets the storage of their bytes. Error: InvalidArgument (no memory).
  Result<bool> set_debug_buffer(::executorch::runtime::Span<uint8_t> buffer);
  void set_data_sink(DataSinkBase* data_sink);
  DataSinkBase* get_data_sink();

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
  void set_delegation_intermediate_output_filter(EventTracerFilterBase* event_tracer_filter) override;

 private:
  std::unique_ptr<internal::ETDumpState> state_;
};

}  // namespace executorch::etdump

namespace torch::executor {
using etdump_result = ::executorch::etdump::ETDumpResult;
using ::executorch::etdump::ETDumpGen;
}  // namespace torch::executor
