// SPDX-License-Identifier: BSD-3-Clause
// What the C++ of a baked program is written with: constant tensors, and the steps of its methods that are
// no kernel calls. Generated code includes it; nobody else has to.
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

// Where the build puts arenas, if it says so; otherwise they are static data like any other.
#ifdef RUSHLIGHT_ARENA_SECTION
#define RL_BAKED_ARENA __attribute__((section(RUSHLIGHT_ARENA_SECTION)))
#else
#define RL_BAKED_ARENA
#endif

namespace rushlight::baked {

// A tensor whose shape and memory never change: it may lie in read-only memory, for nothing is written to it.
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

// A tensor that gets other sizes while the method runs; it writes them to `sizes` and `strides`.
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

// A handle as kernels take the tensors that they write: they change the tensor, not the handle.
inline Tensor& written(const Tensor& tensor) { return const_cast<Tensor&>(tensor); }
inline std::optional<Tensor>& written(const std::optional<Tensor>& tensor) {
  return const_cast<std::optional<Tensor>&>(tensor);
}

constexpr Tensor handle(const TensorImpl& tensor) { return Tensor(const_cast<TensorImpl*>(&tensor)); }

// `error`, after it has been told at which instruction it came up.
Error failed(size_t instruction, Error error);

// A call at `instruction`; leaves the method with its error.
#define RL_BAKED_STEP(instruction, call)                                                              \
  do {                                                                                                \
    const ::rushlight::Error rl_error = (call);                                                       \
    if (rl_error != ::rushlight::Error::Ok) return ::rushlight::baked::failed(instruction, rl_error); \
  } while (false)

// A context for each call, over scratch memory of so many bytes, which is empty again after each call.
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

template <>
class Scratch<0> {
 public:
  explicit Scratch(uint8_t*) {}
  KernelContext& fresh() { return context_; }

 private:
  KernelContext context_;
};

// A tensor that a call is given.
struct Use {
  const Tensor* tensor;
  bool is_written;
};

// Where tensors get their memory, or another's, while the method runs: that each has some, that those
// written may be, and that none of those, if it can be resized, is named twice.
// Errors: InvalidState (no memory), InvalidProgram.
Error check_tensors(Span<const Use> uses);

// Whether a condition holds. Error: InvalidProgram for a tensor that is not one bool with memory.
Error read_condition(const EValue& condition, bool* holds);

// Takes what they are views of from tensors that have no memory of their own: it may be gone.
void forget_views(Span<TensorImpl> tensors);

// Error: InvalidState for an input without memory.
Error check_input(size_t index, const Tensor& tensor);

// Sets an input from a row major or channels last array, as the target's dim order has it, whose sizes are
// `sizes`, as many as the target's rank. Errors: InvalidArgument.
Error take_input(size_t index, const Tensor& target, const void* data, const SizesType* sizes);

// Copies elements to `data`, unless they are there already, and sizes to `sizes`, unless it is null.
void give_output(const Tensor& tensor, void* data, SizesType* sizes);

}  // namespace rushlight::baked
