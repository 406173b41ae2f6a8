// SPDX-License-Identifier: BSD-3-Clause
// Errors of loading carry the names of all missing operators or backends, which are looked up only after a
// failure. Memory of Python objects is used in place only if it cannot change.
#include "python/bindings/program.h"

#include <pybind11/stl.h>

#include "backends/rewrite/rewriter.h"
#include "python/bindings/captured_log.h"
#include "python/bindings/convert.h"
#include "python/bindings/failure.h"
#include "python/bindings/gil.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/method_facts.h"
#include "runtime/module/shared_data_loader.h"

namespace py = pybind11;

namespace rushlight {

namespace {

constexpr size_t kAlignment = 16;

ModuleOptions options_for(const std::vector<std::string>& data_files, const LoadOptions& load) {
  ModuleOptions options;
  options.threads = load.threads;
  options.prepare = load.prepare;
  if (load.optimize) options.rewriter = make_rewriter;
  options.max_memory = load.max_memory;
  options.lanes = load.lanes;
  options.call_seconds = load.call_seconds;
  options.data_files = data_files;
  options.method.backends = &selected_backends;
  options.method.instruction_budget = load.max_instructions;
  options.method.interrupt = python_interrupt();
  if (load.trace != nullptr) options.method.tracer = load.trace->tracer();
  return options;
}

// The last owner may be a thread without the GIL.
void release_object(PyObject* object) {
  const py::gil_scoped_acquire acquired;
  Py_DECREF(object);
}

// Returns a loader over the object's own memory, or null unless it is immutable and aligned.
std::shared_ptr<DataLoader> lend(const py::buffer& data) {
  PyObject* object = data.ptr();
  // Exactly bytes: a subclass may override anything, and other buffers may be written.
  if (!PyBytes_CheckExact(object)) return nullptr;
  const char* bytes = PyBytes_AS_STRING(object);
  // CPython's bytes objects begin behind a header, so alignment depends on the allocator.
  if (reinterpret_cast<uintptr_t>(bytes) % kAlignment != 0) return nullptr;
  Py_INCREF(object);
  // The loader's deleter returns the reference.
  const std::shared_ptr<const void> kept(bytes, [object](const void*) { release_object(object); });
  return std::make_shared<SharedDataLoader>(kept, static_cast<size_t>(PyBytes_GET_SIZE(object)));
}

// Loads without the GIL. `load` takes a table of operators and returns a Result of a module, which keeps the
// table alive: methods may outlive the program.
template <class Load>
std::unique_ptr<PyProgram> made(const Load& load, std::shared_ptr<PyTrace> trace) {
  const auto fallback = std::make_shared<Fallback>();
  std::unique_ptr<Module> module =
      value_of([&] { return without_gil([&] { return load(fallback->table()); }); });
  const std::shared_ptr<Module> kept(module.release(), [fallback](Module* last) { delete last; });
  return std::make_unique<PyProgram>(kept, fallback, std::move(trace));
}

}  // namespace

// Files are opened and verified without the GIL; exceptions are thrown after it is held again.
std::unique_ptr<PyProgram> PyProgram::load_file(const std::string& path,
                                                const std::vector<std::string>& data_files, int mode,
                                                const LoadOptions& load) {
  ModuleOptions options = options_for(data_files, load);
  options.load_mode = static_cast<LoadMode>(mode);
  return made(
      [&](const OperatorTable& operators) { return Module::load_file(path.c_str(), operators, options); },
      load.trace);
}

std::unique_ptr<PyProgram> PyProgram::load_bytes(const py::buffer& data,
                                                 const std::vector<std::string>& data_files,
                                                 const LoadOptions& load) {
  const ModuleOptions options = options_for(data_files, load);
  if (std::shared_ptr<DataLoader> loader = lend(data)) {
    return made(
        [&](const OperatorTable& operators) { return Module::load(std::move(loader), operators, options); },
        load.trace);
  }
  const py::buffer_info info = data.request();
  // The bytes are read as one block, so strides must not skip any.
  if (PyBuffer_IsContiguous(info.view(), 'C') == 0) throw py::buffer_error("the bytes are not contiguous");
  const Span<const uint8_t> bytes(static_cast<const uint8_t*>(info.ptr),
                                  static_cast<size_t>(info.size * info.itemsize));
  return made([&](const OperatorTable& operators) { return Module::load_bytes(bytes, operators, options); },
              load.trace);
}

py::list PyProgram::method_names() const {
  py::list names;
  for (const std::string& name : module_->method_names()) names.append(to_str(name));
  return names;
}

// Reads the program's tables, which never change, so no lock is needed.
py::dict PyProgram::method_facts(const std::string& name) const {
  return rushlight::method_facts(value_of([&] { return module_->method_meta(name.c_str()); }));
}

template <class Load>
auto PyProgram::loaded(const std::string& name, Load&& load) const {
  // Before the log is cleared, so that a missing method is reported once, by the load.
  const auto meta = module_->method_meta(name.c_str());
  captured_log().clear();
  const Loading loading;
  // The trace is locked before the GIL is released.
  const std::unique_lock<std::mutex> traced =
      trace_ == nullptr ? std::unique_lock<std::mutex>() : lock_for_python(trace_->mutex());
  auto result = without_gil(load);
  // A handler's exception explains the failure better than the error.
  throw_if_interrupted();
  if (result.ok()) return std::move(*result);
  std::vector<std::string> names;
  if (meta.ok() && result.error() == Error::OperatorMissing)
    names = missing_operators(*meta, fallback_->table());
  if (meta.ok() && result.error() == Error::NotFound) names = missing_backends(*meta, selected_backends);
  fail(result.error(), -1, std::move(names));
}

std::optional<py::bytes> PyProgram::rewritten(const std::string& name) const {
  const auto method = without_gil([&] { return module_->rewritten(name.c_str()); });
  if (method == nullptr) return std::nullopt;
  const Span<const uint8_t> file = method->file();
  return py::bytes(reinterpret_cast<const char*>(file.data()), file.size());
}

// Each method keeps the module alive, so the Python program may be released first.
std::unique_ptr<PyMethod> PyProgram::load_method(const std::string& name) const {
  auto method = loaded(name, [&] { return module_->load_method(name.c_str()); });
  return std::make_unique<PyMethod>(module_, std::move(method), trace_);
}

// The generator's metadata methods are loaded too; a missing operator is looked up in "forward" only.
std::unique_ptr<PyTextGenerator> PyProgram::load_text_generator() const {
  auto generator = loaded("forward", [&] { return llm::TextGenerator::load(module_); });
  return std::make_unique<PyTextGenerator>(std::move(generator), trace_);
}

void bind_program(py::module_& m) {
  py::class_<PyProgram>(m, "Program", py::module_local())
      .def("method_names", &PyProgram::method_names, "Names of the methods, in file order.")
      .def("method_facts", &PyProgram::method_facts, py::arg("name"),
           "Describes a method without loading it.")
      .def(
          "serve",
          [](const PyProgram& program, const std::string& name, const std::string& signature, bool first,
             bool overwrites, py::function function) {
            return program.fallback().add(name, signature, first, overwrites, std::move(function));
          },
          py::arg("name"), py::arg("signature"), py::arg("first"), py::arg("overwrites"), py::arg("function"),
          "Lets a function compute an operator (Fallback::add()); before a method is loaded.")
      .def(
          "served", [](const PyProgram& program) { return program.fallback().calls(); },
          "The number of calls that functions have computed, by operator.")
      .def(
          "rewritten", &PyProgram::rewritten, py::arg("name"),
          "The file, without constants, of the program that loading a method makes of it; None if the method "
          "stays as it is.")
      .def("load_method", &PyProgram::load_method, py::arg("name"),
           "Loads a new instance of a method, with separate memory and state.")
      .def("load_text_generator", &PyProgram::load_text_generator,
           "Loads a text generator on a new instance of method forward.");
  py::class_<LoadOptions>(m, "LoadOptions", py::module_local())
      .def(
          py::init([](const std::shared_ptr<PyTrace>& trace, size_t threads, bool prepare,
                      uint64_t max_instructions, size_t max_memory, size_t lanes,
                      std::map<std::string, std::vector<double>> call_seconds, bool optimize) {
            return LoadOptions{trace,
                               threads,
                               prepare,
                               optimize,
                               max_instructions,
                               max_memory,
                               lanes,
                               std::move(call_seconds)};
          }),
          py::arg("trace") = py::none(), py::arg("threads") = 0, py::arg("prepare") = true,
          py::arg("max_instructions") = 0, py::arg("max_memory") = 0, py::arg("lanes") = 0,
          py::arg("call_seconds") = py::dict(), py::arg("optimize") = true,
          "Options of loading. lanes: most calls at once, 0 for one per thread. call_seconds: by method, the "
          "measured seconds of each instruction. optimize: rewrite methods when they are loaded.");
  m.def("load_file", &PyProgram::load_file, py::arg("path"), py::arg("data_files") = py::tuple(),
        py::arg("mode") = 1, py::arg_v("options", LoadOptions(), "..."),
        "Opens a .pte: read (0), mapped (1), mapped and locked (2), locked if permitted (3).");
  m.def("load_bytes", &PyProgram::load_bytes, py::arg("data"), py::arg("data_files") = py::tuple(),
        py::arg_v("options", LoadOptions(), "..."),
        "Loads a program from memory; a bytes object is used in place.");
}

}  // namespace rushlight
