// SPDX-License-Identifier: BSD-3-Clause
// chat MODEL.pte [MESSAGE [TOKENS]]: answers one message, or each line of stdin, by the likeliest tokens.
// A program without a chat template continues the message as a text.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "runtime/kernel/operator_table.h"
#include "runtime/llm/text_generator.h"
#include "runtime/module/module.h"
#include "runtime/platform/platform.h"

namespace {

using rushlight::Error;
using rushlight::Result;
using rushlight::llm::Generated;
using rushlight::llm::GenerateOptions;
using rushlight::llm::Message;
using rushlight::llm::TextGenerator;

constexpr size_t kDefaultTokens = 200;

struct Turn {
  std::string role, content;
};

// A model and what was said so far. The model's cache keeps earlier turns: an answer evaluates the new
// message only.
class Conversation {
 public:
  explicit Conversation(std::unique_ptr<TextGenerator> generator, size_t tokens)
      : generator_(std::move(generator)) {
    options_.max_tokens = tokens;
    options_.sampler.temperature = 0;
    options_.shifts = true;  // forgets the older half when the context is full
  }

  // Prints the answer as it is made. Errors are in the log.
  Error answer(const std::string& message) {
    turns_.push_back({"user", message});
    RL_TRY_ASSIGN(const std::vector<int32_t> prompt, encode());
    std::string text;
    const auto print = [&text](const Generated& step) {
      std::fwrite(step.text.data(), 1, step.text.size(), stdout);
      std::fflush(stdout);
      text += step.text;
      return true;  // false would cancel
    };
    RL_TRY_ASSIGN([[maybe_unused]] const rushlight::llm::Finish why,
                  generator_->generate({prompt.data(), prompt.size()}, options_, print));
    std::printf("\n");
    turns_.push_back({"assistant", text});
    const rushlight::llm::GenerateStatistics& statistics = generator_->statistics();
    std::fprintf(stderr, "%zu tokens, %.1f tokens/s\n", statistics.generated_tokens,
                 statistics.decode_rate());
    return Error::Ok;
  }

 private:
  [[nodiscard]] Result<std::vector<int32_t>> encode() const {
    if (generator_->chat_template() == nullptr) return generator_->encode(turns_.back().content);
    std::vector<Message> messages;
    for (const Turn& turn : turns_) messages.push_back({turn.role, turn.content});
    return generator_->encode({messages.data(), messages.size()});
  }

  std::unique_ptr<TextGenerator> generator_;
  GenerateOptions options_;
  std::vector<Turn> turns_;
};

Error run(const char* model, const char* message, size_t tokens) {
  RL_TRY_ASSIGN(std::shared_ptr<rushlight::Module> module,
                rushlight::Module::load_file(model, rushlight::selected_operators));
  RL_TRY_ASSIGN(std::unique_ptr<TextGenerator> generator, TextGenerator::load(std::move(module)));
  Conversation conversation(std::move(generator), tokens);
  if (message != nullptr) return conversation.answer(message);
  for (std::string line; std::getline(std::cin, line);) {
    if (!line.empty()) RL_TRY(conversation.answer(line));
  }
  return Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  rushlight::platform::init();
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: %s MODEL.pte [MESSAGE [TOKENS]]\n", argv[0]);
    return 2;
  }
  const size_t tokens = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : kDefaultTokens;
  return run(argv[1], argc > 2 ? argv[2] : nullptr, tokens) == Error::Ok ? 0 : 1;
}
