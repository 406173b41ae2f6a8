// SPDX-License-Identifier: BSD-3-Clause
// counter <model.pte> <number>...: runs a program with state four times and prints a line for each.
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "runtime/kernel/operator_table.h"
#include "runtime/module/module.h"
#include "runtime/numbers.h"
#include "runtime/platform/platform.h"

namespace {

// Errors become exceptions here, as an application may want it.
template <class T>
T& must(rushlight::Result<T>& result) {
  if (!result.ok()) throw std::runtime_error(rushlight::to_string(result.error()));
  return *result;
}

void run(int argc, char** argv) {
  auto loaded = rushlight::Module::load_file(argv[1], rushlight::selected_operators);
  rushlight::Module& module = *must(loaded);
  auto values = numbers(argc, argv, 2);
  const auto count = static_cast<rushlight::SizesType>(values.size());
  rushlight::HostTensor input({count}, values.data());
  for (int call = 0; call < 4; ++call) {
    auto outputs = module.forward({input.value()});
    const rushlight::Tensor output = must(outputs)[0].to_tensor();
    const auto* data = output.const_data_ptr<float>();
    for (int i = 0; i < count; ++i) std::printf("%.9g ", static_cast<double>(data[i]));
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  rushlight::platform::init();
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
