// SPDX-License-Identifier: BSD-3-Clause
// Run-time checks that remain in baked programs: the code generator performs all others.
#include "runtime/baked/steps.h"

#include <cstring>

namespace rushlight::baked {

namespace {

bool can_be_resized(const Tensor& tensor) {
  return tensor.impl()->shape_dynamism() != TensorShapeDynamism::STATIC;
}

Error check_use(const Use& use) {
  const TensorImpl& tensor = *use.tensor->impl();
  if (use.is_written && tensor.storage() != Storage::None) {
    return tensor.is_writable() ? Error::Ok : Error::InvalidProgram;
  }
  // A tensor without memory must be empty; one that is written must also be unable to grow.
  const size_t numel = use.is_written ? tensor.numel_bound() : tensor.numel();
  return tensor.data() != nullptr || numel == 0 ? Error::Ok : Error::InvalidState;
}

}  // namespace

Error failed(size_t instruction, Error error) {
  RL_RECORD_INDEX(instruction);
  RL_LOG(Error, "instruction %lu failed: %s", log_number(instruction), to_string(error));
  return error;
}

Error check_tensors(Span<const Use> uses) {
  for (const Use& use : uses) {
    const Error error = check_use(use);
    RL_CHECK(error == Error::Ok, error, "a tensor argument is %s",
             error == Error::InvalidState ? "without memory" : "written, but constant or lent");
  }
  // Compares all pairs: calls have few arguments, and the interpreter's marks would cost code.
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].is_written || !can_be_resized(*uses[i].tensor)) continue;
    for (size_t n = 0; n < uses.size(); ++n) {
      RL_CHECK(n == i || !(*uses[n].tensor == *uses[i].tensor), Error::InvalidProgram,
               "a call resizes a tensor that it also reads");
    }
  }
  return Error::Ok;
}

Error read_condition(const EValue& condition, bool* holds) {
  RL_CHECK(!condition.is_tensor() || is_one_bool(*condition.payload.as_tensor.impl()), Error::InvalidProgram,
           "the condition is not one bool");
  *holds = !is_false(condition);
  return Error::Ok;
}

// Aliases of the previous execution: their base may have other memory now.
void forget_views(Span<TensorImpl> tensors) {
  for (TensorImpl& tensor : tensors) {
    const Storage storage = tensor.storage();
    if (storage == Storage::View || storage == Storage::ConstantView) tensor.set_data(nullptr, Storage::None);
  }
}

Error check_input(size_t index, const Tensor& tensor) {
  RL_CHECK(has_memory(*tensor.impl()), Error::InvalidState, "input %lu: was not set", log_number(index));
  return Error::Ok;
}

Error take_input(size_t index, const Tensor& target, const void* data, const SizesType* sizes) {
  const auto rank = static_cast<size_t>(target.dim());
  // The strides of a temporary TensorImpl; set_value() takes its elements or their address, not the object.
  StridesType strides[kTensorDimensionLimit];
  size_t numel = 0;
  RL_CHECK(checked_numel({sizes, rank}, &numel), Error::InvalidArgument,
           "input %lu: a size is negative or too large", log_number(index));
  // The target's dim order: callers of baked programs pass data in the layout of the input.
  TensorImpl given(target.scalar_type(), target.dim(), const_cast<SizesType*>(sizes), const_cast<void*>(data),
                   const_cast<DimOrderType*>(target.dim_order().data()), strides);
  return set_value(index, EValue(target), EValue(Tensor(&given)));
}

void give_output(const Tensor& tensor, void* data, SizesType* sizes) {
  const void* elements = tensor.const_data_ptr();
  // The output may already be in the caller's memory.
  if (elements != data && elements != nullptr) std::memcpy(data, elements, tensor.nbytes());
  for (ptrdiff_t d = 0; sizes != nullptr && d < tensor.dim(); ++d)
    sizes[d] = tensor.sizes()[static_cast<size_t>(d)];
}

}  // namespace rushlight::baked
