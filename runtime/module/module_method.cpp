// SPDX-License-Identifier: BSD-3-Clause
// Memory comes from two sources: calloc for sizes that are known exactly, and reserved address space for
// scratch and backends, whose need is only bounded. Everything is counted against the limit before it is
// allocated.
#include "runtime/module/module_method.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/module/clock.h"

namespace rushlight {

namespace {

size_t bound_of(const EValue& output) {
  // Outputs may grow to the largest shape.
  const TensorImpl* tensor = output.payload.as_tensor.impl();
  return tensor->numel_bound() * element_size(tensor->scalar_type());
}

// Default limit of a method's memory: the machine's physical memory.
size_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long bytes = ::sysconf(_SC_PAGESIZE);
  size_t memory = 0;
  const bool known =
      pages > 0 && bytes > 0 && checked_mul(static_cast<size_t>(pages), static_cast<size_t>(bytes), &memory);
  return known ? memory : SIZE_MAX;
}

// Nanoseconds of an execution that is too long for trials with one thread.
constexpr double kLongestTried = 20e6;

// Scratch beyond the amount that every method reserves.
size_t counted_scratch(size_t bytes) { return bytes > ModuleMethod::kTemporaryBytes ? bytes : 0; }

}  // namespace

void ModuleMethod::Free::operator()(uint8_t* memory) const { std::free(memory); }
void ModuleMethod::Unmap::operator()(uint8_t* memory) const { ::munmap(memory, size); }

Span<uint8_t> ModuleMethod::allocate(size_t size) {
  // A cache line and the widest vector: loads and stores of AVX-512 that cross lines take twice the time.
  constexpr size_t kAlignment = 64;
  // calloc does not touch zeroed pages. It aligns to 16 bytes or less; the padding provides the rest.
  if (size > SIZE_MAX - kAlignment) return {};
  std::unique_ptr<uint8_t, Free> memory(static_cast<uint8_t*>(std::calloc(size + kAlignment, 1)));
  if (memory == nullptr) return {};
  const auto base = reinterpret_cast<uintptr_t>(memory.get());
  uint8_t* aligned = memory.get() + (align_up(base, kAlignment) - base);
  memory_.push_back(std::move(memory));
  return {aligned, size};
}

Span<uint8_t> ModuleMethod::reserve(size_t size) {
  // MAP_NORESERVE: no swap space is set aside for pages, most of which are never touched.
  void* memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return {};
  reserved_.push_back({static_cast<uint8_t*>(memory), Unmap{size}});
  return {static_cast<uint8_t*>(memory), size};
}

Error check_files(const MappedFiles& files) {
  for (const auto& file : files) RL_TRY(file->check());
  return Error::Ok;
}

Error ModuleMethod::count(uint64_t size) {
  uint64_t sum = 0;
  // The limit is checked before anything is allocated; a failure changes nothing.
  const bool fits = checked_add(uint64_t{taken_bytes_}, size, &sum) && sum <= max_memory_;
  RL_CHECK(fits, Error::MemoryAllocationFailed, "memory: expected at most %llu bytes, needs %llu",
           static_cast<unsigned long long>(max_memory_),
           static_cast<unsigned long long>(sum < size ? UINT64_MAX : sum));
  taken_bytes_ = static_cast<size_t>(sum);
  return Error::Ok;
}

DelegateMemory ModuleMethod::memory() const {
  return {taken_bytes_ - counted_scratch(scratch_bytes_) - taken_prepared_, scratch_bytes_,
          prepares_ ? taken_prepared_ : prepared_bytes_};
}

uint64_t ModuleMethod::counted(const DelegateMemory& memory) const {
  uint64_t sum = 0;
  // Saturates; count() then refuses.
  for (const size_t part :
       {memory.working, counted_scratch(memory.scratch), prepares_ ? memory.prepared : size_t{0}}) {
    if (!checked_add(sum, uint64_t{part}, &sum)) sum = UINT64_MAX;
  }
  return sum;
}

