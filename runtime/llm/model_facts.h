// SPDX-License-Identifier: BSD-3-Clause
// What a program says of the language model in it, by ExecuTorch's metadata methods and the shapes of its
// method forward(tokens int64 [1, S], input_pos int64 [1]) -> logits [1, vocabulary] or [1, S, vocabulary].
#pragma once

#include <optional>
#include <vector>

#include "runtime/module/module.h"

namespace rushlight::llm {

struct ModelFacts {
  std::optional<int32_t> begin;    // get_bos_id
  std::vector<int32_t> ends;       // get_eos_ids, or get_eos_id
  size_t context = 0;              // tokens that the cache holds: get_max_context_len, or get_max_seq_len
  size_t chunk = 0;                // tokens of one call, at most; 1 of a program with static shapes
  size_t vocabulary = 0;           // tokens to sample from: get_vocab_size, or all logits
  size_t logits = 0;               // numbers of the logits of one position
  bool positions_of_each = false;  // input_pos is int64 [S], as exporters of Hugging Face models write it
  bool rewinds = true;  // whether the cache can be shortened: its rows are positions. A ring's are not
};

// Errors: NotFound (no method forward), NotSupported (a method forward of another form, or no cache),
// InvalidProgram (metadata that is no number or out of range), or what running a metadata method returns.
[[nodiscard]] Result<ModelFacts> read_facts(const Module& module);

}  // namespace rushlight::llm
