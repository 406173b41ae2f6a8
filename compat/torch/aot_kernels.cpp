// SPDX-License-Identifier: BSD-3-Clause
// Registers the kernels of a library built by gen_custom_ops_aot_lib with PyTorch, when the library is loaded
// (torch.ops.load_library): the out overloads, on CPU tensors, with the same results as on the device.
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

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

// A PyTorch tensor as a kernel's argument: row-major; copied if it is not.
struct HeldTensor {
  at::Tensor given;
  at::Tensor tensor;
  std::vector<SizesType> sizes;
  std::vector<DimOrderType> order;
  std::vector<StridesType> strides;
  std::optional<TensorImpl> impl;

  explicit HeldTensor(const at::Tensor& from) : given(from), tensor(from.contiguous()) {
    TORCH_CHECK(tensor.device().is_cpu(), "a tensor of the CPU expected, got one of ", tensor.device());
    TORCH_CHECK(static_cast<size_t>(tensor.dim()) <= kTensorDimensionLimit, "a tensor of at most ",
                kTensorDimensionLimit, " dimensions expected, got one of ", tensor.dim());
    for (const int64_t size : tensor.sizes()) {
      TORCH_CHECK(size <= INT32_MAX, "a tensor of sizes below 2^31 expected, got one of size ", size);
      sizes.push_back(static_cast<SizesType>(size));
    }
    for (size_t d = 0; d < sizes.size(); ++d) order.push_back(static_cast<DimOrderType>(d));
    strides.resize(sizes.size());
    const auto type = static_cast<ScalarType>(static_cast<int8_t>(tensor.scalar_type()));
    impl.emplace(type, static_cast<ptrdiff_t>(sizes.size()), sizes.data(), tensor.data_ptr(), order.data(),
                 strides.data());
  }
  void write_back() const {
    if (!tensor.is_same(given)) given.copy_(tensor);
  }
};

// The values of one call.
struct Values {
  std::deque<HeldTensor> tensors;
  std::deque<EValue> values;
  std::deque<std::string> strings;
  std::deque<std::vector<double>> doubles;
  std::deque<std::vector<int64_t>> ints;
  std::deque<std::vector<EValue*>> lists;
  std::deque<BoxedList<int64_t>> boxed;
  std::vector<EValue*> arguments;

  EValue* add(EValue value) { return &values.emplace_back(value); }

  EValue* take(const c10::IValue& value) {
    if (value.isNone()) return add(EValue());
    if (value.isTensor()) return add(EValue(Tensor(&*tensors.emplace_back(value.toTensor()).impl)));
    if (value.isBool()) return add(EValue(value.toBool()));
    if (value.isInt()) return add(EValue(value.toInt()));
    if (value.isDouble()) return add(EValue(value.toDouble()));
    if (value.isString()) {
      return add(EValue(std::string_view(strings.emplace_back(value.toStringRef()))));
    }
    if (value.isDoubleList()) {
      EValue list;
      list.payload.as_double_list = doubles.emplace_back(value.toDoubleVector()).data();
      list.tag = Tag::ListDouble;
      list.length = static_cast<uint32_t>(doubles.back().size());
      return add(list);
    }
    TORCH_CHECK(value.isIntList(), "no kernel of a custom operator library takes ", value.tagKind());
    return take_ints(value.toIntVector());
  }

  EValue* take_ints(const std::vector<int64_t>& numbers) {
    auto& items = lists.emplace_back();
    for (const int64_t number : numbers) items.push_back(add(EValue(number)));
    boxed.push_back({items.data(), ints.emplace_back(numbers).data()});
    EValue list;
    list.payload.as_int_list = &boxed.back();
    list.tag = Tag::ListInt;
    list.length = static_cast<uint32_t>(numbers.size());
    return add(list);
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
  Values values;
  for (const c10::IValue& value : inputs) values.arguments.push_back(values.take(value));
  const Error error = call_kernel(*entry, values.arguments);
  TORCH_CHECK(error == Error::Ok, name, ": the kernel failed, error ", static_cast<int>(error));
  std::vector<at::Tensor> outputs;
  size_t index = 0;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    if (!inputs[i].isTensor()) continue;
    const HeldTensor& held = values.tensors[index++];
    if (!schema.arguments()[i].is_out()) continue;
    held.write_back();
    outputs.push_back(held.given);
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