Error ModuleMethod::take(const DelegateMemory& memory) {
  RL_TRY(count(counted(memory)));
  delegate_memory_.working += memory.working;
  delegate_memory_.scratch += memory.scratch;
  delegate_memory_.prepared += memory.prepared;
  return Error::Ok;
}

// Constants in mapped files are read once, to be packed; then their pages can be released.
void ModuleMethod::begin_block(size_t size) {
  if (unreleased_ >= kReleaseBytes) release_pages();
  unreleased_ += size;
}

void ModuleMethod::release_pages() {
  unreleased_ = 0;
  for (const auto& file : mapped_) file->release_pages();
  if (host_ != nullptr) host_->release_pages();
}

void ModuleMethod::give_back(const DelegateMemory& memory) {
  taken_bytes_ -= static_cast<size_t>(counted(memory));
  delegate_memory_.working -= memory.working;
  delegate_memory_.scratch -= memory.scratch;
  delegate_memory_.prepared -= memory.prepared;
}

Error ModuleMethod::count_planned(const MethodMeta& meta, uint64_t sum) {
  for (size_t i = 0; i < meta.num_planned_buffers(); ++i) {
    RL_TRY_ASSIGN(const size_t size, meta.planned_buffer_size(i));
    if (!checked_add(sum, uint64_t{size}, &sum)) sum = UINT64_MAX;
  }
  return count(sum);
}

Error ModuleMethod::allocate_planned(const MethodMeta& meta) {
  for (size_t i = 0; i < meta.num_planned_buffers(); ++i) {
    RL_TRY_ASSIGN(const size_t size, meta.planned_buffer_size(i));
    planned_.push_back(allocate(size));
    RL_CHECK(planned_.back().data() != nullptr, Error::MemoryAllocationFailed,
             "planned buffer %lu: no memory for %lu bytes", log_number(i), log_number(size));
    planned_memory_.push_back(std::move(memory_.back()));
    memory_.pop_back();
  }
  return Error::Ok;
}

// Returns outputs without planned memory, each tensor once. Sorting by tensor finds outputs that are listed
// twice; comparing all pairs would be quadratic.
std::vector<size_t> ModuleMethod::unplanned_outputs() const {
  std::vector<std::pair<const TensorImpl*, size_t>> outputs;
  const size_t count_of_outputs = method_->meta().num_outputs();
  for (size_t i = 0; i < count_of_outputs; ++i) {
    const EValue& value = method_->output(i);
    if (!value.is_tensor() || value.to_tensor().const_data_ptr() != nullptr) continue;
    outputs.emplace_back(value.payload.as_tensor.impl(), i);
  }
  std::sort(outputs.begin(), outputs.end());
  std::vector<size_t> indices;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i == 0 || outputs[i].first != outputs[i - 1].first) indices.push_back(outputs[i].second);
  }
  return indices;
}

Error ModuleMethod::allocate_outputs() {
  const std::vector<size_t> outputs = unplanned_outputs();
  uint64_t sum = 0;
  for (const size_t i : outputs) {
    if (!checked_add(sum, uint64_t{bound_of(method_->output(i))}, &sum)) sum = UINT64_MAX;
  }
  RL_TRY(count(sum));
  for (const size_t i : outputs)
    RL_TRY(method_->set_output_buffer(i, allocate(bound_of(method_->output(i)))));
  return Error::Ok;
}

// A rewritten method that cannot be loaded is no failure: the program's own method reports what is wrong with
// the program.
Result<std::unique_ptr<ModuleMethod>> ModuleMethod::load(const Program& program, const char* name,
                                                         const OperatorTable& operators,
                                                         const MethodOptions& options,
                                                         const Surroundings& around) {
  if (around.rewriter != nullptr) {
    // A damaged method is reported here, once.
    RL_TRY_ASSIGN(const MethodMeta meta, program.method_meta(name));
    RL_TRY(meta.arena_bytes().error());
    std::unique_ptr<RewrittenMethod> rewritten =
        around.rewriter->rewrite(program, name, operators, options.external_data);
    if (rewritten != nullptr) {
      auto loaded = load_rewritten(std::move(rewritten), name, operators, options, around);
      if (loaded.ok()) return loaded;
    }
  }
  std::unique_ptr<ModuleMethod> loaded(new ModuleMethod());
  RL_TRY(loaded->load_into(program, name, operators, options, around));
  return loaded;
}

