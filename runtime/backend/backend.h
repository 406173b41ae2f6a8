// SPDX-License-Identifier: BSD-3-Clause
// A backend runs parts of a program in its own way: the exporter hands it a subgraph and stores what
// it makes of that ("processed" bytes), the program calls it like one large kernel.
//
//   class Doubler final : public Backend { ... };
//   constexpr Doubler doubler;
//   constexpr BackendEntry entries[] = {{"Doubler", &doubler}};
//   constexpr BackendTable backends = {entries, 1};
//
// Backends register nothing at start-up: the table is handed to Method::load.
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

// A setting that the exporter left for the backend. It lies in the program.
struct CompileSpec {
  const char* key;
  Span<const uint8_t> value;
};

// Bytes that a delegate takes from elsewhere than the method's memory.
struct DelegateMemory {
  size_t working = 0;   // values and what lies between its nodes
  size_t scratch = 0;   // the most that one of its nodes takes
  size_t prepared = 0;  // weights in its own layouts, made or to be made if the host has it prepare some
};

// Whoever loads methods on a host, for backends with memory of their own. It lives as long as the method.
class BackendHost {
 public:
  // Of the method's limit, what is left.
  [[nodiscard]] virtual size_t bytes_left() const = 0;
  // Counts what a delegate takes. Error: MemoryAllocationFailed (more than is left).
  virtual Error take(const DelegateMemory& memory) = 0;
  virtual void give_back(const DelegateMemory& memory) = 0;
  // Whether weights are to be prepared; otherwise what they would take is not counted.
  [[nodiscard]] virtual bool prepares() const = 0;

  // Takes pages of files out of memory that were read to prepare weights: they come back if they are read
  // again.
  virtual void release_pages() = 0;

  // An object that the delegates of all methods of a program share, one of each kind, which is a constant.
  struct SharedKind {
    void* (*make)();  // null: no memory
    void (*destroy)(void* object);
  };
  // It outlives the methods; made for the first that asks. Null when there is no memory.
  [[nodiscard]] virtual void* shared(const SharedKind& kind) = 0;

 protected:
  ~BackendHost() = default;
};

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

  // Memory that lives as long as the method, from its arena; null when there is no more.
  [[nodiscard]] void* allocate(size_t size, size_t alignment = Arena::kDefaultAlignment) {
    return memory_->allocate(size, alignment);
  }
  [[nodiscard]] const char* method_name() const { return method_name_; }
  // Blobs of the program and of the caller's data files, by key; the map lives until init() returns.
  [[nodiscard]] const NamedDataMap* named_data() const { return named_data_; }
  // What the method's kernels may share their work with, as long as the method lives; null: nothing.
  [[nodiscard]] ThreadPool* threads() const { return threads_; }
  // Null on boards, and where the application loads methods itself.
  [[nodiscard]] BackendHost* host() const { return host_; }

 private:
  Arena* memory_;
  const char* method_name_;
  const NamedDataMap* named_data_;
  ThreadPool* threads_;
  BackendHost* host_;
};

class BackendExecuteContext : public Traced {
 public:
  BackendExecuteContext(Arena* temporary, const char* method_name, EventTracer* tracer)
      : Traced(tracer), temporary_(temporary), method_name_(method_name) {}

  // Scratch memory until execute() returns; null when there is not enough.
  [[nodiscard]] void* allocate_temp(size_t size, size_t alignment = Arena::kDefaultAlignment) {
    return temporary_ == nullptr ? nullptr : temporary_->allocate(size, alignment);
  }
  [[nodiscard]] const char* method_name() const { return method_name_; }

 private:
  Arena* temporary_;
  const char* method_name_;
};

// What init() made, as the backend likes it; the runtime only hands it back.
using DelegateHandle = void;

// Has no state of its own, so that one constant object serves all threads.
class Backend {
 public:
  // Whether the device it needs is there.
  [[nodiscard]] virtual bool is_available() const { return true; }

  // Prepares one delegate of a method. `processed` stays valid until destroy() returns, unless the
  // backend frees it: processed->free() gives memory back early. `specs` point into the program.
  // Both are the file's and unproven. Errors: any; the method then fails to load with it.
  [[nodiscard]] virtual Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                                     Span<const CompileSpec> specs) const = 0;

  // Runs it: inputs first, then outputs, as the exporter ordered them. Their number, kinds, dtypes and
  // shapes are the file's: read them through input_tensor() and output_tensor().
  virtual Error execute(BackendExecuteContext& context, DelegateHandle* handle,
                        Span<EValue* const> arguments) const = 0;

  // Gives back what init() took other than from the context. Called once for each successful init().
  virtual void destroy(DelegateHandle* handle) const { static_cast<void>(handle); }

 protected:
  constexpr Backend() = default;
  ~Backend() = default;  // the runtime owns no backend
};

// Argument `index`, a tensor whose elements can be read.
// Errors: InvalidProgram (no such argument, no tensor), InvalidState (no memory).
[[nodiscard]] Result<Tensor> input_tensor(Span<EValue* const> arguments, size_t index);
// Likewise one whose elements may be written, in any shape that it can take.
[[nodiscard]] Result<Tensor> output_tensor(Span<EValue* const> arguments, size_t index);

struct BackendEntry {
  const char* id;  // as programs name it: "XnnpackBackend"
  const Backend* backend;
};

// What the executor does with delegates (runtime/backend/delegates.h).
struct DelegateSupport;
extern const DelegateSupport delegate_support;

struct BackendTable {
  const BackendEntry* entries;
  size_t size;
  const BackendTable* next = nullptr;  // looked into when this one has no such id
  // Null in an empty table: then nothing of delegates is linked.
  const DelegateSupport* support = &delegate_support;

  // Null when no table has it.
  [[nodiscard]] const Backend* find(const char* id) const;
};

// The backends this build selected; defined beside the operator table by the generated part of
// `executorch_kernels`.
extern const BackendTable selected_backends;

}  // namespace rushlight
