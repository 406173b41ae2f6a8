// SPDX-License-Identifier: BSD-3-Clause
// The native half of rushlight.runtime. It deals in element type numbers and raw bytes; what numpy
// dtype they are is the Python half's business, so that the module needs numpy's array object only.
#include <mutex>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "python/bindings/captured_log.h"
#include "runtime/module/module.h"

namespace py = pybind11;

#ifndef RUSHLIGHT_MODULE_NAME
#define RUSHLIGHT_MODULE_NAME _runtime
#endif

namespace rushlight {

namespace {

// Becomes rushlight's own exceptions on the Python side, by the code.
struct RuntimeFailure {
  Error code;
  std::string message;
};

// A program's names may be any bytes.
py::str to_str(std::string_view text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace"));
}

[[noreturn]] void fail(Error code) {
  std::string message;
  message.swap(captured_log());
  if (message.empty()) message = to_string(code);
  throw RuntimeFailure{code, std::move(message)};
}

void check(Error code) {
  if (code != Error::Ok) fail(code);
}

template <class T>
T&& value_of(Result<T>&& result) {
  if (!result.ok()) fail(result.error());
  return std::move(*result);
}

py::tuple to_tuple(Span<const int32_t> sizes) {
  py::tuple tuple(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) tuple[i] = sizes[i];
  return tuple;
}

py::tuple to_tuple(Span<const uint8_t> order) {
  py::tuple tuple(order.size());
  for (size_t i = 0; i < order.size(); ++i) tuple[i] = static_cast<int>(order[i]);
  return tuple;
}

// (kind, dtype number, sizes, dim order, dynamism): the last four are None unless it is a tensor.
py::tuple describe(Tag tag, Result<TensorInfo> info) {
  if (!info.ok()) return py::make_tuple(to_string(tag), py::none(), py::none(), py::none(), py::none());
  return py::make_tuple(to_string(tag), static_cast<int>(info->scalar_type), to_tuple(info->sizes),
                        to_tuple(info->dim_order), static_cast<int>(info->dynamism));
}

class PyMethod {
 public:
  PyMethod(std::shared_ptr<Module> module, std::unique_ptr<ModuleMethod> method)
      : module_(std::move(module)), method_(std::move(method)) {}

  // `inputs` holds numbers, None, or (dtype number, sizes, C-contiguous array in the input's dim order).
  py::list execute(const py::sequence& inputs) {
    captured_log().clear();
    Method& method = method_->method();
    if (inputs.size() != method.meta().num_inputs()) fail(Error::InvalidArgument);  // no old ones stay in use
    Error error = Error::Ok;
    py::list outputs;
    {
      // Taken without the GIL: another thread may hold it while executing.
      std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
      {
        py::gil_scoped_release release;
        lock.lock();
      }
      for (size_t i = 0; i < inputs.size(); ++i) set_input(method, i, inputs[i]);
      {
        py::gil_scoped_release release;
        error = method.execute();
      }
      check(error);
      for (size_t i = 0; i < method.meta().num_outputs(); ++i) outputs.append(output(method.output(i)));
    }
    return outputs;
  }

  py::list inputs() {
    const MethodMeta meta = method_->method().meta();
    py::list list;
    for (size_t i = 0; i < meta.num_inputs(); ++i) {
      list.append(describe(value_of(meta.input_tag(i)), meta.input_tensor(i)));
    }
    captured_log().clear();
    return list;
  }

  py::list outputs() {
    const MethodMeta meta = method_->method().meta();
    py::list list;
    for (size_t i = 0; i < meta.num_outputs(); ++i) {
      list.append(describe(value_of(meta.output_tag(i)), meta.output_tensor(i)));
    }
    captured_log().clear();
    return list;
  }

  py::dict memory() {
    py::list planned;
    for (const auto& buffer : method_->planned()) planned.append(buffer.size());
    py::dict dict;
    dict["method_arena"] = method_->arena_bytes();
    dict["planned"] = planned;
    dict["temporary_peak"] = method_->temporary_peak_bytes();
    return dict;
  }

 private:
  static void set_input(Method& method, size_t index, const py::handle& input) {
    if (input.is_none()) return check(method.set_input(index, EValue()));
    if (py::isinstance<py::bool_>(input)) return check(method.set_input(index, EValue(input.cast<bool>())));
    if (py::isinstance<py::int_>(input)) return check(method.set_input(index, EValue(input.cast<int64_t>())));
    if (py::isinstance<py::float_>(input))
      return check(method.set_input(index, EValue(input.cast<double>())));
    const auto parts = input.cast<py::tuple>();
    const auto sizes_in = parts[1].cast<py::tuple>();
    const auto array = parts[2].cast<py::array>();
    const size_t rank = sizes_in.size();
    SizesType sizes[kTensorDimensionLimit];
    DimOrderType order[kTensorDimensionLimit];
    StridesType strides[kTensorDimensionLimit];
    if (rank > kTensorDimensionLimit) {
      captured_log() = "input " + std::to_string(index) + ": more than 16 dimensions";
      fail(Error::InvalidArgument);
    }
    const auto info = method.meta().input_tensor(index);
    for (size_t d = 0; d < rank; ++d) {
      sizes[d] = sizes_in[d].cast<SizesType>();
      const bool known = info.ok() && info->dim_order.size() == rank;
      order[d] = known ? info->dim_order[d] : static_cast<DimOrderType>(d);
    }
    TensorImpl tensor(static_cast<ScalarType>(parts[0].cast<int>()), static_cast<ptrdiff_t>(rank), sizes,
                      const_cast<void*>(array.data()), order, strides);
    check(method.set_input(index, EValue(Tensor(&tensor))));
  }

