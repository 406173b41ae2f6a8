// SPDX-License-Identifier: BSD-3-Clause
// In a folder that rushlight has, too: an application's include path must find both.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

// The words of the command line from `first` on, as numbers. Throws std::invalid_argument if there is none,
// or a word is no number.
inline std::vector<float> numbers(int argc, char** argv, int first) {
  std::vector<float> read;
  for (int i = first; i < argc; ++i) read.push_back(std::stof(argv[i]));
  if (read.empty()) throw std::invalid_argument("no numbers");
  return read;
}
