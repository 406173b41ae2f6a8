// SPDX-License-Identifier: BSD-3-Clause
// Generates text with a language model, one token per step:
//
//   auto module = Module::load_file("m.pte", selected_operators);
//   auto generator = TextGenerator::load(std::move(*module));
//   GenerateOptions options;
//   options.max_tokens = 200;
//   options.stop = {"\n\n"};
//   auto prompt = (*generator)->encode("Once upon a time");
//   auto print = [](const Generated& piece) {
//     std::fwrite(piece.text.data(), 1, piece.text.size(), stdout);
//     return true;  // false cancels
//   };
//   auto finish = (*generator)->generate({prompt->data(), prompt->size()}, options, print);
//
// The cache persists between prompts: a prefix that the new prompt shares with the last one is not evaluated
// again, which makes growing conversations cheap. Not thread-safe; two generators over one module share its
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

// Options of one text.
struct GenerateOptions {
  size_t max_tokens = SIZE_MAX;
  SamplerOptions sampler = {};
  std::vector<std::string> stop = {};  // strings that end the text; they are not part of it
  bool stops_at_end = true;            // stop at the model's end tokens
  // If the context is full: false ends the text; true keeps the first `keep` tokens and the newest half of
  // the others, evaluates these again, and continues.
  bool shifts = false;
  size_t keep = 0;
  bool logprobs = false;  // compute log probabilities, from the model's logits before sampler options
};

// Reasons why a text ended.
enum class Finish : uint8_t {
  None,         // not finished
  EndToken,     // the model ended the text
  StopText,     // one of GenerateOptions::stop
  MaxTokens,    // GenerateOptions::max_tokens
  ContextFull,  // the cache is full
  Cancelled,    // the callback returned false
};

// The result of a step. `token` is empty if the step evaluated a part of the prompt.
struct Generated {
  std::string text;  // whole characters; empty while incomplete or possibly a stop text
  std::optional<int32_t> token;
  float logprob = 0;
  Finish finish = Finish::None;
};

// Counts and times since begin().
struct GenerateStatistics {
  size_t prompt_tokens = 0;
  size_t cached_tokens = 0;     // prompt tokens that were in the cache
  size_t evaluated_tokens = 0;  // prompt tokens, and tokens that shifts evaluate again
  size_t generated_tokens = 0;
  uint64_t first_token_ns = 0;  // from begin() to the first token
  size_t decoded_tokens = 0;    // generated tokens, except those directly after a prompt or a shift
  uint64_t prefill_ns = 0;      // time of evaluated_tokens, and of sampling after them
  uint64_t decode_ns = 0;       // time of decoded_tokens: evaluating one token and sampling the next
  [[nodiscard]] double prefill_rate() const;  // tokens per second; 0 if there were none
  [[nodiscard]] double decode_rate() const;
};

// A language model with tokenizer, chat template and sampler.
class TextGenerator {
 public:
  // Receives each step; returns false to cancel.
  using Callback = std::function<bool(const Generated&)>;

  // Loads the model of a module. Vocabulary and chat template come from the program's named data
  // rushlight.vocabulary and rushlight.chat_template, if present. Without a vocabulary the generator works on
  // tokens only. Errors: as CachedModel::load(), Tokenizer::load() and ChatTemplate::load().
  [[nodiscard]] static Result<std::unique_ptr<TextGenerator>> load(std::shared_ptr<Module> module);

  [[nodiscard]] const ModelFacts& facts() const { return model_.facts(); }
  [[nodiscard]] Method::FailedCall failed_call() const { return model_.failed_call(); }

  // Null if the program has no vocabulary.
  [[nodiscard]] const Tokenizer* tokenizer() const { return tokenizer_ ? &*tokenizer_ : nullptr; }
  // Null if the program has no chat template.
  [[nodiscard]] const ChatTemplate* chat_template() const { return template_ ? &*template_ : nullptr; }

  // Encode a text to be continued (with the vocabulary's prefix tokens), or a conversation for its next
  // answer. In a text, special tokens are parsed; in messages they are text. Errors: NotSupported (the
  // program has no vocabulary or template), or as Tokenizer::encode() and ChatTemplate::render().
  [[nodiscard]] Result<std::vector<int32_t>> encode(std::string_view prompt) const;
  [[nodiscard]] Result<std::vector<int32_t>> encode(Span<const Message> messages) const;

  // Evaluates the prompt and calls `callback` for each step until the text ends. Errors: as begin() and
  // step().
  [[nodiscard]] Result<Finish> generate(Span<const int32_t> prompt, const GenerateOptions& options,
                                        const Callback& callback);

  // Starts a text, for stepwise generation. Evaluates nothing yet. Error: InvalidArgument (empty prompt, a
  // token outside of the vocabulary, more tokens than the context without shifts, an option out of range).
  Error begin(Span<const int32_t> prompt, const GenerateOptions& options);
  // Evaluates the next part of the prompt (up to facts().chunk tokens) and, after its last part, samples a
  // token; one call of the method. Errors: InvalidState (no text was started, or it has ended), or as
  // executing the method; the step may then be repeated.
  [[nodiscard]] Result<Generated> step();

  // All tokens so far: the cached ones, and the ones for the next steps to evaluate.
  [[nodiscard]] std::vector<int32_t> tokens() const;
  // Keeps the first `count` tokens, so that a later prompt need not evaluate them again (unless
  // !facts().rewinds). Ends the current text. Error: InvalidArgument (there are fewer).
  Error rewind(size_t count);

  [[nodiscard]] const GenerateStatistics& statistics() const { return statistics_; }

 private:
  explicit TextGenerator(CachedModel model) : model_(std::move(model)) {}

  Error load_texts(const Program& program);
  Error check(Span<const int32_t> prompt, const GenerateOptions& options) const;
  // Makes `tokens` the contents of the cache and of the pending tokens; reuses the common prefix.
  void become(const std::vector<int32_t>& tokens);
  [[nodiscard]] bool fits_context();
  Error evaluate_next();
  Generated sample();
  [[nodiscard]] bool is_end(int32_t token) const;
  [[nodiscard]] Finish reason_to_end(int32_t token) const;
  bool add_text(int32_t token, std::string* text);
  Generated finish(Finish why, Generated step);
  [[nodiscard]] float logprob_of(int32_t token) const;

  CachedModel model_;
  FreeableBuffer vocabulary_data_;  // bytes that tokenizer_ and template_ refer to
  FreeableBuffer template_data_;
  std::optional<Tokenizer> tokenizer_;
  std::optional<ChatTemplate> template_;
  GenerateOptions options_;
  Sampler sampler_{SamplerOptions()};
  StopTexts stop_{{}};
  std::optional<Decoder> decoder_;
  std::vector<int32_t> pending_;  // tokens after the cache's, not evaluated yet
  std::vector<int32_t> history_;  // prompt and text, for the sampler's repetition penalty
  bool is_running_ = false;
  GenerateStatistics statistics_;
  uint64_t begun_ns_ = 0;
};

}  // namespace rushlight::llm
