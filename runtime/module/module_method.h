// SPDX-License-Identifier: BSD-3-Clause
// A method with the memory it runs in, taken from the heap in exactly the sizes that it asks for.
#pragma once

#include <memory>
#include <vector>

#include "runtime/executor/method.h"
#include "runtime/module/mmap_data_loader.h"
#include "runtime/module/shared_objects.h"
#include "runtime/module/stoppable_threads.h"
#include "runtime/module/weight_store.h"

namespace rushlight {

using MappedFiles = std::vector<std::shared_ptr<MmapDataLoader>>;

// AccessFailed for the first that was overwritten since it was opened.
[[nodiscard]] Error check_files(const MappedFiles& files);

class ModuleMethod final : private BackendHost, private PreparedWeights::Watcher {
 public:
  // What methods of one program share.
  struct Surroundings {
    WeightStore* weights = nullptr;    // where kernels prepare their constants; null: nowhere
    SharedObjects* objects = nullptr;  // of backends; null: each method has its own
    MappedFiles mapped = {};           // that constants lie in
    BackendHost* host = nullptr;       // of the method around, which has further ones
    size_t max_memory = 0;             // see ModuleOptions
  };

  // What kernels may use as scratch, unless they say that they need more. Pages that none of them touches
  // cost nothing.
  static constexpr size_t kTemporaryBytes = size_t{16} << 20;
  // How much is prepared before the pages that it was made of are given back.
  static constexpr size_t kReleaseBytes = size_t{1} << 20;
  // Arena memory for what backends allocate, if the method has delegates; likewise.
  static constexpr size_t kBackendBytes = size_t{16} << 20;

  // `program`, `weights`, `objects` and what `options` names outlive it. Errors: what MethodMeta and
  // Method::load return, MemoryAllocationFailed (also before anything is taken, for what is known to be more
  // than max_memory).
  [[nodiscard]] static Result<std::unique_ptr<ModuleMethod>> load(const Program& program, const char* name,
                                                                  const OperatorTable& operators,
                                                                  const MethodOptions& options,
                                                                  const Surroundings& around);
  [[nodiscard]] static Result<std::unique_ptr<ModuleMethod>> load(const Program& program, const char* name,
                                                                  const OperatorTable& operators,
                                                                  const MethodOptions& options = {}) {
    return load(program, name, operators, options, Surroundings());
  }

  ~ModuleMethod() = default;

  Method& method() { return *method_; }
  Method* operator->() { return method_.get(); }

  // Sets all inputs, in order, and runs. Tensors that the program did not plan memory for are used
  // where they are. Errors: InvalidArgument (their number), or what Method::set_input and execute return.
  Error execute(Span<const EValue> inputs);
  // Runs on the inputs that were set. Errors: AccessFailed (a mapped file was overwritten since it was
  // loaded), or what Method::execute returns.
  Error execute();
  // The outputs; they point into this method's memory and change when it runs again.
  [[nodiscard]] std::vector<EValue> outputs() const;

  [[nodiscard]] size_t arena_bytes() const { return arena_.used(); }
  [[nodiscard]] size_t temporary_peak_bytes() const { return temporary_.peak(); }
  [[nodiscard]] const std::vector<Span<uint8_t>>& planned() const { return planned_; }
  // The most scratch that its kernels said a call takes, and what loading it added to the prepared weights,
  // or would have.
  [[nodiscard]] size_t scratch_bytes() const { return scratch_bytes_; }
  [[nodiscard]] size_t prepared_bytes() const { return prepared_bytes_; }
  // What it takes, as a delegate's part of another method.
  [[nodiscard]] DelegateMemory memory() const;
  // What its delegates take beside its own.
  [[nodiscard]] const DelegateMemory& delegate_memory() const { return delegate_memory_; }
  // What the limit of max_memory counts.
  [[nodiscard]] size_t taken_bytes() const { return taken_bytes_; }

 private:
  struct Free {
    void operator()(uint8_t* memory) const;
  };
  struct Unmap {
    size_t size;
    void operator()(uint8_t* memory) const;
  };

  ModuleMethod() = default;
  // Zeroed memory at a multiple of 16; an empty span when there is none.
  Span<uint8_t> allocate(size_t size);
  // Likewise, of which most is not going to be used: straight from the system.
  Span<uint8_t> reserve(size_t size);
  // Counts bytes that are going to be taken. Error: MemoryAllocationFailed.
  Error count(uint64_t size);
  // The planned buffers, and `arena` bytes.
  Error count_planned(const MethodMeta& meta, uint64_t arena);
  Error allocate_planned(const MethodMeta& meta);
  [[nodiscard]] std::vector<size_t> unplanned_outputs() const;
  Error allocate_outputs();
  Error prepare(WeightStore* weights);

  [[nodiscard]] size_t bytes_left() const override { return max_memory_ - taken_bytes_; }
  [[nodiscard]] uint64_t counted(const DelegateMemory& memory) const;
  Error take(const DelegateMemory& memory) override;
  void give_back(const DelegateMemory& memory) override;
  void begin_block(size_t size) override;
  void release_pages() override;
  [[nodiscard]] bool prepares() const override { return prepares_; }
  [[nodiscard]] void* shared(const SharedKind& kind) override { return objects_->get(kind); }

  std::vector<std::unique_ptr<uint8_t, Free>> memory_;
  std::vector<std::unique_ptr<uint8_t, Unmap>> reserved_;
  std::vector<Span<uint8_t>> planned_;
  Arena arena_;
  Arena temporary_;
  MappedFiles mapped_;
  size_t max_memory_ = 0;
  size_t taken_bytes_ = 0;
  size_t scratch_bytes_ = 0;
  size_t prepared_bytes_ = 0;
  size_t taken_prepared_ = 0;  // of prepared_bytes_, what fitted
  size_t unreleased_ = 0;      // prepared since pages were given back
  bool prepares_ = false;
  BackendHost* host_ = nullptr;
  DelegateMemory delegate_memory_;
  std::unique_ptr<SharedObjects> own_objects_;
  SharedObjects* objects_ = nullptr;
  std::unique_ptr<StoppableThreads> threads_;  // null: nobody stops it, or there are none
  std::unique_ptr<WeightStore> own_weights_;   // made of constants that go with the method
  std::unique_ptr<Method> method_;
};

}  // namespace rushlight
