// SPDX-License-Identifier: BSD-3-Clause
// The official Method: rushlight's, with the inputs that have been set. rushlight executes with inputs that
// were never set if they have planned memory; ExecuTorch refuses that, so `has_input` records each
// set_input().
#include <executorch/runtime/executor/method.h>

#include "compat/detail/method_state.h"
#include "compat/detail/plan.h"
#include "runtime/tensor/binding.h"

namespace executorch::ET_RUNTIME_NAMESPACE {

using rushlight::compat::check_present;
using rushlight::compat::official;

namespace {

#ifdef USE_ATEN_LIB

// A view of rushlight's value, renewed by each access; the method's state keeps it for the reference.
const EValue& official_value(rushlight::compat::MethodState& state, const rushlight::EValue& value) {
  auto& view = state.views[&value];
  view = rushlight::compat::OfficialView();
  view.value = view.values.of(value);
  return view.value;
}

#else

// rushlight's value as an official one: the same object. The official class adds functions but no data.
const EValue& official_value(rushlight::compat::MethodState&, const rushlight::EValue& value) {
  return static_cast<const EValue&>(value);
}

#endif

// Checks that the method can be executed: it was not moved from, and each input has a value.
Error executable(const rushlight::compat::MethodState* state) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_present(state));
  for (size_t i = 0; i < state->has_input.size(); ++i) {
    ET_CHECK_OR_RETURN_ERROR(state->has_input[i], InvalidArgument, "input %zu: expected a value, got none",
                             i);
  }
  return Error::Ok;
}

// The official interface executes instruction by instruction; here all instructions are one step. A failed
// step can be repeated.
Error one_step(rushlight::compat::MethodState* state) {
  ET_CHECK_OK_OR_RETURN_ERROR(executable(state));
  if (state->stepped) return Error::EndOfMethod;
  ET_CHECK_OK_OR_RETURN_ERROR(state->execute());
  state->stepped = true;
  return Error::Ok;
}

Error no_steps(rushlight::compat::MethodState* state) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_present(state));
  ET_CHECK_OR_RETURN_ERROR(state->stepped, InvalidState, "method: step() has not been called");
  state->stepped = false;
  return Error::Ok;
}

// As in ExecuTorch, a tensor without memory sets the shape of a planned input and keeps its elements: passes
// the input's own memory.
rushlight::Error give_input(rushlight::Method& method, size_t index, const rushlight::EValue& value) {
  const bool is_given = !value.is_tensor() || rushlight::has_memory(*value.payload.as_tensor.impl());
  // Also lets set_input() report an index out of range.
  if (is_given || index >= method.meta().num_inputs()) return method.set_input(index, value);
  const rushlight::EValue& input = method.input(index);
  if (!input.is_tensor() || input.payload.as_tensor.impl()->storage() != rushlight::Storage::Planned)
    return method.set_input(index, value);
  // On the stack: set_input() reads the description only during the call.
  rushlight::TensorImpl lent = *value.payload.as_tensor.impl();
  lent.set_data(input.payload.as_tensor.impl()->mutable_data(), rushlight::Storage::Lent);
  return method.set_input(index, rushlight::EValue(rushlight::Tensor(&lent)));
}

// As in ExecuTorch, an input that was accessed counts as set: from now on the caller sets it.
const EValue& accessed_input(rushlight::compat::MethodState& state, size_t i) {
  ET_CHECK_MSG(i < state.has_input.size(), "input %zu: expected an index below %zu", i,
               state.has_input.size());
  state.has_input[i] = true;
  return official_value(state, state.method().input(i));
}

}  // namespace

Method::Method(std::unique_ptr<rushlight::compat::MethodState> state) : state_(std::move(state)) {}
Method::Method(Method&&) noexcept = default;
Method::~Method() = default;

Error Method::set_input(const EValue& input_evalue, size_t input_idx) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_present(state_.get()));
#ifdef USE_ATEN_LIB
  auto given = std::make_unique<rushlight::compat::OurValue>(input_evalue);
  ET_CHECK_OK_OR_RETURN_ERROR(official(given->error()));
  ET_CHECK_OK_OR_RETURN_ERROR(official(give_input(state_->method(), input_idx, given->value())));
  // The method may use the memory in place.
  state_->inputs[input_idx] = std::move(given);
