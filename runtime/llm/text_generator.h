// SPDX-License-Identifier: BSD-3-Clause
// Generates text with a language model, a token a step:
//
//   auto module = Module::load_file("m.pte", selected_operators);
//   auto generator = TextGenerator::load(std::move(*module));
//   GenerateOptions options;
//   options.max_tokens = 200;
//   options.stop = {"\n\n"};
//   auto prompt = (*generator)->encode("Once upon a time");
//   auto finish = (*generator)->generate({prompt->data(), prompt->size()}, options, [](const Generated&
//   piece) {
//     std::fwrite(piece.text.data(), 1, piece.text.size(), stdout);
//     return true;  // false cancels
//   });
//
// The cache stays from one prompt to the next: the beginning that both share is not evaluated again, as is
// the case of a conversation that grows. One thread at a time; two generators over one module share its
// weights.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/llm/cached_model.h"
#include "runtime/llm/chat_template.h"
#include "runtime/llm/sampler.h"
#include "runtime/llm/stop_texts.h"
#include "runtime/llm/tokenizer.h"

namespace rushlight::llm {

struct GenerateOptions {
  size_t max_tokens = SIZE_MAX;
  SamplerOptions sampler = {};
  std::vector<std::string> stop = {};  // texts that end it, and are not part of it
  bool stops_at_end = true;            // at the model's end tokens
  // When the context is full: false ends the text; true keeps the first `keep` tokens and the newest half of
  // the others, which are evaluated again, and goes on.
  bool shifts = false;
  size_t keep = 0;
  bool logprobs = false;  // of tokens, as the model has them before options of the sampler
};

enum class Finish : uint8_t {
  None,         // it goes on
  EndToken,     // the model ended the text
  StopText,     // one of GenerateOptions::stop
  MaxTokens,    // GenerateOptions::max_tokens
  ContextFull,  // the cache
  Cancelled,    // by the callback
};

// What a step made. A part of the prompt was evaluated where there is no token.
struct Generated {
  std::string text;  // whole characters; empty while they are incomplete or may begin a stop text
  std::optional<int32_t> token;
  float logprob = 0;
  Finish finish = Finish::None;
};

// Of one begin() and the steps since then.
struct GenerateStatistics {
  size_t prompt_tokens = 0;
  size_t cached_tokens = 0;     // of the prompt, that were in the cache
  size_t evaluated_tokens = 0;  // of the prompt, and again of what was kept by shifts
  size_t generated_tokens = 0;
  uint64_t first_token_ns = 0;  // from begin() to the first token
  size_t decoded_tokens = 0;    // generated_tokens without those that follow a prompt or a shift
  uint64_t prefill_ns = 0;      // of evaluated_tokens, and sampling what follows them
  uint64_t decode_ns = 0;       // of decoded_tokens: evaluating one token and sampling the next
  [[nodiscard]] double prefill_rate() const;  // tokens a second; 0 where there were none
  [[nodiscard]] double decode_rate() const;
};

class TextGenerator {
 public:
  using Callback = std::function<bool(const Generated&)>;

  // The vocabulary and the chat template are read from the program, where it has them: the named data
  // rushlight.vocabulary and rushlight.chat_template. Without a vocabulary there are only tokens. Errors:
  // what CachedModel::load(), Tokenizer::load() and ChatTemplate::load() return.
  [[nodiscard]] static Result<std::unique_ptr<TextGenerator>> load(std::shared_ptr<Module> module);

  [[nodiscard]] const ModelFacts& facts() const { return model_.facts(); }
  [[nodiscard]] const Method& method() const { return model_.method(); }

  // Null of a program without a vocabulary.
  [[nodiscard]] const Tokenizer* tokenizer() const { return tokenizer_ ? &*tokenizer_ : nullptr; }
  // Null of a program without a chat template.
  [[nodiscard]] const ChatTemplate* chat_template() const { return template_ ? &*template_ : nullptr; }

  // The tokens of a text that is to be continued, with those that begin a text, or of a conversation, for its
  // next answer. Special tokens may be written in them. Errors: NotSupported (the program has no vocabulary,
  // or no template), or what Tokenizer::encode() and ChatTemplate::render() return.
  [[nodiscard]] Result<std::vector<int32_t>> encode(std::string_view prompt) const;
  [[nodiscard]] Result<std::vector<int32_t>> encode(Span<const Message> messages) const;

  // Evaluates the prompt and gives the callback each step to the end. Errors: what begin() and step() return.
  [[nodiscard]] Result<Finish> generate(Span<const int32_t> prompt, const GenerateOptions& options,
                                        const Callback& callback);

  // The same step by step. begin() evaluates nothing. Errors: InvalidArgument (no token, a token that the
  // vocabulary does not have, more tokens than the context unless it shifts, options out of range).
  Error begin(Span<const int32_t> prompt, const GenerateOptions& options);
  // Evaluates the next part of the prompt (facts().chunk tokens), or samples a token; one call of the method.
  // Errors: InvalidState (nothing was begun, or it has finished), or what executing the method returns: then
  // the step may be made again.
  [[nodiscard]] Result<Generated> step();

  // The tokens so far: those in the cache and those that the next step evaluates.
  [[nodiscard]] std::vector<int32_t> tokens() const;
  // Keeps the first `count` tokens, which a later prompt need not evaluate (unless !facts().rewinds). Ends
  // what was begun. Error: InvalidArgument (there are fewer).
  Error rewind(size_t count);

  [[nodiscard]] const GenerateStatistics& statistics() const { return statistics_; }

 private:
  explicit TextGenerator(CachedModel model) : model_(std::move(model)) {}

  Error load_texts(const Program& program);
  Error check(Span<const int32_t> prompt, const GenerateOptions& options) const;
  // Makes `tokens` what the cache holds and is going to be evaluated.
  void become(const std::vector<int32_t>& tokens);
  [[nodiscard]] bool makes_room();
  Error evaluate_next();
  Generated sample();
  [[nodiscard]] bool is_end(int32_t token) const;
  [[nodiscard]] Finish reason_to_end(int32_t token) const;
  bool add_text(int32_t token, std::string* text);
  Generated finish(Finish why, Generated step);
  [[nodiscard]] float logprob_of(int32_t token) const;

  CachedModel model_;
  FreeableBuffer vocabulary_data_;  // what tokenizer_ and template_ use
  FreeableBuffer template_data_;
  std::optional<Tokenizer> tokenizer_;
  std::optional<ChatTemplate> template_;
  GenerateOptions options_;
  Sampler sampler_{SamplerOptions()};
  StopTexts stop_{{}};
  std::optional<Decoder> decoder_;
  std::vector<int32_t> pending_;  // behind the cache's, not evaluated yet
  std::vector<int32_t> history_;  // all of the prompt and the text, for the sampler's repetition penalty
  bool is_running_ = false;
  GenerateStatistics statistics_;
  uint64_t begun_ns_ = 0;
};

}  // namespace rushlight::llm
