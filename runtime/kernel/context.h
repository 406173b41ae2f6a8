// SPDX-License-Identifier: BSD-3-Clause
// The services that a kernel can use during a call, and its prepare function while the method is loaded.
#pragma once

#include <utility>

#include "runtime/kernel/prepared.h"
#include "runtime/kernel/thread_pool.h"
#include "runtime/memory/arena.h"
#include "runtime/trace/scope.h"

namespace rushlight {

struct KernelEntry;

// The first parameter of every kernel. Made by the runtime for each call.
class KernelContext : public Traced {
 public:
  // For a call without a table entry: no scratch, one thread, nothing prepared.
  KernelContext() = default;
  // The same with scratch, unless `temporary` is null, as in baked code and tests.
  explicit KernelContext(Arena* temporary, EventTracer* tracer = nullptr)
      : Traced(tracer), temporary_(temporary) {}
  // For a call in a method: the table entry and the number of arguments in the program.
  KernelContext(Arena* temporary, EventTracer* tracer, const KernelEntry& kernel, size_t num_arguments,
                ThreadPool* threads = nullptr, const void* prepared = nullptr)
      : Traced(tracer),
        temporary_(temporary),
        kernel_(&kernel),
        num_arguments_(num_arguments),
        threads_(threads),
        prepared_(prepared) {}
  // The same call for another entry, whose kernel computes it.
  KernelContext(const KernelContext& call, const KernelEntry& kernel) : KernelContext(call) {
    kernel_ = &kernel;
  }
  // For a kernel's prepare function, while the method is loaded.
  KernelContext(Preparation* preparation, const KernelEntry& kernel, size_t num_arguments,
                ThreadPool* threads = nullptr)
      : kernel_(&kernel), num_arguments_(num_arguments), threads_(threads), preparation_(preparation) {}

  // Allocates scratch that lives until the kernel returns; null if it does not fit.
  [[nodiscard]] void* allocate_temp(size_t size, size_t alignment = Arena::kDefaultAlignment) {
    return temporary_ == nullptr ? nullptr : temporary_->allocate(size, alignment);
  }

  // For functions that serve several table entries; null and 0 outside of a method.
  [[nodiscard]] const KernelEntry* kernel() const { return kernel_; }
  [[nodiscard]] size_t num_arguments() const { return num_arguments_; }

  // Number of threads that parallel_for() may use; 1 on boards.
  [[nodiscard]] size_t threads() const { return threads_ == nullptr ? 1 : threads_->threads(); }

  // Calls body(begin, end, thread) for pieces of [0, count) with about `grain` items or more each; thread <
  // threads(). Returns when all are done. Without a pool it is one call, and none if `count` is 0. Results
  // must not depend on the boundaries of the pieces.
  template <class Body>
  void parallel_for(size_t count, size_t grain, Body&& body) {
    using Work = std::remove_reference_t<Body>;
    void* work = const_cast<void*>(static_cast<const void*>(&body));
    if (count > grain && threads_ != nullptr) {
      threads_->run(count, grain, &compute_piece<Work>, work);
    } else if (count > 0) {
      compute_piece<Work>(work, 0, count, 0);
    }
  }

  // The result of this call's prepare function, aligned to 64 bytes; null if it prepared nothing.
  [[nodiscard]] const void* prepared() const { return prepared_; }

  // For prepare functions: declares the most bytes, with alignment, that one call allocates with
  // allocate_temp(), for arguments no larger than the present ones.
  void need_scratch(size_t size) {
    size += besides_;
    if (preparation_ != nullptr && preparation_->scratch_bytes < size) preparation_->scratch_bytes = size;
  }
  // For prepare functions of operators that call another implementation: adds bytes that the operator itself
  // allocates, before that implementation calls need_scratch().
  void need_besides(size_t size) {
    besides_ += size;
    need_scratch(0);
  }
  // For prepare functions of hosts' kernels: states the multiply-accumulates of one call, and how many times
  // the threads of parallel_for() join. Calls that state more execute beside others of about the same time.
  void need_products(size_t products, size_t joins = 1) {
    if (preparation_ != nullptr)
      preparation_->work = {static_cast<float>(products), static_cast<uint32_t>(joins)};
  }
  // For prepare functions, at most once per call: returns `size` bytes for data derived from the constant
  // `source`. Returns null if nothing is to be written: sizes are only counted, there is no memory, or the
  // data already exists. `layout` must identify everything else that the bytes depend on; see
  // layout_id().
  [[nodiscard]] void* prepare(const void* source, uint64_t layout, size_t size);

 private:
  // A ThreadPool::Task. Not inlined: the code of a body is there once, for one thread and for several.
  template <class Work>
  [[gnu::noinline]] static void compute_piece(void* work, size_t begin, size_t end, size_t thread) {
    (*static_cast<Work*>(work))(begin, end, thread);
  }

  Arena* temporary_ = nullptr;
  const KernelEntry* kernel_ = nullptr;
  size_t num_arguments_ = 0;
  ThreadPool* threads_ = nullptr;
  const void* prepared_ = nullptr;
  Preparation* preparation_ = nullptr;
  size_t besides_ = 0;
};

}  // namespace rushlight
