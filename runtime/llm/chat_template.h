// SPDX-License-Identifier: BSD-3-Clause
// Renders conversations as prompts. A template consists of the strings before and after the messages of each
// role; python/rushlight/llm/template.py derives it from the model's Jinja template and stores it as the
// named data `rushlight.chat_template`.
//
// Format, little-endian: "RLC1", uint32 flags, uint32 number of strings, uint32 offsets (one more than
// strings), bytes of the strings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"

namespace rushlight::llm {

// One message of a conversation. The strings must outlive the call.
struct Message {
  std::string_view role;  // "system" (first message only), "user" or "assistant"
  std::string_view content;
};

// A parsed template. Refers to its blob.
class ChatTemplate {
 public:
  // Parses a template. `blob` must outlive it. Error: InvalidExternalData.
  static Result<ChatTemplate> load(Span<const uint8_t> blob);

  // Appends the prompt for the assistant's next message to `text`. Without `generation_prompt`, omits the
  // opening of that message. If not null, `contents` receives the ranges of the messages' contents in `text`.
  // Error: InvalidArgument (unknown role; a system message that is not the first, or in a format without that
  // role).
  Error render(Span<const Message> messages, bool generation_prompt, std::string* text,
               std::vector<TextRange>* contents = nullptr) const;
  // Like render(), as tokens. Special tokens inside message contents are encoded as text, so a message cannot
  // end itself.
  Error encode(Span<const Message> messages, bool generation_prompt, const Tokenizer& tokenizer,
               std::vector<int32_t>* tokens) const;

 private:
  enum Text {
    WithoutSystem,  // opening if the first message has another role than system
    SystemBefore,   // opening otherwise
    SystemAfter,
    UserBefore,
    UserBeforeAfterSystem,  // for a user message directly after the system message
    UserAfter,
    AssistantBefore,
    AssistantAfter,
    GenerationPrompt,
    ReasoningEnd,  // assistant text up to its last occurrence is dropped; empty: kept
    kTexts
  };
  enum Flags : uint32_t { kTrimSystem = 1, kTrimUser = 2, kTrimAssistant = 4, kNoSystem = 8 };

  Error append(const Message& message, bool first, bool after_system, std::string* text,
               TextRange* content) const;
  [[nodiscard]] std::string_view without_reasoning(std::string_view content) const;
  [[nodiscard]] std::string_view trimmed(std::string_view content, Flags flag) const;

  uint32_t flags_ = 0;
  Strings texts_;
};

}  // namespace rushlight::llm
