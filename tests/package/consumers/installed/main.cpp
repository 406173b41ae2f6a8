// SPDX-License-Identifier: BSD-3-Clause
// decode <model.pte> <numbers of hidden and gate>...: runs the method `decode` of a program with several.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/kernel/operator_table.h"
#include "runtime/module/module.h"
#include "runtime/platform/platform.h"

int main(int argc, char** argv) {
  constexpr int kElements = 8;
  if (argc != 2 + 2 * kElements) return 2;
  rushlight::platform::init();
  auto module = rushlight::Module::load_file(argv[1], rushlight::selected_operators);
  if (!module.ok()) return 1;
  for (const std::string& name : (*module)->method_names()) std::printf("%s ", name.c_str());
  std::printf("\n");

  std::vector<float> numbers;
  for (int i = 2; i < argc; ++i) numbers.push_back(std::strtof(argv[i], nullptr));
  rushlight::HostTensor hidden({2, 4}, numbers.data());
  rushlight::HostTensor gate({2, 4}, numbers.data() + kElements);
  auto outputs = (*module)->execute("decode", {hidden.value(), gate.value()});
  if (!outputs.ok()) return 1;
  const rushlight::Tensor output = (*outputs)[0].to_tensor();
  for (int i = 0; i < kElements; ++i) {
    std::printf("%.9g ", static_cast<double>(output.const_data_ptr<float>()[i]));
  }
  std::printf("\n");
  return 0;
}