Result<std::unique_ptr<ModuleMethod>> ModuleMethod::load_rewritten(std::unique_ptr<RewrittenMethod> rewritten,
                                                                   const char* name,
                                                                   const OperatorTable& operators,
                                                                   const MethodOptions& options,
                                                                   const Surroundings& around) {
  std::unique_ptr<ModuleMethod> loaded(new ModuleMethod());
  loaded->rewritten_ = std::move(rewritten);
  const RewrittenMethod& method = *loaded->rewritten_;
  MethodOptions own = options;
  own.external_data = &method.data();
  if (options.tracer != nullptr)
    own.tracer = &loaded->tracer_.emplace(*options.tracer, method.stated_instructions());
  Surroundings inner = around;
  inner.seconds.clear();
  for (const uint32_t stated : method.stated_instructions())
    inner.seconds.push_back(stated < around.seconds.size() ? around.seconds[stated] : 0);
  if (around.seconds.empty()) inner.seconds.clear();
  RL_TRY(loaded->load_into(method.program(), name, operators, own, inner));
  return loaded;
}

Method::FailedCall ModuleMethod::failed_call() const {
  Method::FailedCall call = method_->failed_call();
  if (rewritten_ != nullptr && call.instruction < rewritten_->stated_instructions().size())
    call.instruction = rewritten_->stated_instructions()[call.instruction];
  return call;
}

Error ModuleMethod::load_into(const Program& program, const char* name, const OperatorTable& operators,
                              const MethodOptions& options, const Surroundings& around) {
  RL_TRY_ASSIGN(const MethodMeta meta, program.method_meta(name));
  RL_TRY_ASSIGN(const size_t arena_bytes, meta.arena_bytes());
  const size_t backend_bytes = meta.num_backends() == 0 ? 0 : kBackendBytes;
  mapped_ = around.mapped;
  host_ = around.host;
  prepares_ = around.weights != nullptr;
  most_lanes_ = around.lanes;
  if (around.objects == nullptr) own_objects_ = std::make_unique<SharedObjects>();
  objects_ = around.objects == nullptr ? own_objects_.get() : around.objects;
  max_memory_ = around.max_memory == 0 ? machine_memory() : around.max_memory;
  if (rewritten_ != nullptr) RL_TRY(count(rewritten_->bytes()));
  RL_TRY(count_planned(meta, arena_bytes));
  size_t size = 0;
  RL_CHECK(checked_add(arena_bytes, backend_bytes, &size), Error::MemoryAllocationFailed,
           "method %s: needs %lu bytes", name, log_number(arena_bytes));
  // Backends allocate from the method's arena (BackendInitContext); how much is unknown before they do, so
  // the arena gets reserved pages behind the values.
  arena_ = Arena(backend_bytes == 0 ? allocate(size) : reserve(size));
  temporary_ = Arena(reserve(kTemporaryBytes));
  RL_CHECK(arena_.size() == size && temporary_.size() == kTemporaryBytes, Error::MemoryAllocationFailed,
           "method %s: no memory for %lu bytes of values", name, log_number(size));
  RL_TRY(allocate_planned(meta));
  MemoryManager memory;
  memory.method = &arena_;
  memory.temporary = &temporary_;
  memory.planned = {planned_.data(), planned_.size()};
  MethodOptions own = options;
  own.host = this;
  pool_ = around.pool;
  make_stoppable(&own);
  RL_TRY_ASSIGN(Method method, Method::load(program, name, memory, operators, own));
  method_ = std::make_unique<Method>(std::move(method));
  WeightStore* weights = around.weights;
  // Prepared data is found by the address of its source. Constants that the method owns are freed with it, so
  // their addresses may be used again: they need a separate store.
  if (weights != nullptr && method_->owns_constants()) {
    own_weights_ = std::make_unique<WeightStore>();
    weights = own_weights_.get();
  }
  // Before kernels prepare anything: packed weights use only the remaining memory.
  RL_TRY(allocate_outputs());
  std::vector<CallWork> work;
  RL_TRY(prepare(weights, &work));
  // A trace lists calls in the program's order.
  if (options.tracer == nullptr) RL_TRY(start_lanes(operators, options.threads, around, work));
  return Error::Ok;
}

