// SPDX-License-Identifier: BSD-3-Clause
// Python module `kernel_call`: calls the operators of the linked table, for tests.
#include <cstring>
#include <memory>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "python/bindings/captured_log.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/kernel/random.h"
#include "runtime/module/host_threads.h"
#include "runtime/module/weight_store.h"
#include "tests/kernels/binding/arguments.h"

namespace rushlight::testing {

namespace py = pybind11;

namespace {

py::object number_of(const EValue& value) {
  if (value.is_int()) return py::int_(value.to_int());
  if (value.is_double()) return py::float_(value.to_double());
  if (value.is_bool()) return py::bool_(value.to_bool());
  return py::none();
}

Error prepare_call(const KernelEntry& entry, Arguments& arguments, WeightStore* store,
                   const void** prepared) {
  if (entry.prepare == nullptr || entry.folds()) return Error::Ok;
  const size_t count = std::strlen(entry.signature);
  for (size_t i = 0; i < count; ++i) {
    EValue& value = *arguments.values()[i];
    if (entry.signature[i] == 'w' || !value.is_tensor()) continue;
    TensorImpl* tensor = value.payload.as_tensor.impl();
    tensor->set_data(tensor->mutable_data(), Storage::Constant);
  }
  Preparation needs;
  KernelContext measuring(&needs, entry, count);
  RL_TRY(entry.function(measuring, arguments.values().data(), entry.prepare));
  if (!store->extend(needs.prepared_bytes)) return Error::MemoryAllocationFailed;
  Preparation making;
  making.weights = &store->weights();
  KernelContext preparing(&making, entry, count);
  RL_TRY(entry.function(preparing, arguments.values().data(), entry.prepare));
  *prepared = making.prepared;
  return Error::Ok;
}

const KernelEntry& find_entry(const std::string& name, size_t num_arguments) {
  const KernelEntry* entry = selected_operators.find(name.c_str(), "");
  if (entry == nullptr) throw py::key_error(name);
  const size_t count = std::strlen(entry->signature);
  if (num_arguments != count) {
    throw py::value_error(name + " takes " + std::to_string(count) + " arguments (" + entry->signature +
                          "), got " + std::to_string(num_arguments));
  }
  return *entry;
}

void add_all(const KernelEntry& entry, const py::list& arguments, Arguments* built) {
  for (size_t i = 0; i < arguments.size(); ++i) built->add(entry.signature[i], arguments[i]);
}

// Returns (error name, log lines, values): after the call, the values of arguments that the kernel takes as
// EValue&, in order.
//
// With `prepare` the tensors that are only read count as constants, and the kernel may prepare them before
// the call.
py::tuple call(const std::string& name, const py::list& arguments, size_t temporary_bytes, size_t threads,
               bool prepare) {
  const KernelEntry& entry = find_entry(name, arguments.size());
  Arguments built;
  add_all(entry, arguments, &built);

  const std::unique_ptr<uint8_t[]> memory(new uint8_t[temporary_bytes]);
  Arena temporary({memory.get(), temporary_bytes});
  captured_log().clear();
  WeightStore store;
  const void* prepared = nullptr;
  Error error = prepare ? prepare_call(entry, built, &store, &prepared) : Error::Ok;
  if (error == Error::Ok) {
    const auto pool = HostThreads::shared(threads);
    KernelContext context(&temporary, nullptr, entry, arguments.size(), pool.get(), prepared);
    error = entry.call(context, built.values().data());
  }
  built.store_shapes();

  py::list written;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (entry.signature[i] == 'e') written.append(number_of(*built.values()[i]));
  }
  return py::make_tuple(to_string(error), captured_log().text, written);
}

// The scratch memory that the kernel asks for when a method with this call is loaded.
size_t scratch_bytes(const std::string& name, const py::list& arguments, size_t threads) {
  const KernelEntry& entry = find_entry(name, arguments.size());
  Arguments built;
  add_all(entry, arguments, &built);
  const auto pool = HostThreads::shared(threads);
  Preparation needs;
  KernelContext measuring(&needs, entry, arguments.size(), pool.get());
  const Error error = entry.function(measuring, built.values().data(), entry.prepare);
  if (error != Error::Ok) throw py::value_error(name + ": " + to_string(error));
  return needs.scratch_bytes;
}

bool prepares(const std::string& name) {
  const KernelEntry* entry = selected_operators.find(name.c_str(), "");
  return entry != nullptr && entry->prepare != nullptr && !entry->folds();
}

py::dict operators() {
  py::dict signatures;
  for (const OperatorTable* table = &selected_operators; table != nullptr; table = table->next) {
    for (size_t i = 0; i < table->size; ++i) {
      signatures[table->entries[i].name] = table->entries[i].signature;
    }
  }
  return signatures;
}

}  // namespace

PYBIND11_MODULE(kernel_call, module) {
  py::class_<TensorArgument>(module, "TensorArgument")
      .def(py::init([](uintptr_t address, int dtype, std::vector<SizesType> sizes,
                       std::vector<DimOrderType> dim_order, bool dynamic) {
             return TensorArgument{address, dtype, std::move(sizes), std::move(dim_order), dynamic};
           }),
           py::arg("address"), py::arg("dtype"), py::arg("sizes"), py::arg("dim_order"),
           py::arg("dynamic") = false)
      .def_readonly("sizes", &TensorArgument::sizes);
  module.def("call", &call, py::arg("name"), py::arg("arguments"),
             py::arg("temporary_bytes") = size_t{1} << 24, py::arg("threads") = 1,
             py::arg("prepare") = false);
  module.def("scratch_bytes", &scratch_bytes, py::arg("name"), py::arg("arguments"), py::arg("threads") = 1,
             "The scratch memory that a prepared kernel asks for.");
  module.def("set_seed", &set_seed, py::arg("seed"), "Restarts the random numbers of kernels.");
  module.def("operators", &operators, "Signature by name of every linked operator.");
  module.def("prepares", &prepares, "True if the operator's kernel prepares constants.");
}

}  // namespace rushlight::testing
