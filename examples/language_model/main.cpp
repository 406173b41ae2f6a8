// SPDX-License-Identifier: BSD-3-Clause
// Continues a prompt with a language model, greedily: write_text MODEL PROMPT [TOKENS].
#include <cstdio>
#include <cstdlib>

#include "runtime/kernel/operator_table.h"
#include "runtime/llm/text_generator.h"
#include "runtime/module/module.h"
#include "runtime/platform/platform.h"

namespace {

using rushlight::llm::Generated;
using rushlight::llm::GenerateOptions;
using rushlight::llm::TextGenerator;

// Prints the text as it comes. Errors are in the log.
rushlight::Error write_text(const char* model, const char* prompt, size_t tokens) {
  RL_TRY_ASSIGN(std::shared_ptr<rushlight::Module> module,
                rushlight::Module::load_file(model, rushlight::selected_operators));
  RL_TRY_ASSIGN(const std::unique_ptr<TextGenerator> generator, TextGenerator::load(std::move(module)));
  RL_TRY_ASSIGN(const std::vector<int32_t> begin, generator->encode(prompt));
  GenerateOptions options;
  options.max_tokens = tokens;
  options.sampler.temperature = 0;
  RL_TRY_ASSIGN([[maybe_unused]] const rushlight::llm::Finish why,
                generator->generate({begin.data(), begin.size()}, options, [](const Generated& step) {
                  std::fwrite(step.text.data(), 1, step.text.size(), stdout);
                  std::fflush(stdout);
                  return true;  // false would cancel
                }));
  std::printf("\n");
  std::fprintf(stderr, "%.1f tokens/s\n", generator->statistics().decode_rate());
  return rushlight::Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  rushlight::platform::init();
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s MODEL PROMPT [TOKENS]\n", argv[0]);
    return 2;
  }
  const size_t tokens = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 100;
  return write_text(argv[1], argv[2], tokens) == rushlight::Error::Ok ? 0 : 1;
}