Error ModuleMethod::start_lanes(const OperatorTable& operators, ThreadPool* threads,
                                const Surroundings& around, const std::vector<CallWork>& work) {
  if (threads == nullptr || around.lanes < 2) return Error::Ok;
  Lanes::Options options;
  options.lanes = around.lanes;
  options.scratch = temporary_.size();
  options.work = &work;
  options.seconds = &around.seconds;
  std::unique_ptr<Lanes> lanes =
      Lanes::plan(*method_, operators, *threads, threads_ == nullptr ? *threads : *threads_, options);
  if (lanes == nullptr) return Error::Ok;
  const size_t bytes = lanes->bytes() + lanes->num_lanes() * counted_scratch(temporary_.size());
  // Lanes are no reason to fail: without the memory for them, calls execute in order.
  if (bytes > max_memory_ - taken_bytes_) return Error::Ok;
  RL_TRY(count(bytes));
  if (lanes->start(*this) != Error::Ok) {
    taken_bytes_ -= bytes;
    return Error::Ok;
  }
  lanes_ = std::move(lanes);
  if (!lanes_->moves_memory()) return Error::Ok;
  taken_bytes_ -= program_planned_bytes();
  planned_memory_.clear();
  for (Span<uint8_t>& buffer : planned_) buffer = {nullptr, buffer.size()};
  return Error::Ok;
}

size_t ModuleMethod::program_planned_bytes() const {
  size_t bytes = 0;
  for (const Span<uint8_t>& buffer : planned_) bytes += buffer.size();
  return bytes;
}

LaneFacts ModuleMethod::lane_facts() const {
  LaneFacts facts = lanes_ == nullptr ? LaneFacts() : lanes_->facts();
  facts.program_bytes = program_planned_bytes();
  facts.alone = !alone_.is_open() && alone_.takes_new();
  if (lanes_ == nullptr || !lanes_->moves_memory()) facts.planned_bytes = facts.program_bytes;
  return facts;
}

Error ModuleMethod::prepare(WeightStore* weights, std::vector<CallWork>* work) {
  const WeightStore none{};
  const std::unique_lock<std::mutex> lock =
      weights == nullptr ? std::unique_lock<std::mutex>() : weights->lock();
  // The analysis of values uses the scratch memory (Method::preparing_bytes()); if there is none, nothing is
  // prepared.
  if (method_->preparing_bytes() > temporary_.size()) {
    if (const Span<uint8_t> larger = reserve(method_->preparing_bytes()); !larger.empty())
      temporary_ = Arena(larger);
  }
  Preparation needs;
  work->resize(method_->num_instructions());
  needs.works = work->data();
  RL_TRY((weights == nullptr ? none : *weights).measure(*method_, max_memory_ - taken_bytes_, &needs));
  scratch_bytes_ = needs.scratch_bytes;
  // Kernels stated their scratch, so the fixed reservation is replaced by a larger one.
  if (scratch_bytes_ > temporary_.size()) {
    RL_TRY(count(counted_scratch(scratch_bytes_)));
    temporary_ = Arena(reserve(scratch_bytes_));
    RL_CHECK(temporary_.size() == scratch_bytes_, Error::MemoryAllocationFailed,
             "kernels' scratch: no memory for %lu bytes", log_number(scratch_bytes_));
  }
  prepared_bytes_ = needs.prepared_bytes;
  if (weights == nullptr) return Error::Ok;
  // Needed even if all prepared data already exists: prepare() looks it up.
  if (prepared_bytes_ > max_memory_ - taken_bytes_) return Error::Ok;
  RL_TRY(count(prepared_bytes_));
  taken_prepared_ = prepared_bytes_;
  RL_CHECK(weights->extend(needs.prepared_bytes + needs.index_bytes), Error::MemoryAllocationFailed,
           "prepared weights: no memory for %lu bytes", log_number(needs.prepared_bytes));
  // Watches each block, to release pages of the sources as packing proceeds.
  weights->weights().set_watcher(this);
  const Error error = method_->prepare(&weights->weights());
  weights->weights().set_watcher(nullptr);
  if (unreleased_ > 0) release_pages();
  return error;
}

