// SPDX-License-Identifier: BSD-3-Clause
#include "backends/xnnpack/delegate.h"

#include <utility>

#include "runtime/backend/backend.h"
#include "runtime/base/log.h"
#include "runtime/module/shared_data_loader.h"

namespace rushlight::xnnpack {

namespace {

// The sizes of a tensor in the order in which its elements lie; payloads have one dim for a number without
// any.
std::vector<SizesType> sizes_in_memory(const Tensor& tensor) {
  if (tensor.dim() == 0) return {1};
  std::vector<SizesType> sizes;
  for (const DimOrderType dim : tensor.dim_order()) sizes.push_back(tensor.sizes()[dim]);
  return sizes;
}

// As many dims as `like` has, from sizes in the order of memory.
std::vector<SizesType> sizes_like(const Tensor& like, const std::vector<SizesType>& in_memory) {
  if (like.dim() == 0) return {};
  std::vector<SizesType> sizes(in_memory.size());
  for (size_t i = 0; i < in_memory.size(); ++i) sizes[like.dim_order()[i]] = in_memory[i];
  return sizes;
}

}  // namespace

Result<Lowered> lower_to_program(const Payload& payload, bool is_dynamic) {
  Lowered lowered;
  lowered.calls = std::make_unique<CallList>(is_dynamic);
  RL_TRY_ASSIGN(lowered.ends, lower(payload, lowered.calls.get()));
  RL_TRY_ASSIGN(lowered.program, lowered.calls->program());
  return lowered;
}

Result<std::unique_ptr<LoadedDelegate>> LoadedDelegate::load(Span<const uint8_t> bytes,
                                                             const NamedDataMap* named, ThreadPool* threads) {
  RL_TRY_ASSIGN(Payload payload, Payload::read(bytes, named));
  std::unique_ptr<LoadedDelegate> loaded(new LoadedDelegate(std::move(payload), threads));
  RL_TRY(loaded->load_program(false));
  return loaded;
}

Error LoadedDelegate::load_program(bool is_dynamic) {
  RL_TRY_ASSIGN(Lowered lowered, lower_to_program(payload_, is_dynamic));
  const std::shared_ptr<const void> bytes(lowered.program.data(),
                                          [](const void*) {});  // this object keeps it
  ModuleOptions options;
  options.method.external_data = lowered.calls.get();
  options.method.threads = threads_;
  options.threads = threads_ == nullptr ? 1 : 0;
  RL_TRY_ASSIGN(std::unique_ptr<Module> module,
                Module::load(std::make_shared<SharedDataLoader>(bytes, lowered.program.size()),
                             selected_operators, options));
  RL_TRY_ASSIGN(method_, module->method("forward"));
  module_ = std::move(module);
  lowered_ = std::move(lowered);
  is_dynamic_ = is_dynamic;
  return Error::Ok;
}

bool LoadedDelegate::fits(Span<EValue* const> arguments) const {
  for (size_t i = 0; i < lowered_.ends.inputs.size(); ++i) {
    const Tensor given = arguments[lowered_.ends.inputs[i]]->to_tensor();
    if (sizes_in_memory(given) != sizes_in_memory(method_->method().input(i).to_tensor())) return false;
  }
  return true;
}

Error LoadedDelegate::set_inputs(Span<EValue* const> arguments) {
  for (size_t i = 0; i < lowered_.ends.inputs.size(); ++i) {
    const Tensor given = arguments[lowered_.ends.inputs[i]]->to_tensor();
    const Tensor own = method_->method().input(i).to_tensor();
    const std::vector<SizesType> in_memory = sizes_in_memory(given);
    RL_CHECK(in_memory.size() == own.sizes().size() && given.scalar_type() == own.scalar_type(),
             Error::InvalidArgument, "delegate input %lu: expected %lu dims of %s, got %lu of %s",
             log_number(i), log_number(own.sizes().size()), to_string(own.scalar_type()),
             log_number(in_memory.size()), to_string(given.scalar_type()));
    std::vector<SizesType> sizes = sizes_like(own, in_memory);
    std::vector<DimOrderType> order(own.dim_order().begin(), own.dim_order().end());
    std::vector<StridesType> strides(sizes.size());
    TensorImpl view(own.scalar_type(), static_cast<ssize_t>(sizes.size()), sizes.data(),
                    const_cast<void*>(given.const_data_ptr()), order.data(), strides.data());
    RL_TRY(method_->method().set_input(i, EValue(Tensor(&view))));
  }
  return Error::Ok;
}

Error LoadedDelegate::set_outputs(Span<EValue* const> arguments) {
  for (size_t i = 0; i < lowered_.ends.outputs.size(); ++i) {
    RL_TRY_ASSIGN(const Tensor given, output_tensor(arguments, lowered_.ends.outputs[i]));
    const TensorImpl* impl = given.impl();
    const size_t bytes = impl->numel_bound() * element_size(impl->scalar_type());
    RL_TRY(method_->method().set_output_buffer(i, {given.mutable_data_ptr<uint8_t>(), bytes}));
  }
  return Error::Ok;
}

Error LoadedDelegate::resize_outputs(Span<EValue* const> arguments) {
  for (size_t i = 0; i < lowered_.ends.outputs.size(); ++i) {
    RL_TRY_ASSIGN(const Tensor given, output_tensor(arguments, lowered_.ends.outputs[i]));
    const Tensor made = method_->method().output(i).to_tensor();
    const std::vector<SizesType> in_memory = sizes_in_memory(made);
    const bool fits =
        given.dim() == made.dim() || (given.dim() == 0 && in_memory == std::vector<SizesType>{1});
    RL_CHECK(fits && given.scalar_type() == made.scalar_type(), Error::InvalidProgram,
             "delegate output %lu: expected %lu dims of %s", log_number(i), log_number(in_memory.size()),
             to_string(made.scalar_type()));
    const std::vector<SizesType> sizes = sizes_like(given, in_memory);
    RL_TRY(given.impl()->resize({sizes.data(), sizes.size()}));
  }
  return Error::Ok;
}

Error LoadedDelegate::execute(Span<EValue* const> arguments) {
  for (const uint32_t end : lowered_.ends.inputs) RL_TRY(input_tensor(arguments, end).error());
  if (!is_dynamic_ && !fits(arguments)) RL_TRY(load_program(true));
  RL_TRY(set_outputs(arguments));
  RL_TRY(set_inputs(arguments));
  RL_TRY(method_->execute());
  return resize_outputs(arguments);
}

}  // namespace rushlight::xnnpack
