// SPDX-License-Identifier: BSD-3-Clause
// Creates inputs of ones, for trying out a method.
//
//   auto inputs = prepare_input_tensors(*method);
//   if (inputs.ok()) method->execute();
#pragma once

#include <cstdlib>
#include <utility>
#include <vector>

#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/method_meta.h>

#include "compat/detail/tensor_mode.h"

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

using ::executorch::ET_RUNTIME_NAMESPACE::Method;
using ::executorch::ET_RUNTIME_NAMESPACE::TensorInfo;

// Frees buffers, and the array that lists them, on destruction; all are from malloc.
class BufferCleanup final {
 public:
  explicit BufferCleanup(executorch::runtime::Span<void*> buffers) : buffers_(buffers) {}
  BufferCleanup(BufferCleanup&& other) noexcept : buffers_(std::exchange(other.buffers_, {})) {}
  BufferCleanup(const BufferCleanup&) = delete;
  BufferCleanup& operator=(const BufferCleanup&) = delete;
  BufferCleanup& operator=(BufferCleanup&&) = delete;
  ~BufferCleanup() {
    for (void* buffer : buffers_) std::free(buffer);
    std::free(buffers_.data());
  }

 private:
  executorch::runtime::Span<void*> buffers_;
};

// Limits for programs of unknown origin, which may declare any sizes: the total bytes of tensors, and the
// number of inputs.
struct PrepareInputTensorsOptions {
  size_t max_total_allocation_size = size_t{1} << 30;
  size_t max_inputs = 1024;
};

// Sets all tensor inputs to ones or, if `input_buffers` has an entry (address, bytes) for each input, to
// copies of the entries' bytes. Other inputs take the bytes of their entry (int64, float64, or a byte for a
// bool), or keep their value: set those before execute(), which refuses inputs without one. Tensors have
// their largest shape. The result owns the tensors' memory and must outlive the method's execution.
//
// Errors: InvalidProgram (exceeds a limit), InvalidArgument (number of buffers, a buffer has another size, a
// dtype without ones, an input that is neither tensor nor number), MemoryAllocationFailed, or as set_input().
executorch::runtime::Result<BufferCleanup> prepare_input_tensors(
    Method& method, PrepareInputTensorsOptions options = {},
    const std::vector<std::pair<char*, size_t>>& input_buffers = {});

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE

namespace executorch::extension::internal RUSHLIGHT_TENSOR_MODE {

// Sets input `input_index` to a tensor over `data_ptr`, which is filled with ones first if `fill_tensor`.
// `data_ptr` has tensor_meta.nbytes() bytes and outlives the execution. Errors: InvalidArgument (a dtype
// without ones), or as set_input().
executorch::runtime::Error fill_and_set_input(Method& method, TensorInfo& tensor_meta, size_t input_index,
                                              void* data_ptr, bool fill_tensor = true);

}  // namespace executorch::extension::internalRUSHLIGHT_TENSOR_MODE

namespace torch::executor::util {
using ::executorch::extension::BufferCleanup;
using ::executorch::extension::prepare_input_tensors;
using ::executorch::extension::PrepareInputTensorsOptions;
}  // namespace torch::executor::util
