// SPDX-License-Identifier: BSD-3-Clause
// The pool has at most one job per queue; it performs one execution and submits the next, so that methods
// take turns when there are more of them than threads.
#include "runtime/module/execution_queue.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include <pthread.h>

namespace rushlight {

struct ExecutionQueue::State : std::enable_shared_from_this<State> {
  struct Item {
    std::shared_ptr<Execution> execution;
    Run run;
    Done done;
  };

  explicit State(std::shared_ptr<HostThreads> threads) : pool(std::move(threads)) {}

  static void perform(Item& item) {
    item.execution->has_begun_.store(true, std::memory_order_relaxed);
    Error error = item.execution->check();
    if (error == Error::Ok) error = item.run(*item.execution);
    item.done(error);
  }

  void submit() {
    pool->submit([self = shared_from_this()] { self->step(); });
  }

  // Performs the first execution. It stays in the queue meanwhile, where the destructor cancels it.
  void step() {
    std::unique_lock<std::mutex> lock(mutex);
    worker = pthread_self();
    works = true;
    Item& item = items.front();  // stable: others only append
    lock.unlock();
    perform(item);
    lock.lock();
    Item ended = std::move(item);
    items.pop_front();
    works = false;
    const bool more = !items.empty();
    if (!more) idle.notify_all();
    lock.unlock();
    if (more) submit();
    // `ended` is destroyed last and without the lock: it may own the method, and with it the queue.
  }

  const std::shared_ptr<HostThreads> pool;
  std::mutex mutex;
  std::condition_variable idle;
  std::deque<Item> items;
  bool works = false;  // `worker` performs the first item
  pthread_t worker = {};
};

ExecutionQueue::ExecutionQueue(std::shared_ptr<HostThreads> pool)
    : state_(std::make_shared<State>(std::move(pool))) {}

ExecutionQueue::~ExecutionQueue() {
  // In a forked child the executions belong to the parent, and the mutex may be in any state.
  if (!state_->pool->has_threads()) return;
  std::unique_lock<std::mutex> lock(state_->mutex);
  for (const State::Item& item : state_->items) item.execution->cancel();
  if (state_->works && pthread_equal(state_->worker, pthread_self()) != 0) return;
  state_->idle.wait(lock, [this] { return state_->items.empty(); });
}

std::shared_ptr<Execution> ExecutionQueue::add(const ExecutionOptions& options, Run run, Done done) {
  auto execution = std::make_shared<Execution>(options);
  State::Item item = {execution, std::move(run), std::move(done)};
  if (!state_->pool->has_threads()) {
    State::perform(item);
    return execution;
  }
  bool first = false;
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    first = state_->items.empty();
    state_->items.push_back(std::move(item));
  }
  if (first) state_->submit();
  return execution;
}

}  // namespace rushlight
