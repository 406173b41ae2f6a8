// SPDX-License-Identifier: BSD-3-Clause
// Slices pieces so that the interrupt is polled about every 20 ms. The first slice is a sixteenth of the
// piece; its time determines the size of the next ones. Cost per slice: one clock reading and one poll, about
// 50 ns. A piece of minimal size is one slice.
#include "runtime/module/stoppable_threads.h"

#include <algorithm>

#include "runtime/module/clock.h"

namespace rushlight {

namespace {

constexpr size_t kFirstShare = 16;
constexpr double kSlice = 20e6;  // ns
}  // namespace

struct StoppableThreads::Work {
  StoppableThreads* threads;
  size_t grain;
  Task task;
  void* work;
};

void StoppableThreads::run_limited(size_t count, size_t grain, Task task, void* work, size_t most) {
  if (alone_) most = 1;
  if (!listens_) return threads_->run_limited(count, grain, task, work, most);
  Work all = {this, std::max<size_t>(grain, 1), task, work};
  threads_->run_limited(count, grain, &StoppableThreads::work_in_slices, &all, most);
}

void StoppableThreads::work_in_slices(void* work, size_t begin, size_t end, size_t thread) {
  const Work& all = *static_cast<const Work*>(work);
  size_t slice = std::max(all.grain, (end - begin) / kFirstShare);
  double start = now_ns();
  while (begin < end) {
    uint64_t instructions = 0;  // only the executor uses it
    if (all.threads->poll(&instructions) != Error::Ok) return;
    // No slice is smaller than the grain: a smaller remainder joins the last one.
    const size_t stop = end - begin < slice + all.grain ? end : begin + slice;
    all.task(all.work, begin, stop, thread);
    begin = stop;
    const double stopped = now_ns();
    // The size that would have taken kSlice. At least 1 microsecond, because clocks are coarse and a quotient
    // of 0 would be infinite.
    const double fitting = static_cast<double>(slice) * kSlice / std::max(stopped - start, 1e3);
    slice = fitting < static_cast<double>(end - begin) ? std::max(all.grain, static_cast<size_t>(fitting))
                                                       : std::max(all.grain, end - begin);
    start = stopped;
  }
}

Error StoppableThreads::poll(uint64_t* next) {
  // A stop outlives the kernel that noticed it: the executor sees it at the next poll, on every thread.
  const Error stopped = stopped_.load(std::memory_order_relaxed);
  if (stopped != Error::Ok) return stopped;
  if (listens_ && !is_owner()) {
    *next = 1;
    return Error::Ok;
  }
  const Error error = interrupt_->poll(next);
  if (listens_ && error != Error::Ok) stopped_.store(error, std::memory_order_relaxed);
  return error;
}

Error StoppableThreads::finish(Error result) {
  listens_ = false;
  const Error stopped = stopped_.exchange(Error::Ok, std::memory_order_relaxed);
  return stopped == Error::Ok ? result : stopped;
}

}  // namespace rushlight