#else
  ET_CHECK_OK_OR_RETURN_ERROR(official(give_input(state_->method(), input_idx, input_evalue)));
#endif
  state_->has_input[input_idx] = true;
  return Error::Ok;
}

Error Method::set_inputs(const executorch::aten::ArrayRef<EValue>& input_evalues) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_present(state_.get()));
  ET_CHECK_OR_RETURN_ERROR(input_evalues.size() == inputs_size(), InvalidArgument,
                           "inputs: got %zu, expected %zu", input_evalues.size(), inputs_size());
  for (size_t i = 0; i < input_evalues.size(); ++i)
    ET_CHECK_OK_OR_RETURN_ERROR(set_input(input_evalues[i], i));
  return Error::Ok;
}

Error Method::set_output_data_ptr(void* buffer, size_t size, size_t output_idx) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_present(state_.get()));
  return official(state_->method().set_output_buffer(output_idx, {static_cast<uint8_t*>(buffer), size}));
}

Error Method::get_outputs(EValue* output_evalues, size_t length) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_present(state_.get()));
  ET_CHECK_OR_RETURN_ERROR(length >= outputs_size(), InvalidArgument,
                           "length: expected %zu or more outputs, got %zu", outputs_size(), length);
  for (size_t i = 0; i < length; ++i) output_evalues[i] = i < outputs_size() ? get_output(i) : EValue();
  return Error::Ok;
}

Error Method::get_inputs(EValue* input_evalues, size_t length) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_present(state_.get()));
  ET_CHECK_OR_RETURN_ERROR(length >= inputs_size(), InvalidArgument,
                           "length: expected %zu or more inputs, got %zu", inputs_size(), length);
  for (size_t i = 0; i < length; ++i)
    input_evalues[i] = i < inputs_size() ? accessed_input(*state_, i) : EValue();
  return Error::Ok;
}

Result<executorch::aten::Tensor> Method::get_attribute(std::string_view name) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_present(state_.get()));
  // Linear in the method's values: names are not indexed.
  const auto plan = state_->method().meta().plan();
  const size_t values = plan.tables(rushlight::schema::plan::kValues).size();
  for (size_t i = 0; i < values; ++i) {
    if (!rushlight::compat::is_attribute(plan, i)) continue;
    if (rushlight::compat::name_of(rushlight::compat::tensor_of(plan, i)) != name) continue;
#ifdef USE_ATEN_LIB
    return rushlight::aten::alias(state_->method().tensor(i));
#else
    return executorch::aten::Tensor(state_->method().tensor(i));
#endif
  }
  ET_LOG(Error, "attribute '%.*s': not found", static_cast<int>(name.size()), name.data());
  return Error::NotFound;
}

Error Method::execute() {
  ET_CHECK_OK_OR_RETURN_ERROR(executable(state_.get()));
  state_->stepped = false;
  return state_->execute();
}

Error Method::step() { return one_step(state_.get()); }
Error Method::experimental_step() { return one_step(state_.get()); }
bool Method::in_progress() const { return false; }
Error Method::reset_execution() { return no_steps(state_.get()); }
Error Method::experimental_reset_execution() { return no_steps(state_.get()); }

MethodMeta Method::method_meta() const { return MethodMeta(state_->method().meta()); }
size_t Method::inputs_size() const { return state_->method().meta().num_inputs(); }
size_t Method::outputs_size() const { return state_->method().meta().num_outputs(); }

const EValue& Method::get_output(size_t i) const {
  ET_CHECK_MSG(i < outputs_size(), "output %zu: expected an index below %zu", i, outputs_size());
  return official_value(*state_, state_->method().output(i));
}
const EValue& Method::get_input(size_t i) const { return accessed_input(*state_, i); }
EValue& Method::mutable_input(size_t i) { return const_cast<EValue&>(accessed_input(*state_, i)); }
EValue& Method::mutable_output(size_t i) { return const_cast<EValue&>(get_output(i)); }

EventTracer* Method::get_event_tracer() { return state_->tracer(); }

}  // namespace executorch::ET_RUNTIME_NAMESPACE
