// SPDX-License-Identifier: BSD-3-Clause
// The state is the cache (evaluated tokens) and the pending tokens behind it. A step evaluates one chunk of
// pending tokens; when none remain, it samples the next token, which becomes pending.
#include "runtime/llm/text_generator.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "runtime/program/program_data_map.h"

namespace rushlight::llm {

namespace {

constexpr const char* kVocabulary = "rushlight.vocabulary";
constexpr const char* kChatTemplate = "rushlight.chat_template";

uint64_t now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

double rate(size_t tokens, uint64_t ns) {
  return ns == 0 ? 0 : static_cast<double>(tokens) * 1e9 / static_cast<double>(ns);
}

size_t common_prefix(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  const size_t shorter = std::min(a.size(), b.size());
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(shorter), b.begin()).first - a.begin());
}

// The first `keep` tokens, then the newest, which fill half of the remaining context. Preconditions: keep + 2
// <= context < tokens.size(). Keys in the cache depend on their positions, so the tokens are evaluated again
// rather than moved.
std::vector<int32_t> shifted(const std::vector<int32_t>& tokens, size_t keep, size_t context) {
  const size_t newest = (context - keep) / 2;
  std::vector<int32_t> kept(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(keep));
  kept.insert(kept.end(), tokens.end() - static_cast<ptrdiff_t>(newest), tokens.end());
  return kept;
}

// Loads an object from named data, whose bytes stay in `data`; leaves `loaded` empty if the program lacks the
// key.
template <class T>
Error load_named(const ProgramDataMap& map, const char* key, FreeableBuffer* data, std::optional<T>* loaded) {
  RL_TRY_ASSIGN(const bool has, map.has(key));
  if (!has) return Error::Ok;
  RL_TRY_ASSIGN(*data, map.data(key));
  RL_TRY_ASSIGN(T value, T::load({static_cast<const uint8_t*>(data->data()), data->size()}));
  loaded->emplace(std::move(value));
  return Error::Ok;
}

}  // namespace

double GenerateStatistics::prefill_rate() const { return rate(evaluated_tokens, prefill_ns); }
double GenerateStatistics::decode_rate() const { return rate(decoded_tokens, decode_ns); }

Result<std::unique_ptr<TextGenerator>> TextGenerator::load(std::shared_ptr<Module> module) {
  RL_TRY_ASSIGN(CachedModel model, CachedModel::load(module));
  std::unique_ptr<TextGenerator> generator(new TextGenerator(std::move(model)));
  RL_TRY(generator->load_texts(module->program()));
  return generator;
}

Error TextGenerator::load_texts(const Program& program) {
  const ProgramDataMap map(program);
  RL_TRY(load_named(map, kVocabulary, &vocabulary_data_, &tokenizer_));
  return load_named(map, kChatTemplate, &template_data_, &template_);
}

Result<std::vector<int32_t>> TextGenerator::encode(std::string_view prompt) const {
  RL_CHECK(tokenizer_, Error::NotSupported,
           "prompt: expected tokens, got text; the program has no vocabulary");
  std::vector<int32_t> tokens = tokenizer_->prefix();
  RL_TRY(tokenizer_->encode(prompt, &tokens, true));
  return tokens;
}

Result<std::vector<int32_t>> TextGenerator::encode(Span<const Message> messages) const {
  RL_CHECK(tokenizer_ && template_, Error::NotSupported,
           "prompt: expected tokens or text, got messages; the program has no chat template");
  std::vector<int32_t> tokens;
  RL_TRY(template_->encode(messages, true, *tokenizer_, &tokens));
  return tokens;
}

Error TextGenerator::check(Span<const int32_t> prompt, const GenerateOptions& options) const {
  const size_t context = facts().context;
  RL_CHECK(options.max_tokens > 0, Error::InvalidArgument, "max_tokens: expected at least 1, got 0");
  RL_CHECK(!prompt.empty(), Error::InvalidArgument, "prompt: expected at least 1 token, got none");
  for (const int32_t token : prompt) {
    RL_CHECK(token >= 0 && static_cast<size_t>(token) < facts().logits, Error::InvalidArgument,
             "prompt: expected tokens from 0 to %lu, got %ld", log_number(facts().logits - 1), long{token});
  }
  if (!options.shifts) {
    RL_CHECK(prompt.size() <= context, Error::InvalidArgument,
             "prompt: expected at most %lu tokens (the context), got %lu", log_number(context),
             log_number(prompt.size()));
    return Error::Ok;
  }
  // At least one of the newest tokens remains after a shift: (context - keep) / 2 >= 1.
  RL_CHECK(context >= 2 && options.keep <= context - 2, Error::InvalidArgument,
           "keep: expected fewer than %lu tokens (the context minus 1), got %lu", log_number(context - 1),
           log_number(options.keep));
  return Error::Ok;
}

Error TextGenerator::begin(Span<const int32_t> prompt, const GenerateOptions& options) {
  RL_TRY(check(prompt, options));
  options_ = options;
  sampler_ = Sampler(options.sampler);
  stop_ = StopTexts(options.stop);
  if (tokenizer_) decoder_.emplace(*tokenizer_);
  history_.assign(prompt.begin(), prompt.end());
  become(prompt.size() <= facts().context ? history_ : shifted(history_, options.keep, facts().context));
  statistics_ = {};
  statistics_.prompt_tokens = prompt.size();
  statistics_.cached_tokens = model_.tokens().size();
  is_running_ = true;
  begun_ns_ = now_ns();
  return Error::Ok;
}

