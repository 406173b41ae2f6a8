// SPDX-License-Identifier: BSD-3-Clause
// A language model on a microcontroller: continues a prompt with the likeliest tokens, and prints the
// instructions of a token. All memory is claimed once, from the board's bank for arenas.
#include <cinttypes>
#include <cstdio>

#include "prompt.h"
#include "runtime/executor/method.h"
#include "runtime/platform/platform.h"
#include "runtime/platform/semihosting_call.h"

// rushlight_embed_model() defines them: the bytes of the program.
extern "C" const uint8_t rushlight_model_start[], rushlight_model_end[];

namespace {

using namespace rushlight;

void print(const char* format, unsigned long a = 0, unsigned long b = 0) {
  char text[128];
  std::snprintf(text, sizeof(text), format, a, b);
  semihosting_write(text);
}

void print_token(size_t token) {
  char text[kLongestText + 1] = {};
  std::memcpy(text, kTexts + kTextAt[token], kTextAt[token + 1] - kTextAt[token]);
  semihosting_write(text);
}

Result<Span<uint8_t>> claim(size_t bytes, const char* what) {
  const Span<uint8_t> memory = platform::claim_memory(bytes);
  RL_CHECK(memory.size() == bytes, Error::MemoryAllocationFailed, "%s: need %lu bytes", what,
           static_cast<unsigned long>(bytes));
  return memory;
}

size_t likeliest(const float* logits) {
  size_t best = 0;
  for (size_t i = 1; i < kVocabulary; ++i) best = logits[i] > logits[best] ? i : best;
  return best;
}

// Calls forward() with tokens of which the first has `position`, and returns the likeliest next token.
Result<size_t> next_token(Method& method, const int64_t* tokens, size_t count, size_t position) {
  int64_t at = static_cast<int64_t>(position);
  SizesType sizes[] = {1, static_cast<SizesType>(count)}, one[] = {1};
  DimOrderType order[] = {0, 1};
  StridesType strides[2], stride[1];
  TensorImpl text(ScalarType::Long, 2, sizes, const_cast<int64_t*>(tokens), order, strides);
  TensorImpl where(ScalarType::Long, 1, one, &at, order, stride);
  RL_TRY(method.set_input(0, EValue(Tensor(&text))));
  RL_TRY(method.set_input(1, EValue(Tensor(&where))));
  RL_TRY(method.execute());
  return likeliest(method.output(0).to_tensor().const_data_ptr<float>());
}

Error generate(Method& method) {
  const uint64_t start = platform::instruction_count();
  size_t token = 0, position = 0;
  for (size_t count; position < kPromptTokens; position += count) {
    count = kPromptTokens - position < kMostTokens ? kPromptTokens - position : kMostTokens;
    RL_TRY_ASSIGN(token, next_token(method, kPrompt + position, count, position));
  }
  for (const int64_t each : kPrompt) print_token(static_cast<size_t>(each));
  const uint64_t begin = platform::instruction_count();
  size_t made = 0;
  for (; made < kNewTokens && token != kEnd; ++made, ++position) {
    print_token(token);
    const auto last = static_cast<int64_t>(token);
    RL_TRY_ASSIGN(token, next_token(method, &last, 1, position));
  }
  const uint64_t end = platform::instruction_count();
  print("\n---\nprompt: %lu tokens, %lu instructions each\n", kPromptTokens,
        static_cast<unsigned long>((begin - start) / kPromptTokens));
  if (made == 0) return Error::Ok;
  print("text: %lu tokens, %lu instructions each\n", made, static_cast<unsigned long>((end - begin) / made));
  return Error::Ok;
}

Error run() {
  BufferDataLoader loader(rushlight_model_start,
                          static_cast<size_t>(rushlight_model_end - rushlight_model_start));
  RL_TRY_ASSIGN(const Program program, Program::load(loader));
  RL_TRY_ASSIGN(const MethodMeta meta, program.method_meta("forward"));
  RL_TRY_ASSIGN(const size_t arena_bytes, meta.arena_bytes());
  RL_TRY_ASSIGN(const Span<uint8_t> arena_memory, claim(arena_bytes, "method arena"));
  RL_TRY_ASSIGN(const Span<uint8_t> scratch, claim(kScratchBytes, "scratch"));
  RL_TRY_ASSIGN(const size_t planned_bytes, meta.planned_buffer_size(0));
  Span<uint8_t> planned[1];
  RL_TRY_ASSIGN(planned[0], claim(planned_bytes, "planned memory"));
  print("method %lu, planned %lu bytes\n", arena_bytes, planned_bytes);

  Arena arena(arena_memory), temporary(scratch);
  MemoryManager memory;
  memory.method = &arena;
  memory.temporary = &temporary;
  memory.planned = planned;
  RL_TRY_ASSIGN(Method method, Method::load(program, "forward", memory, selected_operators));
  alignas(16) static float logits[kVocabulary];
  const EValue& output = method.output(0);
  if (output.to_tensor().const_data_ptr() == nullptr) {
    RL_TRY(method.set_output_buffer(0, {reinterpret_cast<uint8_t*>(logits), sizeof(logits)}));
  }
  return generate(method);
}

}  // namespace

int main() {
  platform::init();
  const Error error = run();
  if (error != Error::Ok) print("failed\n");
  semihosting_exit(error == Error::Ok ? 0 : 1);
}
