// SPDX-License-Identifier: BSD-3-Clause
// Fork-join pool. A caller publishes its work in a round (thread_round.h); idle workers spin over the rounds
// for a short time and then sleep on a condition variable. Work is split into pieces that threads take from
// an atomic counter, so a slow thread delays the others by at most one piece.
#include "runtime/module/host_threads.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <utility>

#include <sched.h>
#include <unistd.h>

#include "runtime/module/clock.h"

namespace rushlight {

namespace {

// How long a thread spins before it sleeps. Parts of a network that one thread computes often take hundreds
// of microseconds, and waking a thread behind them costs more than 10 on a virtual machine.
constexpr double kSpinNanoseconds = 1e6;
// Pieces per thread, so that other threads can take over the work of a late one.
constexpr size_t kPieces = 4;
// Work on elements is divided at multiples of a cache line of float32, so that no two threads write to one.
// Grains from kManyItems count elements; smaller ones count rows, tiles or channels.
constexpr size_t kLine = 16;
constexpr size_t kManyItems = 1024;

// Divides `count` > `grain` items: about `grain` or more in a piece, and equally many pieces for each of
// `most` threads.
ThreadRound::Work divided(size_t count, size_t grain, size_t most, ThreadPool::Task task, void* work) {
  grain = std::max<size_t>(grain, 1);
  size_t pieces = std::min((count - 1) / grain + 1, most * kPieces);
  if (pieces > most) pieces -= pieces % most;
  return {count, pieces, grain < kManyItems ? 1 : kLine, task, work};
}

std::atomic<unsigned> forks{0};

// The calling thread's part in pools.
thread_local const HostThreads* counted_by = nullptr;  // pool that counts it as computing
thread_local const HostThreads* worker_of = nullptr;
thread_local bool destroys_pool = false;  // a job dropped the last reference to worker_of

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(&mutex) { pthread_mutex_lock(mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { pthread_mutex_unlock(mutex_); }

 private:
  pthread_mutex_t* mutex_;
};

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
  __asm__ volatile("yield");
#endif
}

// Counts the spins of one wait.
class Spins {
 public:
  // Pauses; false if the wait has lasted kSpinNanoseconds.
  bool again() {
    constexpr unsigned kSpinsPerLook = 64;  // at the clock, which costs about as much as one pause
    pause();
    if (count_++ % kSpinsPerLook != 0) return true;
    const double now = now_ns();
    if (count_ == 1) end_ = now + kSpinNanoseconds;
    return now < end_;
  }
  void begin() { count_ = 0; }

 private:
  unsigned count_ = 0;
  double end_ = 0;
};

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
  pthread_mutex_init(&mutex_, nullptr);
  pthread_cond_init(&wake_, nullptr);
  pthread_cond_init(&left_, nullptr);
}

std::shared_ptr<HostThreads> HostThreads::start(size_t threads) {
  std::shared_ptr<HostThreads> pool(new HostThreads(), &HostThreads::destroy);
  const Lock lock(pool->mutex_);
  // On failure the pool is smaller, down to the caller alone.
  while (pool->threads_ < threads && pool->add_worker()) ++pool->threads_;
  return pool;
}

std::shared_ptr<HostThreads> HostThreads::shared(size_t threads) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static auto* pools = new std::map<size_t, std::weak_ptr<HostThreads>>();
  const Lock lock(mutex);
  std::shared_ptr<HostThreads> pool = (*pools)[threads].lock();
  if (pool == nullptr || pool->process_ != fork_count()) {
    pool = start(threads);
    (*pools)[threads] = pool;
  }
  return pool;
}

void HostThreads::destroy(HostThreads* pool) {
  // A worker cannot join itself: it destroys the pool when its job has returned.
  if (worker_of == pool) {
    destroys_pool = true;
  } else {
    delete pool;
  }
}

HostThreads::~HostThreads() {
  // In a forked child there are no threads to join, and mutexes may be in any state: leaves them alone.
  if (process_ != fork_count()) return;
  {
    const Lock lock(mutex_);
    requests_.fetch_or(kEnds);
    pthread_cond_broadcast(&wake_);
  }
  // Nobody adds workers any more, because nobody owns the pool.
  for (const pthread_t worker : workers_) {
    if (!pthread_equal(worker, pthread_self())) pthread_join(worker, nullptr);
  }
  while (run_job()) {
  }
  pthread_cond_destroy(&left_);
  pthread_cond_destroy(&wake_);
  pthread_mutex_destroy(&mutex_);
}

bool HostThreads::has_threads() const { return process_ == forks.load(std::memory_order_relaxed); }

size_t HostThreads::threads() const { return has_threads() ? threads_ : 1; }

// ---- Workers ----

// Called with the mutex held.
bool HostThreads::add_worker() {
  pthread_t worker;
  workers_load_.fetch_add(kWaiting);
  if (pthread_create(&worker, nullptr, &HostThreads::enter, this) == 0) {
    workers_.push_back(worker);
    return true;
  }
  workers_load_.fetch_sub(kWaiting);
  return false;
}

void* HostThreads::enter(void* pool) {
  auto* self = static_cast<HostThreads*>(pool);
  worker_of = self;
  {
    const Lock started(self->mutex_);  // start() holds it until threads_ has its final value
  }
  self->serve();
  if (destroys_pool) {
    pthread_detach(pthread_self());
    delete self;
  }
  return nullptr;
}

