// SPDX-License-Identifier: BSD-3-Clause
// A program, opened, described, every method loaded and executed some times on inputs of the kinds it
// asks for, in memory of exactly the sizes that it asks for, and one byte less.
#pragma once

#include <functional>

#include "runtime/executor/method.h"
#include "runtime/program/data_loader.h"
#include "runtime/program/named_data.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/target.h"

namespace rushlight::fuzz {

using Then = std::function<void(Method&)>;

// `external` may be null; `then` gets each method that was loaded, after its runs.
Outcome run_program(DataLoader& loader, const NamedDataMap* external, Choices& choices,
                    const Then& then = {});

// Reads all that a map has.
void read_map(const NamedDataMap& map);

}  // namespace rushlight::fuzz
