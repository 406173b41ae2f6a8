// SPDX-License-Identifier: BSD-3-Clause
// A model-independent interface to baked programs (compiled to C++), for code that serves several of them.
// Applications call the functions of the generated header instead, which need no tables.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/binding.h"
#include "runtime/tensor/evalue.h"

// Set by the build: 1 if kernels of hosts, which prepare weights, are linked. Source packages target boards.
#ifndef RUSHLIGHT_PREPARE_KERNELS
#define RUSHLIGHT_PREPARE_KERNELS 0
#endif

namespace rushlight::baked {

// Table of one method: sizes and functions of the generated code.
struct Method {
  const char* name;  // name in the program
  size_t num_inputs;
  size_t num_outputs;
  size_t planned_bytes;    // bytes of its planned buffers
  size_t state_bytes;      // other bytes that it writes while it executes
  size_t temporary_bytes;  // scratch of its kernels
  // Restores the state of a newly loaded method. Call it before anything else.
  void (*reset)();
  // Executes the method once.
  Error (*run)();
  // Return the current value. Precondition: `index` is below the count.
  EValue (*input)(size_t index);
  EValue (*output)(size_t index);

  // Like rushlight::Method::set_input() and set_output_buffer(); see set_value() and set_output_memory()
  // (binding.h). Errors also: InvalidArgument (index).
  Error set_input(size_t index, const EValue& value) const {
    RL_CHECK(index < num_inputs, Error::InvalidArgument, "input %lu: the method has %lu", log_number(index),
             log_number(num_inputs));
    return set_value(index, input(index), value);
  }
  Error set_output_buffer(size_t index, Span<uint8_t> memory) const {
    RL_CHECK(index < num_outputs, Error::InvalidArgument, "output %lu: the method has %lu", log_number(index),
             log_number(num_outputs));
    return set_output_memory(index, output(index), memory);
  }
};

// A baked program: its name, the bytes of its weights, and one table for each method. Constant data of the
// generated code.
struct Program {
  const char* name;
  size_t weights_bytes;
  Span<const Method> methods;
};

}  // namespace rushlight::baked
