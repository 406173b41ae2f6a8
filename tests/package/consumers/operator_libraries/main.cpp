// SPDX-License-Identifier: BSD-3-Clause
// Prints the linked operators in the order of their lookup, then calls each operator that takes one matrix or
// two on [-1, 2], and prints the result.
#include <cstdio>
#include <cstring>

#include <executorch/runtime/core/evalue.h>

#include "runtime/kernel/operator_table.h"

using rushlight::DimOrderType;
using rushlight::EValue;
using rushlight::SizesType;

namespace {

struct Matrix {
  SizesType sizes[2] = {1, 2};
  DimOrderType order[2] = {0, 1};
  int32_t strides[2] = {2, 1};
  float numbers[2] = {-1, 2};
  rushlight::TensorImpl impl{rushlight::ScalarType::Float, 2, sizes, numbers, order, strides};
  EValue value{rushlight::Tensor(&impl)};
};

void call(const rushlight::KernelEntry& entry) {
  Matrix in, out;
  EValue one(int64_t{1});
  EValue* unary[] = {&in.value, &out.value};
  EValue* sum[] = {&in.value, &in.value, &one, &out.value};
  rushlight::KernelContext context;
  const bool is_sum = std::strcmp(entry.name, "aten::add.out") == 0;
  const auto error = entry.call(context, is_sum ? sum : unary);
  std::printf("%d %g %g\n", static_cast<int>(error), static_cast<double>(out.numbers[0]),
              static_cast<double>(out.numbers[1]));
}

}  // namespace

int main() {
  for (const auto* table = &rushlight::selected_operators; table != nullptr; table = table->next) {
    for (size_t i = 0; i < table->size; ++i) std::printf("%s\n", table->entries[i].name);
  }
  for (const char* name : {"my_ops::mul3.out", "aten::relu.out", "aten::add.out"}) {
    const auto* entry = rushlight::selected_operators.find(name, "");
    std::printf("= %s ", name);
    entry == nullptr ? static_cast<void>(std::printf("missing\n")) : call(*entry);
  }
  return 0;
}
