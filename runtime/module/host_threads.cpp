// SPDX-License-Identifier: BSD-3-Clause
// Fork-join pool. Workers spin for a short time and then sleep on a condition variable. Work is split into
// pieces that threads take from an atomic counter, so a slow thread delays the others by at most one piece.
#include "runtime/module/host_threads.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <sched.h>
#include <unistd.h>

namespace rushlight {

namespace {

// Spins before a worker sleeps: the operators of a network follow each other within microseconds, less than
// sleeping and waking costs.
constexpr int kSpins = 4000;
// Pieces per thread, so that other threads can take over the work of a late one.
constexpr size_t kPieces = 4;

std::atomic<unsigned> forks{0};

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
  __asm__ volatile("yield");
#endif
}

// A child process after fork() has the threads' memory, but not the threads: counts forks to detect this.
// Comparing process ids instead would cost a system call per use.
unsigned fork_count() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { pthread_atfork(nullptr, nullptr, [] { ++forks; }); });
  return forks.load();
}

// The first CPU of the core that `cpu` belongs to, which identifies the core; `cpu` itself if unknown.
int first_of_core(int cpu) {
  char path[96];
  std::snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return cpu;
  int first = cpu;
  if (std::fscanf(file, "%d", &first) != 1) first = cpu;
  std::fclose(file);
  return first;
}

}  // namespace

size_t HostThreads::default_count() {
#ifdef __linux__
  cpu_set_t allowed;
  // Hyper-threads share the vector units of their core, so each core counts once.
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    std::vector<int> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) cores.push_back(first_of_core(cpu));
    }
    std::sort(cores.begin(), cores.end());
    const auto count = std::unique(cores.begin(), cores.end()) - cores.begin();
    return std::max<size_t>(1, static_cast<size_t>(count));
  }
#endif
  return static_cast<size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

HostThreads::HostThreads() : process_(fork_count()) {
  pthread_mutex_init(&in_use_, nullptr);
  pthread_mutex_init(&sleep_, nullptr);
  pthread_cond_init(&wake_, nullptr);
}

std::shared_ptr<HostThreads> HostThreads::start(size_t threads) {
  std::shared_ptr<HostThreads> pool(new HostThreads());
  for (size_t number = 1; number < threads; ++number) {
    // On failure the pool is smaller, down to the caller alone.
    std::unique_ptr<Worker> worker(new Worker{pool.get(), number, {}});
    if (pthread_create(&worker->thread, nullptr, &HostThreads::enter, worker.get()) != 0) break;
    pool->workers_.push_back(std::move(worker));
  }
  return pool;
}

std::shared_ptr<HostThreads> HostThreads::shared(size_t threads) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static auto* pools = new std::map<size_t, std::weak_ptr<HostThreads>>();
  pthread_mutex_lock(&mutex);
  std::shared_ptr<HostThreads> pool = (*pools)[threads].lock();
  if (pool == nullptr || pool->process_ != fork_count()) {
    pool = start(threads);
    (*pools)[threads] = pool;
  }
  pthread_mutex_unlock(&mutex);
  return pool;
}

HostThreads::~HostThreads() {
  // In a forked child there are no threads to join, and mutexes may be in any state: leaves them alone.
  if (process_ != fork_count()) return;
  pthread_mutex_lock(&sleep_);
  round_.store(0);
  pthread_cond_broadcast(&wake_);
  pthread_mutex_unlock(&sleep_);
  for (const auto& worker : workers_) pthread_join(worker->thread, nullptr);
  pthread_cond_destroy(&wake_);
  pthread_mutex_destroy(&sleep_);
  pthread_mutex_destroy(&in_use_);
}

size_t HostThreads::threads() const { return process_ == forks.load() ? workers_.size() + 1 : 1; }

void* HostThreads::enter(void* worker) {
  auto& self = *static_cast<Worker*>(worker);
  self.pool->serve(self.number);
  return nullptr;
}

// A worker joins each round once and then waits for the next; round 0 ends it.
void HostThreads::serve(size_t number) {
  unsigned seen = 1;
  while ((seen = wait_for_work(seen)) != 0) {
    take_pieces(number);
    // Release: the caller of run() sees the results of this worker's pieces when it sees busy_ decrease.
    busy_.fetch_sub(1, std::memory_order_release);
  }
}

unsigned HostThreads::wait_for_work(unsigned seen) {
  for (int spin = 0; spin < kSpins; ++spin) {
    const unsigned round = round_.load(std::memory_order_acquire);
    if (round != seen) return round;
    pause();
  }
  pthread_mutex_lock(&sleep_);
  unsigned round = round_.load(std::memory_order_acquire);
  while (round == seen) {
    pthread_cond_wait(&wake_, &sleep_);
    round = round_.load(std::memory_order_acquire);
  }
  pthread_mutex_unlock(&sleep_);
  return round;
}

// The counter may run past the end by one piece per thread; pieces that begin there are empty.
void HostThreads::take_pieces(size_t number) {
  for (;;) {
    const size_t begin = next_.fetch_add(piece_, std::memory_order_relaxed);
    if (begin >= count_) return;
    task_(work_, begin, std::min(begin + piece_, count_), number);
  }
}

// If another method uses the pool, or there is one piece, the caller's thread does all the work.
void HostThreads::run(size_t count, size_t grain, Task task, void* work) {
  const size_t everyone = threads();
  if (count == 0) return;
  // trylock, not lock: two methods that execute at the same time do not wait for each other.
  if (everyone == 1 || count <= grain || pthread_mutex_trylock(&in_use_) != 0) {
    task(work, 0, count, 0);
    return;
  }
  // Written before the release of round_ below, which workers acquire before they read it.
  task_ = task;
  work_ = work;
  count_ = count;
  const size_t pieces = everyone * kPieces;
  piece_ = std::max({grain, size_t{1}, (count + pieces - 1) / pieces});
  next_.store(0, std::memory_order_relaxed);
  busy_.store(workers_.size(), std::memory_order_relaxed);
  // Under the mutex: a worker that is about to sleep would otherwise miss the signal.
  pthread_mutex_lock(&sleep_);
  unsigned round = round_.load(std::memory_order_relaxed) + 1;
  // Round 0 means the end, so the counter skips it when it wraps.
  if (round == 0) round = 1;
  round_.store(round, std::memory_order_release);
  pthread_cond_broadcast(&wake_);
  pthread_mutex_unlock(&sleep_);
  take_pieces(0);
  // Waits until every worker has left the round: one that is still asleep must wake first, because the next
  // run() overwrites the task.
  for (int spin = 0; busy_.load(std::memory_order_acquire) != 0; ++spin) {
    if (spin < kSpins) {
      pause();
    } else {
      sched_yield();
    }
  }
  pthread_mutex_unlock(&in_use_);
}

}  // namespace rushlight
