// SPDX-License-Identifier: BSD-3-Clause
// classify MODEL.pte IMAGE.csv|IMAGE.pgm: prints the likeliest classes of an image and the time of one
// inference.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

#include "image_file.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/module/module.h"
#include "runtime/platform/platform.h"

namespace {

using rushlight::Error;
using rushlight::Module;
using rushlight::Result;
using rushlight::ScalarType;
using rushlight::TensorInfo;

constexpr size_t kShown = 3;
constexpr int kTimedRuns = 100;

// The shape of the model's input. A program comes from a file: it may take other inputs than an image.
Result<std::vector<rushlight::SizesType>> image_sizes(const Module& module) {
  RL_TRY_ASSIGN(const rushlight::MethodMeta meta, module.method_meta("forward"));
  if (meta.num_inputs() != 1) {
    return fail(Error::InvalidArgument, "model: expected 1 input, got %zu", meta.num_inputs());
  }
  RL_TRY_ASSIGN(const TensorInfo image, meta.input_tensor(0));
  if (image.scalar_type != ScalarType::Float) {
    return fail(Error::InvalidArgument, "model: expected a float32 input, got %s",
                rushlight::to_string(image.scalar_type));
  }
  return std::vector<rushlight::SizesType>(image.sizes.begin(), image.sizes.end());
}

// The method is loaded by the first call; the time is the median of later ones.
Result<double> microseconds(Module& module, const rushlight::EValue& image) {
  std::vector<double> times;
  for (int i = 0; i < kTimedRuns; ++i) {
    const auto began = std::chrono::steady_clock::now();
    RL_TRY_ASSIGN(const auto outputs, module.forward({image}));
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count());
  }
  std::nth_element(times.begin(), times.begin() + kTimedRuns / 2, times.end());
  return times[kTimedRuns / 2];
}

Error print_classes(const rushlight::EValue& output) {
  if (!output.is_tensor() || output.to_tensor().scalar_type() != ScalarType::Float) {
    return fail(Error::InvalidArgument, "model: expected a float32 output");
  }
  const rushlight::Tensor scores = output.to_tensor();
  const auto* score = scores.const_data_ptr<float>();
  std::vector<size_t> classes(static_cast<size_t>(scores.numel()));
  std::iota(classes.begin(), classes.end(), size_t{0});
  const size_t shown = std::min(kShown, classes.size());
  const auto is_better = [score](size_t a, size_t b) { return score[a] > score[b]; };
  std::partial_sort(classes.begin(), classes.begin() + static_cast<std::ptrdiff_t>(shown), classes.end(),
                    is_better);
  for (size_t i = 0; i < shown; ++i) {
    std::printf("class %zu: %.6f\n", classes[i], static_cast<double>(score[classes[i]]));
  }
  return Error::Ok;
}

Error classify(const char* model, const char* image_path) {
  RL_TRY_ASSIGN(const std::unique_ptr<Module> module,
                Module::load_file(model, rushlight::selected_operators));
  RL_TRY_ASSIGN(const std::vector<rushlight::SizesType> sizes, image_sizes(*module));
  const size_t count = std::accumulate(sizes.begin(), sizes.end(), size_t{1}, std::multiplies<>());
  RL_TRY_ASSIGN(std::vector<float> pixels, read_image(image_path, count));
  const rushlight::HostTensor image(sizes, std::move(pixels));
  RL_TRY_ASSIGN(const std::vector<rushlight::EValue> outputs, module->forward({image.value()}));
  if (outputs.empty()) return fail(Error::InvalidArgument, "model: expected an output, got none");
  RL_TRY(print_classes(outputs[0]));
  RL_TRY_ASSIGN(const double time, microseconds(*module, image.value()));
  std::printf("one inference: %.1f us\n", time);
  return Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL.pte IMAGE.csv|IMAGE.pgm\n", argv[0]);
    return 2;
  }
  rushlight::platform::init();
  const Error error = classify(argv[1], argv[2]);
  if (error != Error::Ok) std::fprintf(stderr, "%s: %s\n", argv[0], rushlight::to_string(error));
  return error == Error::Ok ? 0 : 1;
}
