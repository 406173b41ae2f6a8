// SPDX-License-Identifier: BSD-3-Clause
// The official checks of a program's tensors and lists of tensors, beyond the structure of the file.
// Program::load() makes them on request; loading a method makes its own.
#include <algorithm>

#include <executorch/runtime/core/tensor_layout.h>
#include <executorch/runtime/executor/program_validation.h>
#include <executorch/schema/program_generated.h>

namespace executorch::runtime {

namespace {

namespace flat = executorch_flatbuffer;

bool is_input(const flat::ExecutionPlan& plan, uint32_t value) {
  const auto* inputs = plan.inputs();
  return inputs != nullptr &&
         std::find(inputs->begin(), inputs->end(), static_cast<int32_t>(value)) != inputs->end();
}

Error validate_tensor_list(const flat::TensorList* list,
                           const flatbuffers::Vector<flatbuffers::Offset<flat::EValue>>& values) {
  ET_CHECK_OR_RETURN_ERROR(list != nullptr && list->items() != nullptr, InvalidProgram,
                           "list of tensors: expected items, got none");
  for (const int32_t index : *list->items()) {
    ET_CHECK_OR_RETURN_ERROR(index >= 0 && static_cast<uint32_t>(index) < values.size(), InvalidProgram,
                             "list of tensors: value %" PRId32 " of %zu", index, size_t{values.size()});
    // Items are values of the method by index.
    const auto* item = values.Get(static_cast<uint32_t>(index));
    ET_CHECK_OR_RETURN_ERROR(item->val_type() == flat::KernelTypes::Tensor, InvalidProgram,
                             "list of tensors: value %" PRId32 " is not a tensor", index);
  }
  return Error::Ok;
}

Error validate_plan(const flat::ExecutionPlan& plan) {
  const auto* values = plan.values();
  ET_CHECK_OR_RETURN_ERROR(values != nullptr, InvalidProgram, "method: expected values, got none");
  for (uint32_t i = 0; i < values->size(); ++i) {
    const flat::EValue* value = values->Get(i);
    if (value->val_type() == flat::KernelTypes::Tensor) {
      const flat::Tensor* tensor = value->val_as_Tensor();
      // A dynamic input receives its shape from the caller; its sizes in the file are upper bounds, possibly
      // of any size.
      const bool comes_later = tensor != nullptr &&
                               tensor->shape_dynamism() != flat::TensorShapeDynamism::STATIC &&
                               is_input(plan, i);
      if (!comes_later) ET_CHECK_OK_OR_RETURN_ERROR(validate_tensor(tensor));
    }
    if (value->val_type() == flat::KernelTypes::TensorList)
      ET_CHECK_OK_OR_RETURN_ERROR(validate_tensor_list(value->val_as_TensorList(), *values));
  }
  return Error::Ok;
}

}  // namespace

Error validate_tensor(const flat::Tensor* tensor) {
  ET_CHECK_OR_RETURN_ERROR(tensor != nullptr && tensor->sizes() != nullptr && tensor->dim_order() != nullptr,
                           InvalidProgram, "tensor: expected sizes and a dim order, got only one");
  const auto* sizes = tensor->sizes();
  const auto* order = tensor->dim_order();
  const auto layout =
      TensorLayout::create({sizes->data(), size_t{sizes->size()}}, {order->data(), size_t{order->size()}},
                           static_cast<executorch::aten::ScalarType>(tensor->scalar_type()));
  return layout.ok() ? Error::Ok : Error::InvalidProgram;
}

Error validate_program(const flat::Program* program) {
  ET_CHECK_OR_RETURN_ERROR(program != nullptr && program->execution_plan() != nullptr, InvalidProgram,
                           "program: expected methods, got none");
  for (const flat::ExecutionPlan* plan : *program->execution_plan())
    ET_CHECK_OK_OR_RETURN_ERROR(validate_plan(*plan));
  return Error::Ok;
}

}  // namespace executorch::runtime
