// SPDX-License-Identifier: BSD-3-Clause
// Prints the selected operators. With a program, exits with status 1 if an operator is missing for it.
#include <cstdio>

#include "runtime/kernel/operator_table.h"
#include "runtime/module/module.h"
#include "runtime/platform/platform.h"

int main(int argc, char** argv) {
  rushlight::platform::init();
  const rushlight::OperatorTable& selected = rushlight::selected_operators;
  for (size_t i = 0; i < selected.size; ++i) std::printf("%s\n", selected.entries[i].name);
  if (argc < 2) return 0;
  auto module = rushlight::Module::load_file(argv[1], selected);
  return module.ok() && (*module)->load_method("forward").ok() ? 0 : 1;
}
