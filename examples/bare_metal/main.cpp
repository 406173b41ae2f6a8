// SPDX-License-Identifier: BSD-3-Clause
// Classifies one handwritten digit and prints the probability of each class on the UART. All memory is in
// static arrays; nothing is allocated.
#include "board.h"
#include "runtime/executor/method.h"
#include "runtime/platform/platform.h"

// rushlight_embed_model() defines them: the bytes of the program.
extern "C" const uint8_t rushlight_model_start[], rushlight_model_end[];

namespace {

// Sizes from `rushlight inspect digits.pte`: "planned memory 1", and "method arena" for 32 bits.
alignas(16) uint8_t planned_memory[8192];
alignas(16) uint8_t method_memory[2728];

// The first image of ../digits/tensors.npz, in sixteenths.
// clang-format off
constexpr uint8_t kImage[64] = {
    0, 0,  0,  6, 14,  4,  0, 0,
    0, 0,  4, 13,  2, 12,  0, 0,
    0, 0,  8,  6,  0, 12,  0, 0,
    0, 0,  2, 12,  6, 14,  0, 0,
    0, 0,  1, 12, 16,  9,  0, 0,
    0, 0, 13, 11,  6, 11,  0, 0,
    0, 0,  9, 11,  2,  7,  8, 0,
    0, 0,  0,  5, 10, 15, 13, 0,
};
// clang-format on

void print(const char* text) {
  while (*text != '\0') board::put(*text++);
}

// Prints a line such as "8 0.995123".
void print_line(char digit, float probability) {
  char line[] = "d 0.000000\n";
  line[0] = digit;
  auto millionths = static_cast<uint32_t>(probability * 1e6f + 0.5f);
  for (int i = 9; i > 3; --i, millionths /= 10) line[i] = static_cast<char>('0' + millionths % 10);
  line[2] = static_cast<char>('0' + millionths);
  print(line);
}

rushlight::Error read_digit() {
  using namespace rushlight;
  BufferDataLoader loader(rushlight_model_start,
                          static_cast<size_t>(rushlight_model_end - rushlight_model_start));
  RL_TRY_ASSIGN(const Program program, Program::load(loader));

  Arena arena(method_memory);
  const Span<uint8_t> planned[] = {planned_memory};
  MemoryManager memory;
  memory.method = &arena;
  memory.planned = planned;
  RL_TRY_ASSIGN(Method method, Method::load(program, "forward", memory, selected_operators));

  float pixels[64];
  for (size_t i = 0; i < 64; ++i) pixels[i] = static_cast<float>(kImage[i]) / 16;
  SizesType sizes[] = {1, 1, 8, 8};
  DimOrderType order[] = {0, 1, 2, 3};
  StridesType strides[4];
  TensorImpl image(ScalarType::Float, 4, sizes, pixels, order, strides);
  RL_TRY(method.set_input(0, EValue(Tensor(&image))));
  RL_TRY(method.execute());

  const auto* probabilities = method.output(0).to_tensor().const_data_ptr<float>();
  for (int digit = 0; digit < 10; ++digit) print_line(static_cast<char>('0' + digit), probabilities[digit]);
  return Error::Ok;
}

}  // namespace

// The platform layer that rushlight calls: emit_log() prints its messages, abort() ends a debug build whose
// assertion failed.
namespace rushlight::platform {

void emit_log(LogLevel, const char*, int, const char* message) {
  print(message);
  board::put('\n');
}

void abort() { board::stop(); }

}  // namespace rushlight::platform

int main() {
  const rushlight::Error error = read_digit();
  print(error == rushlight::Error::Ok ? "done" : rushlight::to_string(error));
  board::put('\n');
  board::stop();
}
