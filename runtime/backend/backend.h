// SPDX-License-Identifier: BSD-3-Clause
// The backend interface. A backend executes parts of a program with its own code: the exporter lowers a
// subgraph to a payload ("processed" bytes), and the program calls the delegate like one large kernel.
//
//   class Doubler final : public Backend { ... };
//   constexpr Doubler doubler;
//   constexpr BackendEntry entries[] = {{"Doubler", &doubler}};
//   constexpr BackendTable backends = {entries, 1};
//
// Backends do not register themselves: the application passes the table to Method::load.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/memory/arena.h"
#include "runtime/program/data_loader.h"
#include "runtime/tensor/evalue.h"
#include "runtime/trace/scope.h"

namespace rushlight {

class NamedDataMap;
class ThreadPool;

// A setting from the exporter for the backend. Points into the program.
struct CompileSpec {
  const char* key;
  Span<const uint8_t> value;
};

// Bytes that a delegate allocates outside of the method's memory.
struct DelegateMemory {
  size_t working = 0;   // values and intermediates between its nodes
  size_t scratch = 0;   // the largest scratch of one of its nodes
  size_t prepared = 0;  // packed weights, made or to be made if the host enables preparation
};

// Services of the host that loads methods, for backends that allocate their own memory. Lives as long as the
// method.
class BackendHost {
 public:
  // Bytes left of the method's limit.
  [[nodiscard]] virtual size_t bytes_left() const = 0;
  // Counts memory that a delegate allocates. Error: MemoryAllocationFailed (the limit is exceeded).
  virtual Error take(const DelegateMemory& memory) = 0;
  // Returns memory that take() counted.
  virtual void give_back(const DelegateMemory& memory) = 0;
  // Returns true if delegates should prepare weights. Otherwise the host does not count their memory.
  [[nodiscard]] virtual bool prepares() const = 0;
  // The most calls of a delegate that may execute at once; 1 means one at a time.
  [[nodiscard]] virtual size_t lanes() const { return 1; }

  // Evicts file pages that were read while weights were prepared; they are read again on the next access.
  virtual void release_pages() = 0;

  // A type of object that the delegates of all methods of a program share, one instance each. The SharedKind
  // itself is a constant; its address identifies the type.
  struct SharedKind {
    void* (*make)();  // returns null if there is no memory
    void (*destroy)(void* object);
  };
  // Returns the shared object, made on the first call, or null if there is no memory. It outlives the
  // methods.
  [[nodiscard]] virtual void* shared(const SharedKind& kind) = 0;

 protected:
  ~BackendHost() = default;
};

// Passed to Backend::init().
class BackendInitContext : public Traced {
 public:
  BackendInitContext(Arena* memory, const char* method_name, const NamedDataMap* named_data,
                     EventTracer* tracer = nullptr, ThreadPool* threads = nullptr,
                     BackendHost* host = nullptr)
      : Traced(tracer),
        memory_(memory),
        method_name_(method_name),
        named_data_(named_data),
        threads_(threads),
        host_(host) {}

  // Allocates memory from the method's arena, which lives as long as the method; null if it does not fit.
  [[nodiscard]] void* allocate(size_t size, size_t alignment = Arena::kDefaultAlignment) {
    return memory_->allocate(size, alignment);
  }
  [[nodiscard]] const char* method_name() const { return method_name_; }
  // Data of the program and of the caller's data files, by key. Valid until init() returns.
  [[nodiscard]] const NamedDataMap* named_data() const { return named_data_; }
  // The thread pool of the method's kernels, valid as long as the method. Null means single-threaded.
  [[nodiscard]] ThreadPool* threads() const { return threads_; }
  // Null on boards, and if the application loads methods without a host.
  [[nodiscard]] BackendHost* host() const { return host_; }

 private:
  Arena* memory_;
  const char* method_name_;
  const NamedDataMap* named_data_;
  ThreadPool* threads_;
  BackendHost* host_;
};

// Passed to Backend::execute().
class BackendExecuteContext : public Traced {
 public:
  BackendExecuteContext(Arena* temporary, const char* method_name, EventTracer* tracer)
      : Traced(tracer), temporary_(temporary), method_name_(method_name) {}

  // Allocates scratch until execute() returns; null if it does not fit.
  [[nodiscard]] void* allocate_temp(size_t size, size_t alignment = Arena::kDefaultAlignment) {
    return temporary_ == nullptr ? nullptr : temporary_->allocate(size, alignment);
  }
  [[nodiscard]] const char* method_name() const { return method_name_; }

 private:
  Arena* temporary_;
  const char* method_name_;
};

// The backend's private state of one delegate. The runtime only stores the pointer.
using DelegateHandle = void;

// A backend. It has no mutable state, so that one constant object can serve all threads.
class Backend {
 public:
  // Returns true if the device that the backend needs is present.
  [[nodiscard]] virtual bool is_available() const { return true; }

  // Initialises one delegate of a method. `processed` stays valid until destroy() returns, unless the backend
  // releases it earlier with processed->free(). `specs` point into the program. Both come from the file and
  // must be checked. Errors: any; loading the method then fails with the same error.
  [[nodiscard]] virtual Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                                     Span<const CompileSpec> specs) const = 0;

  // Executes the delegate. Arguments are the inputs, then the outputs, in the exporter's order. Their number,
  // kinds, dtypes and shapes come from the file: access them through input_tensor() and output_tensor().
  virtual Error execute(BackendExecuteContext& context, DelegateHandle* handle,
                        Span<EValue* const> arguments) const = 0;

  // Releases what init() allocated outside of the context. Called once for each successful init().
  virtual void destroy(DelegateHandle* handle) const { static_cast<void>(handle); }

 protected:
  constexpr Backend() = default;
  ~Backend() = default;  // the runtime owns no backend
};

// Returns argument `index` as a tensor whose elements can be read. Errors: InvalidProgram (no such argument,
// not a tensor), InvalidState (no memory).
[[nodiscard]] Result<Tensor> input_tensor(Span<EValue* const> arguments, size_t index);
// The same for a tensor that is written: its memory is writable in every shape that it can take. Error also:
// InvalidProgram (constant or lent memory).
[[nodiscard]] Result<Tensor> output_tensor(Span<EValue* const> arguments, size_t index);

// A row of the backend table.
struct BackendEntry {
  const char* id;  // the name in programs: "XnnpackBackend"
  const Backend* backend;
};

// The executor's functions for delegates (runtime/backend/delegates.h).
struct DelegateSupport;
extern const DelegateSupport delegate_support;

// A table of backends; constant data that must outlive the methods.
struct BackendTable {
  const BackendEntry* entries;
  size_t size;
  const BackendTable* next = nullptr;  // searched if this table lacks the id
  // Null in an empty table, so that programs without delegates link none of their code.
  const DelegateSupport* support = &delegate_support;

  // Returns the backend with this id, or null.
  [[nodiscard]] const Backend* find(const char* id) const;
};

// The backends that this build selected; defined beside the operator table in the generated part of
// `executorch_kernels`.
extern const BackendTable selected_backends;

}  // namespace rushlight
