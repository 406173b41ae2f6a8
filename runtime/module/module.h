// SPDX-License-Identifier: BSD-3-Clause
// The convenient front for hosts: a program and its methods with all memory taken from the heap, each
// method's in exactly the sizes it asks for.
//
//   auto module = Module::load_file("model.pte", selected_operators);
//   auto method = (*module)->method("forward");
//   (*method)->set_input(0, EValue(Tensor(&image)));
//   (*method)->execute();
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/executor/method.h"
#include "runtime/module/file_data_loader.h"

namespace rushlight {

// A method with the memory it runs in.
class ModuleMethod {
 public:
  // Error: what MethodMeta and Method::load return.
  [[nodiscard]] static Result<std::unique_ptr<ModuleMethod>> load(const Program& program, const char* name,
                                                                  const OperatorTable& operators);

  Method& method() { return *method_; }
  [[nodiscard]] size_t arena_bytes() const { return arena_.used(); }
  [[nodiscard]] size_t temporary_peak_bytes() const { return temporary_.peak(); }
  [[nodiscard]] const std::vector<Span<uint8_t>>& planned() const { return planned_; }

 private:
  struct Free {
    void operator()(uint8_t* memory) const;
  };
  using Memory = std::unique_ptr<uint8_t, Free>;

  ModuleMethod() = default;
  // Zeroed memory at a multiple of 16; an empty span when there is none.
  Span<uint8_t> allocate(size_t size);

  std::vector<Memory> memory_;
  std::vector<Span<uint8_t>> planned_;
  Arena arena_;
  Arena temporary_;
  std::unique_ptr<Method> method_;
};

class Module {
 public:
  // Error: what FileDataLoader and Program return.
  [[nodiscard]] static Result<std::unique_ptr<Module>> load_file(const char* path,
                                                                 const OperatorTable& operators);
  // Copies the bytes.
  [[nodiscard]] static Result<std::unique_ptr<Module>> load_bytes(Span<const uint8_t> bytes,
                                                                  const OperatorTable& operators);

  [[nodiscard]] const Program& program() const { return *program_; }

  // A new instance of the method, with state of its own; the module outlives it.
  [[nodiscard]] Result<std::unique_ptr<ModuleMethod>> load_method(const char* name) const {
    return ModuleMethod::load(*program_, name, *operators_);
  }

 private:
  explicit Module(const OperatorTable& operators) : operators_(&operators) {}
  static Result<std::unique_ptr<Module>> finish(std::unique_ptr<Module> module, DataLoader& loader);

  const OperatorTable* operators_;
  FreeableBuffer bytes_;
  std::unique_ptr<FileDataLoader> file_;
  std::unique_ptr<BufferDataLoader> buffer_;
  std::unique_ptr<Program> program_;
};

}  // namespace rushlight
