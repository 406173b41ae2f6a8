// SPDX-License-Identifier: BSD-3-Clause
// A baked program seen from outside, whatever model it was: for code that serves several. An application
// calls the functions of the generated header instead, which need none of this.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/binding.h"
#include "runtime/tensor/evalue.h"

// Said by the build: whether kernels are those of hosts. Packages are for boards.
#ifndef RUSHLIGHT_PREPARE_KERNELS
#define RUSHLIGHT_PREPARE_KERNELS 0
#endif

namespace rushlight::baked {

struct Method {
  const char* name;  // as in the program
  size_t num_inputs;
  size_t num_outputs;
  size_t planned_bytes;    // its arenas
  size_t state_bytes;      // what else it writes while it runs
  size_t temporary_bytes;  // scratch of its kernels
  // To the state of a method that was just loaded; before anything else.
  void (*reset)();
  Error (*run)();
  // The values as they are now; `index` is below the count.
  EValue (*input)(size_t index);
  EValue (*output)(size_t index);

  // As rushlight::Method has them.
  Error set_input(size_t index, const EValue& value) const {
    RL_CHECK(index < num_inputs, Error::InvalidArgument, "input %lu: the method takes %lu", log_number(index),
             log_number(num_inputs));
    return set_value(index, input(index), value);
  }
  Error set_output_buffer(size_t index, Span<uint8_t> memory) const {
    RL_CHECK(index < num_outputs, Error::InvalidArgument, "output %lu: the method gives %lu",
             log_number(index), log_number(num_outputs));
    return set_output_memory(index, output(index), memory);
  }
};

struct Program {
  const char* name;
  size_t weights_bytes;
  Span<const Method> methods;
};

}  // namespace rushlight::baked
