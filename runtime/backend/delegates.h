// SPDX-License-Identifier: BSD-3-Clause
// Initialises, executes and destroys the delegates of a method. The executor calls this code through the
// backend table, so that a program with an empty table does not link it.
#pragma once

#include "runtime/backend/backend.h"
#include "runtime/memory/memory_manager.h"
#include "runtime/program/program.h"

namespace rushlight {

// One delegate of a method.
struct Delegate {
  const Backend* backend;
  DelegateHandle* handle;
  FreeableBuffer processed;
};

// The delegates of a method, in its arena.
struct DelegateList {
  Delegate* items = nullptr;  // capacity: all delegates of the method
  size_t size = 0;            // number of initialised delegates
};

struct DelegateSupport {
  // Checks that all backends are linked and available; logs each that is not. Error: NotFound.
  Error (*find)(flatbuffer::Table plan, const BackendTable& backends);
  // Initialises all delegates in order. On an error, those initialised before stay in the list, for
  // destroy(). `specs` has the capacity for the compile specs of all delegates.
  Error (*init)(flatbuffer::Table plan, const Program& program, const BackendTable& backends,
                const NamedDataMap* external_data, const MemoryManager& memory, EventTracer* tracer,
                ThreadPool* threads, BackendHost* host, CompileSpec* specs, DelegateList* delegates);
  // Executes one delegate. `id` is the backend's name, for the log.
  Error (*execute)(const Delegate& delegate, BackendExecuteContext& context, const char* id,
                   Span<EValue* const> arguments);
  // Destroys all in reverse order.
  void (*destroy)(DelegateList* delegates);
};

}  // namespace rushlight
