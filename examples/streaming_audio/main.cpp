// SPDX-License-Identifier: BSD-3-Clause
// detect MODEL.pte AUDIO.wav [PROBABILITIES.txt]: finds speech in a recording, one frame of 10 ms a call. The
// program keeps its state between the calls. Prints the spans of speech and the time that the frames took;
// the file gets the probability of each frame.
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/kernel/operator_table.h"
#include "runtime/module/module.h"
#include "runtime/platform/platform.h"
#include "wav_file.h"

namespace {

using rushlight::Error;
using rushlight::MethodMeta;
using rushlight::Module;
using rushlight::Result;
using rushlight::ScalarType;
using rushlight::TensorInfo;

constexpr size_t kFrame = 160;
constexpr double kFrameSeconds = static_cast<double>(kFrame) / WavFile::kRate;
constexpr float kThreshold = 0.5F;

// A program comes from a file: it may take other inputs than a frame.
Error check_model(const Module& module) {
  RL_TRY_ASSIGN(const MethodMeta meta, module.method_meta("forward"));
  if (meta.num_inputs() != 1 || meta.num_outputs() != 1) {
    return fail(Error::InvalidArgument, "model: expected 1 input and 1 output, got %zu and %zu",
                meta.num_inputs(), meta.num_outputs());
  }
  RL_TRY_ASSIGN(const TensorInfo input, meta.input_tensor(0));
  if (input.scalar_type != ScalarType::Short || input.sizes.size() != 2 || input.sizes[0] != 1 ||
      input.sizes[1] != static_cast<rushlight::SizesType>(kFrame)) {
    return fail(Error::InvalidArgument, "model: expected an int16 input [1, %zu], got %s, rank %zu", kFrame,
                rushlight::to_string(input.scalar_type), input.sizes.size());
  }
  RL_TRY_ASSIGN(const TensorInfo output, meta.output_tensor(0));
  size_t count = 1;
  for (const auto size : output.sizes) count *= static_cast<size_t>(size);
  if (output.scalar_type != ScalarType::Float || count != 1) {
    return fail(Error::InvalidArgument, "model: expected a float32 output of 1 element, got %s of %zu",
                rushlight::to_string(output.scalar_type), count);
  }
  return Error::Ok;
}

// The probability of speech in each frame; the rest of less than a frame is left out.
Result<std::vector<float>> detect(Module& module, WavFile& wav) {
  std::vector<int16_t> frame(kFrame);
  const rushlight::HostTensor input({1, static_cast<rushlight::SizesType>(kFrame)}, frame.data());
  std::vector<float> probabilities;
  for (size_t left = wav.samples(); left >= kFrame; left -= kFrame) {
    RL_TRY(wav.read(frame));
    RL_TRY_ASSIGN(const std::vector<rushlight::EValue> outputs, module.forward({input.value()}));
    probabilities.push_back(*outputs[0].to_tensor().const_data_ptr<float>());
  }
  return probabilities;
}

void print_spans(const std::vector<float>& probabilities) {
  size_t begin = 0;
  bool is_speech = false;
  for (size_t i = 0; i <= probabilities.size(); ++i) {
    const bool now = i < probabilities.size() && probabilities[i] > kThreshold;
    if (now && !is_speech) begin = i;
    if (!now && is_speech) {
      std::printf("speech: %.2f s to %.2f s\n", static_cast<double>(begin) * kFrameSeconds,
                  static_cast<double>(i) * kFrameSeconds);
    }
    is_speech = now;
  }
}

Error write(const std::vector<float>& probabilities, const char* path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "w"), std::fclose);
  if (!file) return fail(Error::AccessFailed, "%s: expected a file that can be written, got none", path);
  for (const float each : probabilities) std::fprintf(file.get(), "%.9g\n", static_cast<double>(each));
  if (std::fflush(file.get()) != 0) {
    return fail(Error::AccessFailed, "%s: expected to write %zu lines, got an error", path,
                probabilities.size());
  }
  return Error::Ok;
}

Error run(const char* model, const char* audio, const char* written) {
  RL_TRY_ASSIGN(const std::unique_ptr<Module> module,
                Module::load_file(model, rushlight::selected_operators));
  RL_TRY(check_model(*module));
  RL_TRY_ASSIGN(WavFile wav, WavFile::open(audio));
  RL_TRY(module->method("forward").error());  // loads it, so that the first frame takes no longer
  const auto began = std::chrono::steady_clock::now();
  RL_TRY_ASSIGN(const std::vector<float> probabilities, detect(*module, wav));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  print_spans(probabilities);
  if (written != nullptr) RL_TRY(write(probabilities, written));
  const double seconds = static_cast<double>(probabilities.size()) * kFrameSeconds;
  std::printf("%zu frames, %.1f us a frame, real-time factor %.4f\n", probabilities.size(),
              probabilities.empty() ? 0.0 : took.count() * 1e6 / static_cast<double>(probabilities.size()),
              probabilities.empty() ? 0.0 : took.count() / seconds);
  return Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: %s MODEL.pte AUDIO.wav [PROBABILITIES.txt]\n", argv[0]);
    return 2;
  }
  rushlight::platform::init();
  const Error error = run(argv[1], argv[2], argc == 4 ? argv[3] : nullptr);
  if (error != Error::Ok) std::fprintf(stderr, "%s: %s\n", argv[0], rushlight::to_string(error));
  return error == Error::Ok ? 0 : 1;
}
