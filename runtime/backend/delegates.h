// SPDX-License-Identifier: BSD-3-Clause
// The delegates of a method. The executor reaches this code through the backend table it is given, so
// that a program linked with an empty table does not hold it.
#pragma once

#include "runtime/backend/backend.h"
#include "runtime/memory/memory_manager.h"
#include "runtime/program/program.h"

namespace rushlight {

// One backend's part of a method.
struct Delegate {
  const Backend* backend;
  DelegateHandle* handle;
  FreeableBuffer processed;
};

struct DelegateList {
  Delegate* items = nullptr;  // capacity: every delegate of the method
  size_t size = 0;            // that have been initialised
};

struct DelegateSupport {
  // Whether all backends are there; names each that is not. Error: NotFound.
  Error (*find)(flatbuffer::Table plan, const BackendTable& backends);
  // Initialises all. On an error those before it stay in the list. `specs` has the capacity for all their
  // specs.
  Error (*init)(flatbuffer::Table plan, const Program& program, const BackendTable& backends,
                const NamedDataMap* external_data, const MemoryManager& memory, EventTracer* tracer,
                ThreadPool* threads, BackendHost* host, CompileSpec* specs, DelegateList* delegates);
  Error (*execute)(const Delegate& delegate, BackendExecuteContext& context, const char* id,
                   Span<EValue* const> arguments);
  void (*destroy)(DelegateList* delegates);
};

}  // namespace rushlight
