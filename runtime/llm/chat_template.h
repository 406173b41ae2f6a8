// SPDX-License-Identifier: BSD-3-Clause
// Conversations as prompts. A template is what stands before and after the messages of each role, as
// python/rushlight/llm/template.py derives it from a model's own: the named data `rushlight.chat_template`.
//
// Little-endian: "RLC1", flags, the number of strings, their offsets (one more) as uint32, their bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"

namespace rushlight::llm {

struct Message {
  std::string_view role;  // system (the first message only), user or assistant
  std::string_view content;
};

class ChatTemplate {
 public:
  // `blob` must outlive the template. Errors: InvalidExternalData.
  static Result<ChatTemplate> load(Span<const uint8_t> blob);

  // Appends the prompt for the assistant's next message, or without its beginning if not `generation_prompt`.
  // `contents`, where given, gets the places of the messages' texts. Errors: InvalidArgument, of a role that
  // is not known, a system message that is not the first or that the format does not have.
  Error render(Span<const Message> messages, bool generation_prompt, std::string* text,
               std::vector<TextRange>* contents = nullptr) const;
  // The same as tokens. Special tokens written in messages are text: nobody can end a message by what it
  // says.
  Error encode(Span<const Message> messages, bool generation_prompt, const Tokenizer& tokenizer,
               std::vector<int32_t>* tokens) const;

 private:
  enum Text {
    WithoutSystem,  // the opening if the first message is no system message
    SystemBefore,   // the opening otherwise
    SystemAfter,
    UserBefore,
    UserBeforeAfterSystem,  // of a user's message next to the system's
    UserAfter,
    AssistantBefore,
    AssistantAfter,
    GenerationPrompt,
    ReasoningEnd,  // the assistant's text up to the last of these is left out; empty: it is kept
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