void ModuleMethod::make_stoppable(MethodOptions* options) {
  interrupt_ = std::make_unique<ExecutionInterrupt>(options->interrupt);
  options->interrupt = interrupt_.get();
  if (options->threads == nullptr) return;
  threads_ = std::make_unique<StoppableThreads>(*options->threads, *interrupt_);
  options->threads = threads_.get();
  options->interrupt = threads_.get();
}

Error ModuleMethod::execute(const Execution* execution) {
  RL_TRY(check_files(mapped_));
  const HostThreads::Computing computing(pool_.get());
  interrupt_->set(execution);
  // Only something that can stop makes slicing worthwhile; otherwise kernels use the pool directly. While a
  // method is loaded, kernels are complete; see StoppableThreads::listen().
  const bool listens = threads_ != nullptr && interrupt_->can_stop();
  if (listens) threads_->listen();
  Error error = execute_on_fitting_threads();
  if (listens) error = threads_->finish(error);
  interrupt_->set(nullptr);
  return error;
}

// Windows are measured first: they need the threads.
Error ModuleMethod::execute_on_fitting_threads() {
  const bool chooses = is_short_ && threads_ != nullptr && threads_->threads() > 1;
  if (!chooses || (lanes_ != nullptr && lanes_->is_measured())) return method_->execute();
  const bool alone = alone_.takes_new();
  threads_->set_alone(alone);
  const double start = alone_.is_open() ? now_ns() : 0;
  const Error error = method_->execute();
  threads_->set_alone(false);
  if (!alone_.is_open()) {
    alone_.pass();
  } else if (error == Error::Ok) {
    const double time = now_ns() - start;
    // Sharing costs some microseconds a call, little of a long execution, and trials would take long.
    if (time > kLongestTried) is_short_ = false;
    alone_.note(time);
  }
  return error;
}

Error ModuleMethod::execute(Span<const EValue> inputs, const Execution* execution) {
  const MethodMeta meta = method_->meta();
  RL_CHECK(inputs.size() == meta.num_inputs(), Error::InvalidArgument,
           "method %s: expected %lu inputs, got %lu", meta.name(), log_number(meta.num_inputs()),
           log_number(inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) RL_TRY(method_->set_input(i, inputs[i]));
  return execute(execution);
}

ExecutionQueue& ModuleMethod::executions() {
  std::call_once(queue_made_, [this] {
    if (pool_ == nullptr) pool_ = HostThreads::shared(HostThreads::default_count());
    queue_ = std::make_unique<ExecutionQueue>(pool_);
  });
  return *queue_;
}

ExecutionQueue::Handle ModuleMethod::execute_async(std::vector<EValue> inputs,
                                                   const ExecutionOptions& options,
                                                   std::function<void(Error)> done) {
  auto run = [this, inputs = std::move(inputs)](const ExecutionQueue::Handle& execution) {
    return execute({inputs.data(), inputs.size()}, execution.get());
  };
  auto call = [done = std::move(done)](const ExecutionQueue::Handle&, Error error) { done(error); };
  return executions().add(options, std::move(run), std::move(call));
}

std::vector<EValue> ModuleMethod::outputs() const {
  std::vector<EValue> values;
  const size_t count = method_->meta().num_outputs();
  values.reserve(count);
  for (size_t i = 0; i < count; ++i) values.push_back(method_->output(i));
  return values;
}

}  // namespace rushlight
