// SPDX-License-Identifier: BSD-3-Clause
// Describes a method without loading it.
#pragma once

#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "runtime/backend/backend.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/program/method_meta.h"

namespace rushlight {

// Returns "name", "inputs", "outputs", "attributes", "operators", "backends", "planned", "arena_32",
// "arena_64". Inputs and outputs are (kind, tensor or None); a tensor is (dtype as integer, sizes, dim order,
// dynamism, is planned, bytes); attributes are (name, tensor). Throws RuntimeFailure.
pybind11::dict method_facts(const MethodMeta& meta);

// Names of the method's operators, with ".overload" if they have one.
std::vector<std::string> operators_of(const MethodMeta& meta);
// Names of the method's operators that `table` lacks.
std::vector<std::string> missing_operators(const MethodMeta& meta, const OperatorTable& table);
// Ids of the method's backends that `table` lacks or whose device is missing.
std::vector<std::string> missing_backends(const MethodMeta& meta, const BackendTable& table);

}  // namespace rushlight
