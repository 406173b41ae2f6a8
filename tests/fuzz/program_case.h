// SPDX-License-Identifier: BSD-3-Clause
// Opens and describes a program, then loads and executes every method several times on inputs of the required
// kinds, in memory of exactly the sizes that it asks for, and of one byte less.
#pragma once

#include <functional>

#include "runtime/executor/method.h"
#include "runtime/program/data_loader.h"
#include "runtime/program/named_data.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/target.h"

namespace rushlight::fuzz {

// Further checks of a loaded method.
using Then = std::function<void(Method&)>;

// `external` may be null; `then` gets each loaded method after its executions.
Outcome run_program(DataLoader& loader, const NamedDataMap* external, Choices& choices,
                    const Then& then = {});

// Reads all entries of a map.
void read_map(const NamedDataMap& map);

}  // namespace rushlight::fuzz