  // A number, None, or (dtype number, sizes, dim order, bytes copied into an array of uint8).
  static py::object output(const EValue& value) {
    if (value.is_int()) return py::int_(value.to_int());
    if (value.is_double()) return py::float_(value.to_double());
    if (value.is_bool()) return py::bool_(value.to_bool());
    if (value.tag == Tag::String) return to_str(value.to_string_view());
    if (!value.is_tensor()) return py::none();
    const Tensor tensor = value.to_tensor();
    if (tensor.const_data_ptr() == nullptr && tensor.numel() > 0) {
      captured_log() = "output: a tensor that the program never gave memory to";
      fail(Error::InvalidProgram);
    }
    py::array_t<uint8_t> bytes(static_cast<py::ssize_t>(tensor.nbytes()));
    if (tensor.nbytes() > 0) std::memcpy(bytes.mutable_data(), tensor.const_data_ptr(), tensor.nbytes());
    return py::make_tuple(static_cast<int>(tensor.scalar_type()), to_tuple(tensor.sizes()),
                          to_tuple(tensor.dim_order()), std::move(bytes));
  }

  std::shared_ptr<Module> module_;
  std::unique_ptr<ModuleMethod> method_;
  std::mutex mutex_;
};

class PyProgram {
 public:
  explicit PyProgram(std::unique_ptr<Module> module) : module_(std::move(module)) {}

  [[nodiscard]] py::list method_names() const {
    py::list names;
    for (size_t i = 0; i < module_->program().num_methods(); ++i) {
      names.append(to_str(module_->program().method_name(i)));
    }
    return names;
  }

  [[nodiscard]] std::unique_ptr<PyMethod> load_method(const std::string& name) const {
    captured_log().clear();
    return std::make_unique<PyMethod>(module_, value_of(module_->load_method(name.c_str())));
  }

 private:
  std::shared_ptr<Module> module_;
};

std::unique_ptr<PyProgram> load_file(const std::string& path) {
  captured_log().clear();
  return std::make_unique<PyProgram>(value_of(Module::load_file(path.c_str(), selected_operators)));
}

std::unique_ptr<PyProgram> load_bytes(const py::buffer& data) {
  captured_log().clear();
  const py::buffer_info info = data.request();
  if (PyBuffer_IsContiguous(info.view(), 'C') == 0) throw py::buffer_error("the bytes are not contiguous");
  const Span<const uint8_t> bytes(static_cast<const uint8_t*>(info.ptr),
                                  static_cast<size_t>(info.size * info.itemsize));
  return std::make_unique<PyProgram>(value_of(Module::load_bytes(bytes, selected_operators)));
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const OperatorTable* table = &selected_operators; table != nullptr; table = table->next) {
    for (size_t i = 0; i < table->size; ++i) names.emplace_back(table->entries[i].name);
  }
  return names;
}

}  // namespace

}  // namespace rushlight

PYBIND11_MODULE(RUSHLIGHT_MODULE_NAME, m) {
  using namespace rushlight;
  m.doc() = "Native runtime: programs, methods and the kernels linked into this module.";
  // One class object a module; several of these modules may live in one process.
  static PyObject* failure = PyErr_NewException("rushlight._runtime.RuntimeFailure", nullptr, nullptr);
  m.attr("RuntimeFailure") = py::handle(failure);
  py::register_local_exception_translator([](std::exception_ptr raised) {
    try {
      if (raised) std::rethrow_exception(raised);
    } catch (const RuntimeFailure& error) {
      const py::tuple arguments =
          py::make_tuple(static_cast<uint32_t>(error.code), to_string(error.code), to_str(error.message));
      PyErr_SetObject(failure, arguments.ptr());
    }
  });
  py::class_<PyMethod>(m, "Method", py::module_local())
      .def("execute", &PyMethod::execute, py::arg("inputs"))
      .def("inputs", &PyMethod::inputs)
      .def("outputs", &PyMethod::outputs)
      .def("memory", &PyMethod::memory);
  py::class_<PyProgram>(m, "Program", py::module_local())
      .def("method_names", &PyProgram::method_names)
      .def("load_method", &PyProgram::load_method, py::arg("name"));
  m.def("load_file", &load_file, py::arg("path"));
  m.def("load_bytes", &load_bytes, py::arg("data"));
  m.def("operator_names", &operator_names);
}