// The last token is always evaluated again, because its logits are needed. A cache that cannot be shortened
// is empty after rewind(); then all tokens are pending.
void TextGenerator::become(const std::vector<int32_t>& tokens) {
  const size_t kept = std::min(common_prefix(model_.tokens(), tokens), tokens.size() - 1);
  model_.rewind(kept);
  pending_.assign(tokens.begin() + static_cast<ptrdiff_t>(model_.tokens().size()), tokens.end());
}

// Returns true if the pending tokens fit in the cache, after a shift if the options permit it.
bool TextGenerator::fits_context() {
  if (model_.tokens().size() + pending_.size() <= facts().context) return true;
  if (!options_.shifts) return false;
  become(shifted(tokens(), options_.keep, facts().context));
  return true;
}

Error TextGenerator::evaluate_next() {
  const size_t count = std::min(pending_.size(), facts().chunk);
  RL_TRY(model_.evaluate({pending_.data(), count}));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(count));
  return Error::Ok;
}

// A step counts as decoding if it evaluates only the token sampled before; all others are prefill.
Result<Generated> TextGenerator::step() {
  RL_CHECK(is_running_, Error::InvalidState, "step: expected a text that has not ended; call begin() first");
  if (!fits_context()) return finish(Finish::ContextFull, {});
  const uint64_t start = now_ns();
  const bool decodes = statistics_.generated_tokens > 0 && pending_.size() == 1;
  const size_t waiting = pending_.size();
  RL_TRY(evaluate_next());
  const size_t evaluated = waiting - pending_.size();
  // A chunk that is not the prompt's last gives no token; its logits are ignored.
  const Generated made = pending_.empty() ? sample() : Generated();
  const uint64_t end = now_ns();
  if (decodes) {
    ++statistics_.decoded_tokens;
    statistics_.decode_ns += end - start;
  } else {
    statistics_.evaluated_tokens += evaluated;
    statistics_.prefill_ns += end - start;
  }
  if (made.token && statistics_.generated_tokens == 1) statistics_.first_token_ns = end - begun_ns_;
  return made;
}

Generated TextGenerator::sample() {
  Generated step;
  const int32_t token = sampler_.sample(model_.logits(), {history_.data(), history_.size()});
  step.token = token;
  if (options_.logprobs) step.logprob = logprob_of(token);
  // history_ is not shifted with the cache, so the repetition penalty still sees dropped tokens.
  history_.push_back(token);
  pending_.assign(1, token);
  ++statistics_.generated_tokens;
  // A stop text outranks the other reasons, because it truncates the text.
  const bool stops = add_text(token, &step.text);
  const Finish why = stops ? Finish::StopText : reason_to_end(token);
  return why == Finish::None ? step : finish(why, std::move(step));
}

Finish TextGenerator::reason_to_end(int32_t token) const {
  if (options_.stops_at_end && is_end(token)) return Finish::EndToken;
  return statistics_.generated_tokens == options_.max_tokens ? Finish::MaxTokens : Finish::None;
}

// Appends the text that is certain after this token. Returns true if a stop text is complete.
bool TextGenerator::add_text(int32_t token, std::string* text) {
  if (!decoder_) return false;
  std::string decoded;
  decoder_->add(token, &decoded);
  return stop_.add(decoded, text);
}

bool TextGenerator::is_end(int32_t token) const {
  const std::vector<int32_t>& ends = facts().ends;
  return std::find(ends.begin(), ends.end(), token) != ends.end();
}

// Ends a text. Text that was held back is part of the last step, unless a stop text ended it or it is
// cancelled: then nobody receives it, and a stop text in it is no reason.
Generated TextGenerator::finish(Finish why, Generated step) {
  is_running_ = false;
  step.finish = why;
  if (!decoder_ || why == Finish::StopText || why == Finish::Cancelled) return step;
  std::string decoded;
  decoder_->finish(&decoded);
  if (stop_.add(decoded, &step.text)) {
    step.finish = Finish::StopText;
  } else {
    step.text += stop_.rest();
  }
  return step;
}

// Log softmax, in double because it sums 100,000 values and more. Subtracting the maximum keeps exp() at most
// 1, and the sum at least 1.
float TextGenerator::logprob_of(int32_t token) const {
  const Span<const float> logits = model_.logits();
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - most);
  return static_cast<float>(logits[static_cast<size_t>(token)] - most - std::log(sum));
}

Result<Finish> TextGenerator::generate(Span<const int32_t> prompt, const GenerateOptions& options,
                                       const Callback& callback) {
  RL_TRY(begin(prompt, options));
  while (true) {
    RL_TRY_ASSIGN(const Generated made, step());
    const bool continues = callback(made);
    if (made.finish != Finish::None) return made.finish;
    // The callback has received the token already.
    if (!continues) return finish(Finish::Cancelled, {}).finish;
  }
}

std::vector<int32_t> TextGenerator::tokens() const {
  std::vector<int32_t> all = model_.tokens();
  all.insert(all.end(), pending_.begin(), pending_.end());
  return all;
}

Error TextGenerator::rewind(size_t count) {
  std::vector<int32_t> all = tokens();
  RL_CHECK(count <= all.size(), Error::InvalidArgument, "rewind: expected at most %lu tokens, got %lu",
           log_number(all.size()), log_number(count));
  // Tokens beyond the cache (never evaluated, or lost because the cache cannot be shortened) become pending.
  model_.rewind(std::min(count, model_.tokens().size()));
  pending_.assign(all.begin() + static_cast<ptrdiff_t>(model_.tokens().size()),
                  all.begin() + static_cast<ptrdiff_t>(count));
  is_running_ = false;
  return Error::Ok;
}

}  // namespace rushlight::llm
