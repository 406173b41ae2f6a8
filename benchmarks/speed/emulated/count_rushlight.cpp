// SPDX-License-Identifier: BSD-3-Clause
#include <functional>
#include <numeric>
#include <utility>

#include "backends/rewrite/rewriter.h"
#include "count.h"
#include "runtime/backend/backend.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/module/module.h"
#include "runtime/platform/platform.h"

int main(int argc, char** argv) {
  if (argc != 4) return counting::fail("usage: count_module PROGRAM INPUTS OUTPUTS", argc);
  rushlight::platform::init();
  rushlight::ModuleOptions options;  // as the Python runtime loads programs
  options.threads = 1;
  options.rewriter = rushlight::make_rewriter;
  options.method.backends = &rushlight::selected_backends;
  auto module = rushlight::Module::load_file(argv[1], rushlight::selected_operators, options);
  if (!module.ok()) return counting::fail("load", static_cast<int>(module.error()));
  const auto meta = (*module)->method_meta("forward");
  if (!meta.ok()) return counting::fail("meta", static_cast<int>(meta.error()));

  counting::Inputs bytes(argv[2]);
  std::vector<rushlight::EValue> inputs;
  std::vector<std::vector<uint8_t>> parts(meta->num_inputs());
  std::vector<rushlight::HostTensor> tensors;
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor(i);
    if (!info.ok()) return counting::fail("input", static_cast<int>(info.error()));
    const std::vector<rushlight::SizesType> sizes(info->sizes.begin(), info->sizes.end());
    const size_t elements = std::accumulate(sizes.begin(), sizes.end(), size_t{1}, std::multiplies<>());
    parts[i] = bytes.next(elements * rushlight::element_size(info->scalar_type));
    tensors.emplace_back(sizes, info->scalar_type, parts[i].data());
    inputs.push_back(tensors.back().value());
  }

  std::vector<rushlight::EValue> outputs;
  const bool done = counting::count([&] {
    auto result = (*module)->forward(inputs);
    if (result.ok()) outputs = std::move(*result);
    return result.ok();
  });
  if (!done) return counting::fail("forward", 0);
  std::ofstream file(argv[3], std::ios::binary);
  for (const rushlight::EValue& value : outputs) {
    const rushlight::Tensor tensor = value.to_tensor();
    file.write(static_cast<const char*>(tensor.const_data_ptr()),
               static_cast<std::streamsize>(tensor.nbytes()));
  }
  return file.good() ? 0 : counting::fail("outputs", 0);
}
