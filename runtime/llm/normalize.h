// SPDX-License-Identifier: BSD-3-Clause
// Rewrites a text before it is split: prefixes, replacements, lower case, Unicode normal forms.
#pragma once

#include <string>
#include <string_view>

#include "runtime/llm/split.h"
#include "runtime/llm/vocabulary.h"

namespace rushlight::llm {

// Each `from`, which is not empty, replaced by `to`, from the left.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

std::string normalize(const Vocabulary& vocabulary, const Classes& classes, std::string_view text);

// Decomposes, orders combining marks, and composes again if asked (Unicode Standard Annex 15).
std::string normal_form(const Vocabulary& vocabulary, std::string_view text, bool compose);

}  // namespace rushlight::llm
