// SPDX-License-Identifier: BSD-3-Clause
// Inputs for a method that somebody only wants to see running: tensors of ones.
#pragma once

#include <cstdlib>
#include <utility>
#include <vector>

#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/method_meta.h>

namespace executorch::extension {

using ::executorch::ET_RUNTIME_NAMESPACE::Method;
using ::executorch::ET_RUNTIME_NAMESPACE::TensorInfo;

// Frees buffers, and the array that lists them, when it ends: all are from malloc.
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

// What a program may ask for, whoever made it.
struct PrepareInputTensorsOptions {
  size_t max_total_allocation_size = size_t{1} << 30;
  size_t max_inputs = 1024;
};

// Sets all inputs that are tensors: to ones, or, where `input_buffers` has as many entries, to their bytes;
// other inputs take the bytes of their entry, or stay as they are. What it returns outlives the method's
// execution. Errors: InvalidProgram (beyond a limit), InvalidArgument (a buffer of another size),
// MemoryAllocationFailed, or what set_input() says.
executorch::runtime::Result<BufferCleanup> prepare_input_tensors(
    Method& method, PrepareInputTensorsOptions options = {},
    const std::vector<std::pair<char*, size_t>>& input_buffers = {});

namespace internal {

// Sets input `input_index` to a tensor over `data_ptr`, which is filled with ones first if `fill_tensor`.
executorch::runtime::Error fill_and_set_input(Method& method, TensorInfo& tensor_meta, size_t input_index,
                                              void* data_ptr, bool fill_tensor = true);

}  // namespace internal

}  // namespace executorch::extension

namespace torch::executor::util {
using ::executorch::extension::BufferCleanup;
using ::executorch::extension::prepare_input_tensors;
using ::executorch::extension::PrepareInputTensorsOptions;
}  // namespace torch::executor::util
