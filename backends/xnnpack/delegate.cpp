// SPDX-License-Identifier: BSD-3-Clause
// The delegate owns a complete inner method: a program in memory, its memory, and a tracer. It is built for
// the payload's sizes first, because static programs use aliases instead of copies.
#include "backends/xnnpack/delegate.h"

#include <new>
#include <utility>

#include "runtime/base/log.h"

namespace rushlight::xnnpack {

namespace {

// The sizes of a tensor in memory order. A rank-0 tensor gets one dimension, as in payloads.
// A payload knows sizes in memory order only: it has no dim orders.
std::vector<SizesType> sizes_in_memory(const Tensor& tensor) {
  if (tensor.dim() == 0) return {1};
  std::vector<SizesType> sizes;
  for (const DimOrderType dim : tensor.dim_order()) sizes.push_back(tensor.sizes()[dim]);
  return sizes;
}

// Converts sizes in memory order to the dimensions of `like`.
std::vector<SizesType> sizes_like(const Tensor& like, const std::vector<SizesType>& in_memory) {
  if (like.dim() == 0) return {};
  std::vector<SizesType> sizes(in_memory.size());
  for (size_t i = 0; i < in_memory.size(); ++i) sizes[like.dim_order()[i]] = in_memory[i];
  return sizes;
}

constexpr BackendHost::SharedKind kSharedWeights = {
    []() -> void* { return new (std::nothrow) SharedWeights(); },
    [](void* weights) { delete static_cast<SharedWeights*>(weights); }};

}  // namespace

Result<Lowered> lower_to_program(const Payload& payload, bool is_dynamic) {
  Lowered lowered;
  lowered.calls = std::make_unique<CallList>(payload.pool(), is_dynamic);
  RL_TRY_ASSIGN(lowered.ends, lower(payload, lowered.calls.get()));
  RL_TRY_ASSIGN(lowered.program, lowered.calls->program());
  return lowered;
}

// Without a host (an application that loads methods itself) the delegate owns the shared weights.
Result<std::unique_ptr<LoadedDelegate>> LoadedDelegate::load(const BackendInitContext& context,
                                                             FreeableBuffer* processed) {
  BackendHost* host = context.host();
  std::unique_ptr<SharedWeights> own = host == nullptr ? std::make_unique<SharedWeights>() : nullptr;
  auto* weights = host == nullptr ? own.get() : static_cast<SharedWeights*>(host->shared(kSharedWeights));
  if (weights == nullptr) return Error::MemoryAllocationFailed;
  // Data that kernels prepare from constants outlives the method, so the constants must as well.
  const Span<const uint8_t> bytes =
      processed->owns() ? weights->constants->keep(std::move(*processed)) : processed->bytes();
  RL_TRY_ASSIGN(Payload payload, Payload::read(bytes, context.named_data(), weights->constants));
  std::unique_ptr<LoadedDelegate> loaded(
      new LoadedDelegate(context, std::move(own), weights, std::move(payload)));
  RL_TRY(loaded->load_program(false));
  return loaded;
}

void LoadedDelegate::unload_program() {
  // The method first: its memory counts until it is gone.
  method_ = nullptr;
  if (host_ != nullptr) host_->give_back(taken_);
  taken_ = {};
}

Error LoadedDelegate::load_program(bool is_dynamic) {
  unload_program();
  is_dynamic_ = is_dynamic;
  const size_t kept_before = weights_->constants->kept_bytes();
  // Translation may convert constants (float16, transposed weights), whose bytes count as the delegate's.
  RL_TRY_ASSIGN(lowered_, lower_to_program(payload_, is_dynamic));
  // This object owns the bytes.
  const std::shared_ptr<const void> bytes(lowered_.program.data(), [](const void*) {});
  loader_ = std::make_unique<SharedDataLoader>(bytes, lowered_.program.size());
  RL_TRY_ASSIGN(Program program, Program::load(*loader_));
  program_.emplace(std::move(program));
  MethodOptions options;
  options.external_data = lowered_.calls.get();
  options.threads = threads_;
  // At load, because events name calls; report_to() connects the outer tracer later.
  if (is_traced_) options.tracer = &tracer_.emplace(*lowered_.calls);
  ModuleMethod::Surroundings around;
  if (host_ == nullptr || host_->prepares()) around.weights = &weights_->prepared;
  around.host = host_;
  around.lanes = host_ == nullptr ? 1 : host_->lanes();
  const size_t own = lowered_.program.size() + weights_->constants->kept_bytes() - kept_before;
  if (host_ != nullptr)
    around.max_memory = host_->bytes_left() > own ? host_->bytes_left() - own : 1;  // 0 would mean no limit
  RL_TRY_ASSIGN(std::unique_ptr<ModuleMethod> method,
                ModuleMethod::load(*program_, "forward", selected_operators, options, around));
  if (host_ != nullptr) {
    DelegateMemory memory = method->memory();
    memory.working += own;
    RL_TRY(host_->take(memory));
    taken_ = memory;
  }
  method_ = std::move(method);
  return Error::Ok;
}

// Returns true if the inputs have the sizes for which the program was built.
bool LoadedDelegate::fits(Span<EValue* const> arguments) const {
  for (size_t i = 0; i < lowered_.ends.inputs.size(); ++i) {
    const Tensor given = arguments[lowered_.ends.inputs[i]]->to_tensor();
    // Both sides in memory order: dim orders of the outer and the inner tensor differ.
    if (sizes_in_memory(given) != sizes_in_memory(method_->method().input(i).to_tensor())) return false;
  }
  return true;
}

// Inputs are passed as views with the inner program's dim order: the memory order of both is equal, only the
// names of dimensions differ.
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
    // A temporary handle: set_input() copies its sizes and takes the data's address.
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
    // The outer tensor may grow to its bound, and the inner kernels may fill it.
    const size_t bytes = impl->numel_bound() * element_size(impl->scalar_type());
    RL_TRY(method_->method().set_output_buffer(i, {given.mutable_data_ptr<uint8_t>(), bytes}));
  }
  return Error::Ok;
}

// The outer tensors take the sizes of the results, translated back to their dim orders.
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

// Rebuilds the program as a dynamic one at the first execution with other sizes.
Error LoadedDelegate::execute(Span<EValue* const> arguments, EventTracer* tracer) {
  // Checked before the program is chosen: fits() reads the tensors.
  for (const uint32_t end : lowered_.ends.inputs) RL_TRY(input_tensor(arguments, end).error());
  // method_ is null after a reload that failed; the next execution tries again.
  if (method_ == nullptr || (!is_dynamic_ && !fits(arguments))) RL_TRY(load_program(true));
  if (tracer_.has_value()) tracer_->report_to(tracer);
  RL_TRY(set_outputs(arguments));
  RL_TRY(set_inputs(arguments));
  RL_TRY(method_->execute());
  return resize_outputs(arguments);
}

}  // namespace rushlight::xnnpack
