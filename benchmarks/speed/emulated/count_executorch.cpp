// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/extension/threadpool/threadpool_guard.h>

#include "count.h"

using executorch::aten::SizesType;
using executorch::extension::make_tensor_ptr;
using executorch::runtime::Error;
using executorch::runtime::EValue;

int main(int argc, char** argv) {
  if (argc != 4) return counting::fail("usage: count_module PROGRAM INPUTS OUTPUTS", argc);
  const executorch::extension::threadpool::NoThreadPoolGuard one_thread;
  executorch::extension::Module module(argv[1]);
  const Error loaded = module.load_forward();
  if (loaded != Error::Ok) return counting::fail("load", static_cast<int>(loaded));
  const auto meta = module.method_meta("forward");
  if (!meta.ok()) return counting::fail("meta", static_cast<int>(meta.error()));

  counting::Inputs bytes(argv[2]);
  std::vector<executorch::extension::TensorPtr> tensors;
  std::vector<EValue> inputs;
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    if (!info.ok()) return counting::fail("input", static_cast<int>(info.error()));
    tensors.push_back(make_tensor_ptr(std::vector<SizesType>(info->sizes().begin(), info->sizes().end()),
                                      bytes.next(info->nbytes()), info->scalar_type()));
    inputs.emplace_back(tensors.back());
  }

  std::vector<EValue> outputs;
  const bool done = counting::count([&] {
    auto result = module.forward(inputs);
    if (result.ok()) outputs = std::move(*result);
    return result.ok();
  });
  if (!done) return counting::fail("forward", 0);
  std::ofstream file(argv[3], std::ios::binary);
  for (const EValue& value : outputs) {
    const auto& tensor = value.toTensor();
    file.write(static_cast<const char*>(tensor.const_data_ptr()),
               static_cast<std::streamsize>(tensor.nbytes()));
  }
  return file.good() ? 0 : counting::fail("outputs", 0);
}
