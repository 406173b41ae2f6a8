// SPDX-License-Identifier: BSD-3-Clause
// add <model.pte> <numbers of a and b>...: adds two rows of numbers, with ExecuTorch's API.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

using executorch::extension::from_blob;
using executorch::extension::make_tensor_ptr;
using executorch::extension::Module;

int main(int argc, char** argv) {
  constexpr int kElements = 24;
  if (argc != 2 + 2 * kElements) return 2;
  std::vector<double> numbers;
  for (int i = 2; i < argc; ++i) numbers.push_back(std::strtod(argv[i], nullptr));

  Module module(argv[1]);
  auto a = from_blob(numbers.data(), {4, 6}, executorch::aten::ScalarType::Double);
  auto b = make_tensor_ptr({4, 6}, std::vector<double>(numbers.begin() + kElements, numbers.end()));
  const auto outputs = module.forward({a, b});
  if (!outputs.ok()) {
    std::fprintf(stderr, "forward failed: %d\n", static_cast<int>(outputs.error()));
    return 1;
  }
  const auto sum = outputs->at(0).toTensor();
  for (int i = 0; i < sum.numel(); ++i) std::printf("%.17g ", sum.const_data_ptr<double>()[i]);
  std::printf("\n");
  return 0;
}
