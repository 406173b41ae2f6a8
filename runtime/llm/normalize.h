// SPDX-License-Identifier: BSD-3-Clause
// Normalizes text before it is split: prefixes, replacements, lower case, Unicode normal forms.
#pragma once

#include <string>
#include <string_view>

#include "runtime/llm/split.h"
#include "runtime/llm/vocabulary.h"

namespace rushlight::llm {

// Replaces each occurrence of `from`, which is not empty, by `to`, from left to right.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

// Applies the vocabulary's normalizers in order.
std::string normalize(const Vocabulary& vocabulary, const Classes& classes, std::string_view text);

// Decomposes, reorders combining marks and, if `compose`, composes again (Unicode Standard Annex 15). The
// vocabulary's tables determine the form, canonical or compatibility.
std::string normal_form(const Vocabulary& vocabulary, std::string_view text, bool compose);

}  // namespace rushlight::llm
