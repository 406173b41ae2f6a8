// SPDX-License-Identifier: BSD-3-Clause
// The outcome of one run of a fuzz target. Each target defines these functions; libFuzzer and replay.cpp call
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "tests/fuzz/choices.h"

namespace rushlight::fuzz {

// The last stage that an input reached: the fuzzer's reports count inputs by it, so that a mutator whose
// files are all refused stands out.
enum class Stage : uint8_t { Refused, Loaded, Executed };
inline constexpr size_t kStages = 3;

struct Outcome {
  Stage stage = Stage::Refused;
  Error error = Error::Ok;  // the first error returned
};

// Runs one input. Ends the process on broken invariants that sanitizers cannot see.
Outcome run_input(Span<const uint8_t> input);

// Changes data[0, size) in place, as `choices` determine; returns the new size, at most `capacity`.
size_t mutate_input(uint8_t* data, size_t size, size_t capacity, Choices& choices);

}  // namespace rushlight::fuzz
