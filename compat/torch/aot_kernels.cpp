// SPDX-License-Identifier: BSD-3-Clause
// Registers the kernels of a library built by gen_custom_ops_aot_lib with PyTorch, when the library is loaded
// (torch.ops.load_library): the out overloads, on CPU tensors, with the same results as on the device.
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "aten/convert.h"
#include "runtime/executor/arguments.h"
#include "runtime/kernel/operator_table.h"

namespace rushlight {

extern const KernelEntry RUSHLIGHT_AOT_ENTRIES[];

namespace {

struct Operator {
  const char* name;
  const char* schema;
};

// Generated: the operators of the library, sorted by name like the entries.
constexpr Operator kOperators[] = {
#include "operator_schemas.inc"
};
constexpr size_t kCount = sizeof(kOperators) / sizeof(kOperators[0]);

// The arguments of one call. Kernels get row-major tensors; others are copied.
struct Arguments {
  aten::Values values;
  std::vector<EValue*> pointers;
  std::vector<at::Tensor> dense;  // of each argument; undefined if it is no tensor

  void add(const c10::IValue& value) {
    dense.push_back(value.isTensor() ? value.toTensor().contiguous() : at::Tensor());
    auto made = values.add(value.isTensor() ? c10::IValue(dense.back()) : value);
    TORCH_CHECK(made.ok(), "argument ", pointers.size(),
                ": expected a tensor of the CPU or another value of ", "programs, got a ", value.tagKind());
    pointers.push_back(*made);
  }
};

const KernelEntry* find(const char* name) {
  for (size_t i = 0; i < kCount; ++i) {
    if (std::strcmp(RUSHLIGHT_AOT_ENTRIES[i].name, name) == 0) return &RUSHLIGHT_AOT_ENTRIES[i];
  }
  return nullptr;
}

Error call_kernel(const KernelEntry& entry, const std::vector<EValue*>& arguments) {
  const Error error = check_kinds(entry, {arguments.data(), arguments.size()});
  if (error != Error::Ok) return error;
  std::vector<uint8_t> memory(size_t{16} << 20);
  Arena temporary({memory.data(), memory.size()});
  KernelContext context(&temporary, nullptr, entry, arguments.size());
  return entry.call(context, arguments.data());
}

void call_boxed(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  const std::string name =
      schema.overload_name().empty() ? schema.name() : schema.name() + "." + schema.overload_name();
  const KernelEntry* entry = find(name.c_str());
  TORCH_CHECK(entry != nullptr, name, ": the library has no kernel for it");
  const auto inputs = torch::jit::last(*stack, schema.arguments().size());
  Arguments arguments;
  for (const c10::IValue& value : inputs) arguments.add(value);
  const Error error = call_kernel(*entry, arguments.pointers);
  TORCH_CHECK(error == Error::Ok, name, ": the kernel failed, error ", static_cast<int>(error));
  std::vector<at::Tensor> outputs;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    if (!inputs[i].isTensor() || !schema.arguments()[i].is_out()) continue;
    const at::Tensor& given = outputs.emplace_back(inputs[i].toTensor());
    if (!arguments.dense[i].is_same(given)) given.copy_(arguments.dense[i]);
  }
  torch::jit::drop(*stack, schema.arguments().size());
  for (const at::Tensor& output : outputs) torch::jit::push(*stack, output);
}

// Kept as long as the library is loaded.
std::vector<torch::Library> register_all() {
  std::vector<torch::Library> libraries;
  for (const Operator& each : kOperators) {
    const std::string name = each.name;
    const std::string space = name.substr(0, name.find("::"));
    if (space == "aten") continue;  // PyTorch's own operators stay
    auto& defined = libraries.emplace_back(torch::Library::FRAGMENT, space, std::nullopt, __FILE__, __LINE__);
    defined.def(each.schema);
    auto& implemented =
        libraries.emplace_back(torch::Library::IMPL, space, c10::DispatchKey::CPU, __FILE__, __LINE__);
    implemented.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&call_boxed>());
  }
  return libraries;
}

const std::vector<torch::Library> registered = register_all();

}  // namespace

}  // namespace rushlight
