// SPDX-License-Identifier: BSD-3-Clause
// A call pushes its arguments on a stack, as TorchScript does, so one function serves every operator. Written
// tensors are aliases of planned memory. ATen may resize them within their capacity or return other tensors;
// afterwards the runtime's tensor takes the result's shape, and only a result in other memory, or in another
// layout, is copied. InferenceMode leaves autograd's part of the dispatcher out.
#include "aten/boxed_call.h"

#include <cctype>
#include <string_view>

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>

#include "aten/convert.h"
#include "aten/custom.h"
#include "aten/overlap.h"
#include "runtime/base/log.h"

namespace rushlight::aten {

namespace {

// Drops the warning that an out tensor is resized, which is how programs use them, and logs others.
class QuietResize final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    if (warning.msg().find("was resized") != std::string::npos) return;
    RL_LOG(Info, "PyTorch: %s", warning.msg().c_str());
  }
};

bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

// Signature characters of types that are not lists; 0: programs have no such value.
char scalar_code(const c10::Type& type, bool written) {
  switch (type.kind()) {
    case c10::TypeKind::TensorType:
      return written ? 'w' : 't';
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return 'i';
    case c10::TypeKind::FloatType:
      return 'd';
    case c10::TypeKind::BoolType:
      return 'b';
    case c10::TypeKind::NumberType:
      return 's';
    case c10::TypeKind::StringType:
    case c10::TypeKind::DeviceObjType:
      return 'z';
    case c10::TypeKind::GeneratorType:
      return 'e';  // None: generators stay in Python
    default:
      return 0;
  }
}

char list_code(const c10::Type& item, bool written) {
  switch (item.kind()) {
    case c10::TypeKind::TensorType:
      return written ? 'k' : 'l';
    case c10::TypeKind::OptionalType: {
      const auto& inner = *item.castRaw<c10::OptionalType>()->getElementType();
      return inner.kind() == c10::TypeKind::TensorType && !written ? 'p' : 0;
    }
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return 'n';
    case c10::TypeKind::FloatType:
      return 'f';
    case c10::TypeKind::BoolType:
      return 'o';
    default:
      return 0;
  }
}

char code_of(const c10::Type& type, bool written) {
  if (type.kind() == c10::TypeKind::OptionalType) {
    const char code = code_of(*type.castRaw<c10::OptionalType>()->getElementType(), written);
    // The loader does not know optional tensors that are written. 'e' accepts None as it is.
    if (code == 0 || written) return 0;
    if (code == 'e') return code;
    return static_cast<char>(std::toupper(static_cast<unsigned char>(code)));
  }
  if (type.kind() == c10::TypeKind::ListType) {
    return list_code(*type.castRaw<c10::ListType>()->getElementType(), written);
  }
  return scalar_code(type, written);
}

// True if an operator writes tensors and reads no files: a string beside no tensor to read is the name of a
// file (from_file), and programs may be of unknown origin.
bool computes(const std::string& signature) {
  const bool reads = signature.find_first_of("tTlLp") != std::string::npos;
  const bool writes = signature.find_first_of("wk") != std::string::npos;
  return writes && (reads || signature.find_first_of("zZ") == std::string::npos);
}

// PyTorch writes some optional tensors without saying so in its schema (running statistics of
// native_batch_norm). It gets a copy of constants there, whose memory may be mapped read-only.
bool needs_copy(const EValue& value, char code) {
  return code == 'T' && value.is_tensor() && !value.to_tensor().impl()->is_writable();
}

c10::IValue argument_value(const c10::TypeKind kind, const EValue& value, char code) {
  if (kind == c10::TypeKind::DeviceObjType && !value.is_none()) {
    return c10::Device(std::string(value.to_string_view()));
  }
  TORCH_CHECK_NOT_IMPLEMENTED(code != 'e' || value.is_none(), "generator: expected None, got a ",
                              to_string(value.tag));
  return needs_copy(value, code) ? alias(value.to_tensor()).clone() : to_ivalue(value, code);
}

// A written tensor of the call. ATen gets other memory for one that the call also reads, as it writes results
// before it has read all of its inputs; store() copies them.
at::Tensor written_tensor(const Tensor& tensor, const char* signature, EValue* const* arguments) {
  const at::Tensor target = alias(tensor);
  return is_read(*tensor.impl(), signature, arguments) ? target.clone() : target;
}

c10::IValue written_value(const EValue& value, const char* signature, EValue* const* arguments) {
  if (value.is_tensor()) return written_tensor(value.to_tensor(), signature, arguments);
  c10::List<at::Tensor> list;
  for (const Tensor& tensor : value.to_tensor_list()) {
    list.push_back(written_tensor(tensor, signature, arguments));
  }
  return list;
}