void HostThreads::serve() {
  for (Spins spins; !destroys_pool;) {
    // Jobs first: each is a whole execution that somebody waits for, while a round has its caller.
    if (const unsigned requests = requests_.load(std::memory_order_acquire); requests != 0) {
      if (!run_job() && (requests & kEnds) != 0) return;
      spins.begin();
    } else if (help()) {
      spins.begin();
    } else if (!spins.again()) {
      park();
      spins.begin();
    }
  }
}

bool HostThreads::run_job() {
  Job job;
  {
    const Lock lock(mutex_);
    if (jobs_.empty()) return false;
    job = std::move(jobs_.front());
    jobs_.pop_front();
    requests_.fetch_sub(1);
  }
  callers_.fetch_add(1);
  workers_load_.fetch_sub(kWaiting);
  const HostThreads* outer = std::exchange(counted_by, this);
  job();
  job = nullptr;  // may be the last owner of anything, also of the pool
  counted_by = outer;
  workers_load_.fetch_add(kWaiting);
  callers_.fetch_sub(1);
  return true;
}

bool HostThreads::help() {
  for (ThreadRound& round : rounds_) {
    if (!round.is_joinable() || !begin_help()) continue;
    const size_t thread = round.join();
    if (thread != 0) {
      counted_by = this;
      round.take_pieces(thread);
      counted_by = nullptr;
    }
    // Before the worker leaves: the caller's next round finds it available.
    workers_load_.fetch_sub(kHelper - kWaiting);
    if (thread == 0) continue;
    if (round.leave()) {
      const Lock lock(mutex_);
      pthread_cond_broadcast(&left_);
    }
    return true;
  }
  return false;
}

// Counts the worker as a helper, unless threads() threads compute.
bool HostThreads::begin_help() {
  uint32_t load = workers_load_.load(std::memory_order_relaxed);
  while (callers_.load(std::memory_order_relaxed) + load / kHelper < threads_) {
    if (workers_load_.compare_exchange_weak(load, load + (kHelper - kWaiting))) return true;
  }
  return false;
}

bool HostThreads::has_work() const {
  if (requests_.load() != 0) return true;
  return std::any_of(std::begin(rounds_), std::end(rounds_),
                     [](const ThreadRound& round) { return round.is_joinable(std::memory_order_seq_cst); });
}

// No wake-up is lost: a worker stops counting as waiting before it looks for rounds a last time, and a caller
// publishes its round before it reads the count. In the total order of these four operations, one of both
// sees the other. Once awake, the worker spins again, because the next round is usually near.
void HostThreads::park() {
  const Lock lock(mutex_);
  workers_load_.fetch_sub(kWaiting);
  if (!has_work()) {
    ++sleepers_;
    pthread_cond_wait(&wake_, &mutex_);
    --sleepers_;
  }
  workers_load_.fetch_add(kWaiting);
}

// ---- Callers ----

HostThreads::Computing::Computing(HostThreads* pool)
    : pool_(pool == nullptr || counted_by == pool ? nullptr : pool), outer_(counted_by) {
  if (pool_ == nullptr) return;
  pool_->callers_.fetch_add(1, std::memory_order_relaxed);
  counted_by = pool_;
}

HostThreads::Computing::~Computing() {
  if (pool_ == nullptr) return;
  counted_by = outer_;
  pool_->callers_.fetch_sub(1, std::memory_order_relaxed);
}

// Null if no worker could help: enough threads execute methods already, or all rounds are in use.
ThreadRound* HostThreads::claim_round() {
  if (callers_.load(std::memory_order_relaxed) >= threads_) return nullptr;
  for (ThreadRound& round : rounds_) {
    if (round.claim()) return &round;
  }
  return nullptr;
}

void HostThreads::run_limited(size_t count, size_t grain, Task task, void* work, size_t most) {
  if (count == 0) return;
  most = std::min({most, threads(), ThreadRound::kMostThreads});
  const Computing computing(most > 1 && count > grain ? this : nullptr);
  ThreadRound* round = most > 1 && count > grain ? claim_round() : nullptr;
  if (round == nullptr) {
    task(work, 0, count, 0);
    return;
  }
  const ThreadRound::Work shared = divided(count, grain, most, task, work);
  round->open(shared, most);
  wake_helpers(std::min(most, shared.pieces) - 1);
  round->work_as_caller();
  if (!round->close()) wait_for(*round);
  round->release();
}

void HostThreads::wake_helpers(size_t helpers) {
  const uint32_t load = workers_load_.load(std::memory_order_seq_cst);
  const size_t computing = callers_.load(std::memory_order_relaxed) + load / kHelper;
  const size_t waiting = load % kHelper;
  helpers = std::min(helpers, threads_ - std::min(computing, threads_));
  if (helpers <= waiting) return;
  const Lock lock(mutex_);
  for (size_t i = std::min(helpers - waiting, sleepers_); i > 0; --i) pthread_cond_signal(&wake_);
}

// Workers are inside for one piece at most, so the caller spins first.
void HostThreads::wait_for(ThreadRound& round) {
  Spins spins;
  do {
    if (round.is_left()) return;
  } while (spins.again());
  const Lock lock(mutex_);
  if (round.ask_to_wake()) return;
  while (!round.is_left()) pthread_cond_wait(&left_, &mutex_);
}

void HostThreads::submit(Job job) {
  bool queued = false;
  if (has_threads()) {
    const Lock lock(mutex_);
    // One worker more than for rounds, where the caller takes part.
    if (!std::exchange(has_job_worker_, true)) add_worker();
    queued = !workers_.empty();
    if (queued) {
      jobs_.push_back(std::move(job));
      requests_.fetch_add(1);
      if (sleepers_ > 0) pthread_cond_signal(&wake_);
    }
  }
  if (!queued) job();
}

}  // namespace rushlight
