// SPDX-License-Identifier: BSD-3-Clause
// Properties of a program's language model, read from ExecuTorch's metadata methods and from the shapes of
// its method forward(tokens int64 [1, S], input_pos int64 [1]) -> logits [1, vocabulary] or [1, S,
// vocabulary].
#pragma once

#include <optional>
#include <vector>

#include "runtime/module/module.h"

namespace rushlight::llm {

// Properties, with the methods that they come from.
struct ModelFacts {
  std::optional<int32_t> begin;    // get_bos_id
  std::vector<int32_t> ends;       // get_eos_ids, or get_eos_id
  size_t context = 0;              // capacity of the cache in tokens: get_max_context_len, or get_max_seq_len
  size_t chunk = 0;                // most tokens of one call; 1 for programs with static shapes
  size_t vocabulary = 0;           // number of tokens to sample from: get_vocab_size, or all logits
  size_t logits = 0;               // logits per position
  bool positions_of_each = false;  // input_pos is int64 [S], as Hugging Face exporters write it
  bool rewinds = true;             // the cache can be shortened: its rows are positions, not a ring
};

// Reads the properties; executes the metadata methods. Errors: NotFound (no method forward), NotSupported
// (forward has another signature, or no cache), InvalidProgram (metadata is not a number or out of range), or
// as executing a metadata method.
[[nodiscard]] Result<ModelFacts> read_facts(const Module& module);

}  // namespace rushlight::llm