Error store_list(const c10::List<at::Tensor>& results, Span<Tensor> targets, size_t index) {
  RL_CHECK(results.size() == targets.size(), Error::InvalidArgument,
           "result %lu: expected %lu tensors, got %lu", log_number(index), log_number(targets.size()),
           log_number(results.size()));
  for (size_t i = 0; i < targets.size(); ++i) RL_TRY(store(results.get(i), targets[i], index));
  return Error::Ok;
}

Error store_value(const c10::IValue& result, const EValue& target, size_t index) {
  if (result.isTensor()) return aten::store(result.toTensor(), target.to_tensor(), index);
  RL_CHECK(result.isTensorList(), Error::InvalidType, "result %lu: expected tensors, got a %s",
           log_number(index), result.tagKind().c_str());
  return store_list(result.toTensorList(), target.to_tensor_list(), index);
}

// The functional overload of an out variant: "out" belongs to "", and "Tensor_out" to "Tensor".
std::optional<c10::OperatorName> functional(const c10::OperatorName& name) {
  constexpr std::string_view kOut = "_out";
  const std::string_view overload = name.overload_name;
  if (overload == "out") return c10::OperatorName(name.name, "");
  if (overload.size() <= kOut.size() || overload.substr(overload.size() - kOut.size()) != kOut) return {};
  return c10::OperatorName(name.name, std::string(overload.substr(0, overload.size() - kOut.size())));
}

std::optional<c10::OperatorHandle> find_handle(const c10::OperatorName& name) {
  auto handle = c10::Dispatcher::singleton().findSchema(name);
  if (!handle.has_value()) return {};
  const bool computes = handle->hasComputedKernelForDispatchKey(c10::DispatchKey::CPU) ||
                        handle->hasComputedKernelForDispatchKey(c10::DispatchKey::QuantizedCPU);
  return computes ? handle : std::nullopt;
}

}  // namespace

std::optional<BoxedCall> BoxedCall::make(const c10::FunctionSchema& schema, Function function) {
  BoxedCall call;
  bool is_out_variant = false;
  for (const c10::Argument& argument : schema.arguments()) {
    const bool written = is_written(argument);
    const char code = code_of(*argument.type(), written);
    if (code == 0) return {};
    call.signature_ += code;
    is_out_variant = is_out_variant || written;
    call.writes_inputs_ = call.writes_inputs_ || (written && !argument.is_out());
  }
  call.num_parameters_ = call.signature_.size();
  if (!is_out_variant) {
    for (const c10::Argument& result : schema.returns()) {
      const char code = code_of(*result.type(), true);
      if (!rushlight::is_written(code)) return {};
      call.signature_ += code;
    }
  }
  if (!computes(call.signature_)) return {};
  for (const c10::Argument& argument : schema.arguments()) call.kinds_.push_back(argument.type()->kind());
  call.function_ = std::move(function);
  return call;
}

std::optional<BoxedCall> BoxedCall::find_custom(const std::string& name) {
  const CustomKernel* kernel = custom_kernel(name);
  if (kernel == nullptr) return {};
  return make(kernel->schema, kernel->call);
}

std::optional<BoxedCall> BoxedCall::find(const std::string& name) {
  const size_t dot = name.find('.');
  const c10::OperatorName whole(name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1));
  auto handle = find_handle(whole);
  if (!handle.has_value()) {
    const auto other = functional(whole);
    if (other.has_value()) handle = find_handle(*other);
  }
  if (!handle.has_value()) return {};
  return make(handle->schema(), [handle](torch::jit::Stack& stack) { handle->callBoxed(stack); });
}

Error BoxedCall::operator()(const char* name, EValue* const* arguments) const noexcept {
  try {
    const c10::InferenceMode inference;
    QuietResize handler;
    const c10::WarningUtils::WarningHandlerGuard quiet(&handler);
    torch::jit::Stack stack;
    torch::jit::Stack written;
    for (size_t i = 0; i < num_parameters_; ++i) {
      if (rushlight::is_written(signature_[i])) {
        written.push_back(written_value(*arguments[i], signature_.c_str(), arguments));
        stack.push_back(written.back());
      } else {
        stack.push_back(argument_value(kinds_[i], *arguments[i], signature_[i]));
      }
    }
    function_(stack);
    return store(stack, written, arguments);
  } catch (...) {
    return caught(name);
  }
}

// An out variant returns the tensors that it wrote, or nothing. A kernel may return other tensors instead.
Error BoxedCall::store(const torch::jit::Stack& results, const torch::jit::Stack& written,
                       EValue* const* arguments) const {
  const bool returned = written.empty() || results.size() == written.size();
  const torch::jit::Stack& values = returned ? results : written;
  size_t next = 0;
  for (size_t i = 0; i < signature_.size(); ++i) {
    if (!rushlight::is_written(signature_[i])) continue;
    RL_CHECK(next < values.size(), Error::Internal, "expected %lu results, got %lu", log_number(next + 1),
             log_number(values.size()));
    RL_TRY(store_value(values[next], *arguments[i], next));
    ++next;
  }
  return Error::Ok;
}

}  // namespace rushlight::aten
