// SPDX-License-Identifier: BSD-3-Clause
// Concatenates constant strings and message contents. Records the ranges of contents, in which special tokens
// are not parsed: a message cannot imitate its own end.
#include "runtime/llm/chat_template.h"

#include "runtime/base/log.h"

namespace rushlight::llm {

namespace {

constexpr size_t kHeader = 12;

// Like Jinja's `trim` for ASCII: space and the control characters that Python treats as whitespace.
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); }

}  // namespace

Result<ChatTemplate> ChatTemplate::load(Span<const uint8_t> blob) {
  constexpr size_t kOffsets = kTexts + 1;
  RL_CHECK(blob.size() >= kHeader + 4 * kOffsets && std::memcmp(blob.data(), "RLC1", 4) == 0,
           Error::InvalidExternalData, "chat template: expected the identifier RLC1; export the model again");
  const Table<uint32_t> head(blob.data() + 4, 2);
  RL_CHECK(head[1] == kTexts, Error::InvalidExternalData, "chat template: expected %lu strings, got %lu",
           log_number(kTexts), log_number(head[1]));
  const Table<uint32_t> offsets(blob.data() + kHeader, kOffsets);
  const size_t bytes = blob.size() - kHeader - 4 * kOffsets;
  // Checks the offsets once, so that Strings may slice without checks. `RLC1` has one more offset than
  // strings; the last offset ends the last string.
  uint32_t last = 0;
  for (size_t i = 0; i < kOffsets; ++i) {
    RL_CHECK(offsets[i] >= last && offsets[i] <= bytes, Error::InvalidExternalData,
             "chat template: expected ascending offsets up to %lu, got %lu", log_number(bytes),
             log_number(offsets[i]));
    last = offsets[i];
  }
  ChatTemplate made;
  made.flags_ = head[0];
  made.texts_ = {offsets, Table<char>(blob.data() + kHeader + 4 * kOffsets, bytes)};
  return made;
}

// Role rules follow python/rushlight/llm/template.py, which verified them against the model's own template.
Error ChatTemplate::render(Span<const Message> messages, bool generation_prompt, std::string* text,
                           std::vector<TextRange>* contents) const {
  const bool has_system = !messages.empty() && messages[0].role == "system";
  if (!has_system) *text += texts_[WithoutSystem];
  for (size_t i = 0; i < messages.size(); ++i) {
    TextRange content = {};
    RL_TRY(append(messages[i], i == 0, i == 1 && has_system, text, &content));
    if (contents != nullptr) contents->push_back(content);
  }
  if (generation_prompt) *text += texts_[GenerationPrompt];
  return Error::Ok;
}

Error ChatTemplate::encode(Span<const Message> messages, bool generation_prompt, const Tokenizer& tokenizer,
                           std::vector<int32_t>* tokens) const {
  std::string text;
  std::vector<TextRange> contents;
  RL_TRY(render(messages, generation_prompt, &text, &contents));
  return tokenizer.encode(text, tokens, true, {contents.data(), contents.size()});
}

Error ChatTemplate::append(const Message& message, bool first, bool after_system, std::string* text,
                           TextRange* content) const {
  // Records the range of the content alone: the strings of the template around it may hold special tokens.
  const auto put = [&](Text before, std::string_view said, Text after) {
    *text += texts_[before];
    content->begin = text->size();
    *text += said;
    content->end = text->size();
    *text += texts_[after];
  };
  if (message.role == "user") {
    put(after_system ? UserBeforeAfterSystem : UserBefore, trimmed(message.content, kTrimUser), UserAfter);
  } else if (message.role == "assistant") {
    put(AssistantBefore, trimmed(without_reasoning(message.content), kTrimAssistant), AssistantAfter);
  } else {
    RL_CHECK(message.role == "system", Error::InvalidArgument,
             "message: expected the role system, user or assistant, got %.*s",
             static_cast<int>(message.role.substr(0, 40).size()), message.role.data());
    // The format has no strings for a system message elsewhere.
    RL_CHECK(first, Error::InvalidArgument, "message: expected the role system in the first message only");
    RL_CHECK((flags_ & kNoSystem) == 0, Error::InvalidArgument,
             "message: this model's chat format has no role system; put its text into the first question");
    put(SystemBefore, trimmed(message.content, kTrimSystem), SystemAfter);
  }
  return Error::Ok;
}

// Models that think before they answer drop the thoughts of earlier answers from the prompt: all text up to
// the last end mark, and the line breaks behind it.
std::string_view ChatTemplate::without_reasoning(std::string_view content) const {
  const std::string_view end = texts_[ReasoningEnd];
  const size_t found = end.empty() ? std::string_view::npos : content.rfind(end);
  if (found == std::string_view::npos) return content;
  content.remove_prefix(found + end.size());
  while (!content.empty() && content[0] == '\n') content.remove_prefix(1);
  return content;
}

std::string_view ChatTemplate::trimmed(std::string_view content, Flags flag) const {
  if ((flags_ & flag) == 0) return content;
  while (!content.empty() && is_space(content.front())) content.remove_prefix(1);
  while (!content.empty() && is_space(content.back())) content.remove_suffix(1);
  return content;
}

}  // namespace rushlight::llm
