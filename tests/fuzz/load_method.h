// SPDX-License-Identifier: BSD-3-Clause
// Loads a method of a hostile program, which may execute 2000 instructions: its jumps may form an endless
// loop.
#pragma once

#include <vector>

#include "runtime/executor/method.h"
#include "tests/fuzz/backend.h"

namespace rushlight::fuzz {

// Memory of the method, of the sizes that it asks for or others.
struct MethodMemory {
  Arena method;
  Arena temporary;
  std::vector<Span<uint8_t>> planned;
};

// `memory` and `external` outlive the method. Errors: as Method::load().
inline Result<Method> load_method(const Program& program, const MethodMeta& meta, MethodMemory& memory,
                                  const NamedDataMap* external, ThreadPool* threads = nullptr) {
  MemoryManager manager;
  manager.method = &memory.method;
  manager.planned = {memory.planned.data(), memory.planned.size()};
  manager.temporary = &memory.temporary;
  MethodOptions options;
  options.backends = &backends;
  options.external_data = external;
  // Stops an endless loop soon.
  options.instruction_budget = 2000;
  options.threads = threads;
  return Method::load(program, meta.name(), manager, selected_operators, options);
}

}  // namespace rushlight::fuzz
