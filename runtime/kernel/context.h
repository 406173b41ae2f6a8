// SPDX-License-Identifier: BSD-3-Clause
// What a kernel may ask of the runtime while it runs, and while its method is loaded.
#pragma once

#include <utility>

#include "runtime/kernel/prepared.h"
#include "runtime/kernel/thread_pool.h"
#include "runtime/memory/arena.h"
#include "runtime/trace/scope.h"

namespace rushlight {

struct KernelEntry;

class KernelContext : public Traced {
 public:
  KernelContext() = default;
  explicit KernelContext(Arena* temporary, EventTracer* tracer = nullptr)
      : Traced(tracer), temporary_(temporary) {}
  // In a method: the entry that is called, and how many arguments the program gives it.
  KernelContext(Arena* temporary, EventTracer* tracer, const KernelEntry& kernel, size_t num_arguments,
                ThreadPool* threads = nullptr, const void* prepared = nullptr)
      : Traced(tracer),
        temporary_(temporary),
        kernel_(&kernel),
        num_arguments_(num_arguments),
        threads_(threads),
        prepared_(prepared) {}
  // While the method is loaded, for a kernel's prepare function.
  KernelContext(Preparation* preparation, const KernelEntry& kernel, size_t num_arguments,
                ThreadPool* threads = nullptr)
      : kernel_(&kernel), num_arguments_(num_arguments), threads_(threads), preparation_(preparation) {}

  // Scratch memory until the kernel returns; null when there is not enough.
  [[nodiscard]] void* allocate_temp(size_t size, size_t alignment = Arena::kDefaultAlignment) {
    return temporary_ == nullptr ? nullptr : temporary_->allocate(size, alignment);
  }

  // For functions that serve several entries; null and 0 outside of a method.
  [[nodiscard]] const KernelEntry* kernel() const { return kernel_; }
  [[nodiscard]] size_t num_arguments() const { return num_arguments_; }

  // Threads that parallel_for may use; 1 on boards.
  [[nodiscard]] size_t threads() const { return threads_ == nullptr ? 1 : threads_->threads(); }

  // Calls body(begin, end, thread) for pieces of [0, count), of at least `grain` items each, where thread <
  // threads(); without a pool once for all. No result may depend on where the pieces begin.
  template <class Body>
  void parallel_for(size_t count, size_t grain, Body&& body) {
    if (count <= grain || threads_ == nullptr) {
      if (count > 0) body(size_t{0}, count, size_t{0});
      return;
    }
    using Work = std::remove_reference_t<Body>;
    threads_->run(
        count, grain,
        [](void* work, size_t begin, size_t end, size_t thread) {
          (*static_cast<Work*>(work))(begin, end, thread);
        },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

  // What this call's prepare function has made, aligned to 64 bytes; null where nothing was prepared.
  [[nodiscard]] const void* prepared() const { return prepared_; }

  // For prepare functions. The most bytes that one call takes with allocate_temp, for arguments no larger
  // than these, alignment included.
  void need_scratch(size_t size) {
    size += besides_;
    if (preparation_ != nullptr && preparation_->scratch_bytes < size) preparation_->scratch_bytes = size;
  }
  // For prepare functions of fronts, before they ask a back: what the call takes besides.
  void need_besides(size_t size) {
    besides_ += size;
    need_scratch(0);
  }
  // For prepare functions, once a call: memory for what is made of the constant `source`. Null when there is
  // nothing to do: bytes are only counted, there is no memory for them, or it has been made before. `layout`
  // says all that the bytes depend on besides, see layout_number.
  [[nodiscard]] void* prepare(const void* source, uint64_t layout, size_t size);

 private:
  Arena* temporary_ = nullptr;
  const KernelEntry* kernel_ = nullptr;
  size_t num_arguments_ = 0;
  ThreadPool* threads_ = nullptr;
  const void* prepared_ = nullptr;
  Preparation* preparation_ = nullptr;
  size_t besides_ = 0;
};

}  // namespace rushlight
