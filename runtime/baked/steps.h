// SPDX-License-Identifier: BSD-3-Clause
// Building blocks of generated (baked) code: constant tensors, and the steps of a method that are not kernel
// calls. Only generated code includes this header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/base/span.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/binding.h"
#include "runtime/tensor/evalue.h"

// Section for arenas, if the build sets one; otherwise they are ordinary static data.
#ifdef RUSHLIGHT_ARENA_SECTION
#define RL_BAKED_ARENA __attribute__((section(RUSHLIGHT_ARENA_SECTION)))
#else
#define RL_BAKED_ARENA
#endif

namespace rushlight::baked {

// A tensor whose shape and memory never change. It is never written and may be in read-only memory. The
// second form has rank 0; a null `data` is a tensor without memory.
template <size_t N>
constexpr TensorImpl fixed(ScalarType type, const SizesType (&sizes)[N], const StridesType (&strides)[N],
                           const DimOrderType (&dim_order)[N], size_t numel, const uint8_t* data,
                           Storage storage) {
  return TensorImpl(type, N, const_cast<SizesType*>(sizes), const_cast<DimOrderType*>(dim_order),
                    const_cast<StridesType*>(strides), numel, const_cast<uint8_t*>(data), storage,
                    TensorShapeDynamism::STATIC);
}
constexpr TensorImpl fixed(ScalarType type, const uint8_t* data, Storage storage) {
  return TensorImpl(type, 0, nullptr, nullptr, nullptr, 1, const_cast<uint8_t*>(data), storage,
                    TensorShapeDynamism::STATIC);
}

// A tensor whose sizes may change during execution; it writes them to `sizes` and `strides`. `numel` belongs
// to the largest sizes. The second form has rank 0.
template <size_t N>
constexpr TensorImpl resizable(ScalarType type, SizesType* sizes, StridesType* strides,
                               const DimOrderType (&dim_order)[N], size_t numel, const uint8_t* data,
                               Storage storage, TensorShapeDynamism dynamism) {
  return TensorImpl(type, N, sizes, const_cast<DimOrderType*>(dim_order), strides, numel,
                    const_cast<uint8_t*>(data), storage, dynamism);
}
constexpr TensorImpl resizable(ScalarType type, const uint8_t* data, Storage storage,
                               TensorShapeDynamism dynamism) {
  return TensorImpl(type, 0, nullptr, nullptr, nullptr, 1, const_cast<uint8_t*>(data), storage, dynamism);
}

// Converts a handle to the reference type of kernels' out arguments. Kernels change the tensor, not the
// handle.
inline Tensor& written(const Tensor& tensor) { return const_cast<Tensor&>(tensor); }
inline std::optional<Tensor>& written(const std::optional<Tensor>& tensor) {
  return const_cast<std::optional<Tensor>&>(tensor);
}

// A handle to a tensor description.
constexpr Tensor handle(const TensorImpl& tensor) { return Tensor(const_cast<TensorImpl*>(&tensor)); }

// Logs and records that `instruction` failed; returns `error`.
Error failed(size_t instruction, Error error);

// Executes one kernel call and returns its error, if any, from the method. `instruction` is the index that
// failed() logs and records.
#define RL_BAKED_STEP(instruction, call)                                                              \
  do {                                                                                                \
    const ::rushlight::Error rl_error = (call);                                                       \
    if (rl_error != ::rushlight::Error::Ok) return ::rushlight::baked::failed(instruction, rl_error); \
  } while (false)

// Scratch memory and context of a method's calls. fresh() empties the arena and returns the context for the
// next call. `memory` has kBytes bytes and must outlive the object.
template <size_t kBytes>
class Scratch {
 public:
  explicit Scratch(uint8_t* memory) : arena_({memory, kBytes}), context_(&arena_) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  KernelContext& fresh() {
    arena_.reset();
    return context_;
  }

 private:
  Arena arena_;
  KernelContext context_;
};

// Without scratch.
template <>
class Scratch<0> {
 public:
  explicit Scratch(uint8_t*) {}
  KernelContext& fresh() { return context_; }

 private:
  KernelContext context_;
};

// A tensor argument of a call.
struct Use {
  const Tensor* tensor;
  bool is_written;
};

// Checks the arguments of a call when tensors receive their memory during execution: each has memory, written
// ones are writable, and none that is both written and resizable is also another argument. Errors:
// InvalidState (no memory), InvalidProgram (not writable, aliased).
Error check_tensors(Span<const Use> uses);

// Writes the truth value of a condition to `*holds`. Error: InvalidProgram (a tensor that is not one bool
// with memory).
Error read_condition(const EValue& condition, bool* holds);

// Resets aliases: removes the memory of View and ConstantView tensors, because their base may no longer
// exist.
void forget_views(Span<TensorImpl> tensors);

// Checks that an input has memory, or no elements. Error: InvalidState (the input was not set).
Error check_input(size_t index, const Tensor& tensor);

// Sets an input from an array in the target's dim order (row-major or channels-last). `sizes` has as many
// entries as the target's rank. The array must outlive the execution if the input's memory is not planned.
// Errors: InvalidArgument (sizes), or as set_value().
Error take_input(size_t index, const Tensor& target, const void* data, const SizesType* sizes);

// Copies the elements to `data`, unless they are already there, and the sizes to `sizes`, unless null. `data`
// must hold at least tensor.nbytes() bytes.
void give_output(const Tensor& tensor, void* data, SizesType* sizes);

}  // namespace rushlight::baked
