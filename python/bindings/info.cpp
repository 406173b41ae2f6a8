// SPDX-License-Identifier: BSD-3-Clause
// Describes this build: operators with their dtypes, backends, compiler and options. Nothing here depends on
// a program, so all functions may be called at any time.
#include "python/bindings/info.h"

#include <cstdlib>
#include <string>

#include "kernels/checks/selection.h"
#include "python/bindings/convert.h"
#include "runtime/backend/backend.h"
#include "runtime/base/log.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/kernel/random.h"

#if RUSHLIGHT_UKERNEL_VARIANTS
#include "kernels/ukernel/detect.h"
#endif

namespace py = pybind11;

namespace rushlight {

namespace {

// Tables are searched in order, and each is sorted; names of several tables follow each other.
py::list operator_names() {
  py::list names;
  for (const OperatorTable* table = &selected_operators; table != nullptr; table = table->next) {
    for (size_t i = 0; i < table->size; ++i) names.append(to_str(table->entries[i].name));
  }
  return names;
}

// The dtypes that each operator supports, as integers.
py::dict operator_dtypes() {
  py::dict dtypes;
  // kSelectedTypes is the table of selection.h for all operators.
  for (const auto& entry : kernels::kSelectedTypes) {
    py::list numbers;
    for (int number = 0; number < 32; ++number) {
      if (contains(entry.types, static_cast<ScalarType>(number))) numbers.append(number);
    }
    dtypes[to_str(entry.name)] = numbers;
  }
  return dtypes;
}

py::list backend_names() {
  py::list names;
  for (const BackendTable* table = &selected_backends; table != nullptr; table = table->next) {
    for (size_t i = 0; i < table->size; ++i) names.append(to_str(table->entries[i].id));
  }
  return names;
}

bool backend_is_available(const std::string& name) {
  const Backend* backend = selected_backends.find(name.c_str());
  return backend != nullptr && backend->is_available();
}

// The variants of the microkernels, and the one that this processor runs.
void add_variants(py::dict& info) {
  py::list names;
#if RUSHLIGHT_UKERNEL_VARIANTS
  using namespace ukernel;
  // The same choice as the kernels make; RUSHLIGHT_CPU limits the variants.
  const Variant best = choose_variant(runnable_variants(Cpu{}), std::getenv("RUSHLIGHT_CPU"));
  for (const char* name : kVariantNames) names.append(name);
  info["variant"] = kVariantNames[static_cast<int>(best)];
#else
  names.append("native");
  info["variant"] = "native";
#endif
  info["variants"] = names;
}

py::dict build_info() {
  // In the order of RUSHLIGHT_LOG_LEVEL.
  constexpr const char* kLevels[] = {"debug", "info", "error", "off"};
  py::dict info;
  info["log_level"] = kLevels[RUSHLIGHT_LOG_LEVEL];
  info["compiler"] = __VERSION__;
#ifdef NDEBUG
  info["assertions"] = false;
#else
  info["assertions"] = true;
#endif
#ifdef ET_EVENT_TRACER_ENABLED
  info["event_tracing"] = true;
#else
  info["event_tracing"] = false;
#endif
  add_variants(info);
  info["sizeof_evalue"] = sizeof(EValue);
  info["sizeof_tensor_impl"] = sizeof(TensorImpl);
  info["sizeof_pointer"] = sizeof(void*);
  return info;
}

}  // namespace

void bind_info(py::module_& m) {
  m.def("operator_names", &operator_names, "Names of the linked operators, sorted.");
  m.def("operator_dtypes", &operator_dtypes, "The dtypes of each operator, as integers.");
  m.def("backend_names", &backend_names, "The ids of the linked backends.");
  m.def("backend_is_available", &backend_is_available, py::arg("name"),
        "Returns True if the backend is linked and its device is present.");
  m.def("set_seed", &set_seed, py::arg("seed"), "Sets the seed of kernels' random numbers.");
  m.def("build_info", &build_info,
        "Log level, compiler, assertions, event tracing, microkernel variants, sizes of C++ types.");
}

}  // namespace rushlight
