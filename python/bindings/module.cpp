// SPDX-License-Identifier: BSD-3-Clause
// The native half of rushlight.runtime: programs, methods, numpy arrays in and out. The Python half converts
// other inputs (lists, torch tensors) to arrays.
#include <pybind11/pybind11.h>

#include "python/bindings/convert.h"
#ifdef RUSHLIGHT_XNNPACK
#include "python/bindings/delegates.h"
#endif
#include "python/bindings/failure.h"
#include "python/bindings/generator.h"
#include "python/bindings/info.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/language.h"
#include "python/bindings/method.h"
#include "python/bindings/program.h"
#include "python/bindings/trace.h"

#ifndef RUSHLIGHT_MODULE_NAME
#define RUSHLIGHT_MODULE_NAME _runtime
#endif

PYBIND11_MODULE(RUSHLIGHT_MODULE_NAME, m) {
  m.doc() = "Native runtime: programs, methods and the kernels linked into this module.";
  rushlight::init_dtypes();
  rushlight::bind_failure(m);
  rushlight::bind_interrupt(m);
  rushlight::bind_trace(m);
  rushlight::bind_execution(m);
  rushlight::bind_method(m);
  rushlight::bind_generator(m);
  rushlight::bind_program(m);
  rushlight::bind_info(m);
  rushlight::bind_language(m);
#ifdef RUSHLIGHT_XNNPACK
  rushlight::bind_delegates(m);
#endif
}
