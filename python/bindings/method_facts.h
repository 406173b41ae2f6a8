// SPDX-License-Identifier: BSD-3-Clause
// What a program says about a method without loading it.
#pragma once

#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "runtime/backend/backend.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/program/method_meta.h"

namespace rushlight {

// "name", "inputs", "outputs", "attributes", "operators", "backends", "planned", "arena_32", "arena_64".
// Inputs and outputs are (kind, tensor or None), a tensor is (dtype number, sizes, dim order, dynamism,
// is planned, bytes); attributes are (name, tensor). Throws RuntimeFailure.
pybind11::dict method_facts(const MethodMeta& meta);

// The names of the method's operators, each with its overload behind a dot.
std::vector<std::string> operators_of(const MethodMeta& meta);
// Those that `table` has not.
std::vector<std::string> missing_operators(const MethodMeta& meta, const OperatorTable& table);
// The ids of backends that `table` has not, or whose device is not there.
std::vector<std::string> missing_backends(const MethodMeta& meta, const BackendTable& table);

}  // namespace rushlight
