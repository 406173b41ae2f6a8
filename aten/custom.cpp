// SPDX-License-Identifier: BSD-3-Clause
#include "aten/custom.h"

#include <map>

#include <torch/csrc/jit/frontend/function_schema_parser.h>

namespace rushlight::aten {

namespace {

// A function's variable, because static constructors of other files fill it.
std::map<std::string, CustomKernel>& kernels() {
  static std::map<std::string, CustomKernel> all;
  return all;
}

std::string name_of(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

// The schema of the C++ function, under the operator's name, with its written parameters marked.
c10::FunctionSchema named(const c10::OperatorName& name, const c10::FunctionSchema& inferred,
                          const std::vector<bool>& written) {
  std::vector<c10::Argument> arguments;
  for (size_t i = 0; i < written.size(); ++i) {
    const c10::Argument& argument = inferred.arguments()[i];
    std::optional<c10::AliasInfo> alias;
    const std::set<std::string> own = {"alias::" + std::to_string(i)};
    if (written[i]) alias.emplace(/*is_write=*/true, own, own);
    arguments.emplace_back(argument.name(), argument.type(), argument.real_type(), std::nullopt, std::nullopt,
                           /*kwarg_only=*/written[i], std::move(alias));
  }
  return {name.name, name.overload_name, std::move(arguments), inferred.returns()};
}

}  // namespace

const CustomKernel* custom_kernel(const std::string& name) {
  const auto found = kernels().find(name);
  return found == kernels().end() ? nullptr : &found->second;
}

namespace internal {

void add_custom_kernel(const std::string& operator_text, const c10::FunctionSchema& inferred,
                       const std::vector<bool>& written, void (*call)(torch::jit::Stack&)) {
  const auto parsed = torch::jit::parseSchemaOrName(operator_text);
  const auto* given = std::get_if<c10::FunctionSchema>(&parsed);
  if (given != nullptr) {
    const auto difference = c10::findSchemaDifferences(inferred, *given);
    TORCH_CHECK(!difference.has_value(), operator_text, ": differs from the C++ function: ", *difference);
  }
  c10::FunctionSchema schema =
      given != nullptr ? *given : named(std::get<c10::OperatorName>(parsed), inferred, written);
  const std::string name = name_of(schema.operator_name());
  const bool is_new = kernels().insert({name, CustomKernel{std::move(schema), call}}).second;
  TORCH_CHECK(is_new, name, ": RL_ATEN_KERNEL registered it twice");
}

}  // namespace internal

}  // namespace rushlight::aten
