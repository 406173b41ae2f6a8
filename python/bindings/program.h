// SPDX-License-Identifier: BSD-3-Clause
// A loaded program and its Python methods.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "python/bindings/fallback.h"
#include "python/bindings/generator.h"
#include "python/bindings/method.h"
#include "runtime/module/module.h"

namespace rushlight {

// Options of loading, besides the files.
struct LoadOptions {
  std::shared_ptr<PyTrace> trace;
  size_t threads = 0;
  bool prepare = true;
  bool optimize = true;
  uint64_t max_instructions = 0;
  size_t max_memory = 0;
  size_t lanes = 0;
  std::map<std::string, std::vector<double>> call_seconds;
};

// Thread-safe: loading is serialised only if a trace is attached.
class PyProgram {
 public:
  PyProgram(std::shared_ptr<Module> module, std::shared_ptr<Fallback> fallback,
            std::shared_ptr<PyTrace> trace)
      : module_(std::move(module)), fallback_(std::move(fallback)), trace_(std::move(trace)) {}

  // Throw RuntimeFailure. Verification and loading release the GIL.
  static std::unique_ptr<PyProgram> load_file(const std::string& path,
                                              const std::vector<std::string>& data_files, int mode,
                                              const LoadOptions& load);
  // The bytes of an aligned `bytes` object are used in place, and the object is kept alive. Other buffers may
  // change, so they are copied.
  static std::unique_ptr<PyProgram> load_bytes(const pybind11::buffer& data,
                                               const std::vector<std::string>& data_files,
                                               const LoadOptions& load);

  // The operators that Python functions compute; added before a method is loaded.
  [[nodiscard]] Fallback& fallback() const { return *fallback_; }
  [[nodiscard]] pybind11::list method_names() const;
  [[nodiscard]] pybind11::dict method_facts(const std::string& name) const;
  // The file of the program that the rewriter makes of a method, or None.
  [[nodiscard]] std::optional<pybind11::bytes> rewritten(const std::string& name) const;
  [[nodiscard]] std::unique_ptr<PyMethod> load_method(const std::string& name) const;
  [[nodiscard]] std::unique_ptr<PyTextGenerator> load_text_generator() const;

 private:
  // Loads with the trace locked and without the GIL. `load` returns a Result; a failure carries what the
  // method `name` needs and this build lacks.
  template <class Load>
  [[nodiscard]] auto loaded(const std::string& name, Load&& load) const;

  std::shared_ptr<Module> module_;      // keeps fallback_ alive
  std::shared_ptr<Fallback> fallback_;  // the module's operators
  std::shared_ptr<PyTrace> trace_;      // null without tracing
};

void bind_program(pybind11::module_& m);

}  // namespace rushlight
