// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target without a fuzzer:
//
//   fuzz_program_replay FILE|FOLDER...
//       each file once
//   fuzz_program_replay --mutants=N [--first=I] [--seed=S] [--seconds=T] [--json=FILE] [--artifacts=FOLDER]
//                       FILE...
//       N mutants of the files in turn, numbered from I; S and the number make a mutant. One that takes
//       longer than T seconds of this process's time (10) hangs. A mutant that crashes or hangs is
//       written to the folder, and the others still run.
//   fuzz_calls_replay --numbers=N [--first=I] [--seconds=T] [--json=FILE] [--artifacts=FOLDER]
//       likewise, but the inputs are the numbers from I on, of four bytes, lowest first
//
// The exit status is 0 when nothing crashed and nothing hung.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/heap.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/worker.h"

namespace rushlight::fuzz {

namespace {

using Bytes = std::vector<uint8_t>;

struct Options {
  uint64_t mutants = 0;
  bool numbers = false;
  uint64_t first = 0;
  uint64_t seed = 1;
  double seconds = 10;
  std::string json;
  std::string artifacts = ".";
  std::vector<std::string> files;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string name = word.substr(0, word.find('='));
    const char* value = word.size() > name.size() ? argv[i] + name.size() + 1 : "";
    if (name == "--mutants" || name == "--numbers") {
      options.mutants = std::strtoull(value, nullptr, 10);
      options.numbers = name == "--numbers";
    } else if (name == "--first") {
      options.first = std::strtoull(value, nullptr, 10);
    } else if (name == "--seed") {
      options.seed = std::strtoull(value, nullptr, 10);
    } else if (name == "--seconds") {
      options.seconds = std::strtod(value, nullptr);
    } else if (name == "--json") {
      options.json = value;
    } else if (name == "--artifacts") {
      options.artifacts = value;
    } else if (std::filesystem::is_directory(word)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(word)) {
        if (entry.is_regular_file()) options.files.push_back(entry.path().string());
      }
    } else {
      options.files.push_back(word);
    }
  }
  std::sort(options.files.begin(), options.files.end());
  return options;
}

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "fuzz: %s cannot be read\n", path.c_str());
    std::exit(2);
  }
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

Bytes mutant(const Options& options, const std::vector<Bytes>& files, uint64_t number) {
  if (options.numbers) {
    Bytes bytes;
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(number >> shift));
    return bytes;
  }
  Bytes bytes = files[number % files.size()];
  const size_t size = bytes.size();
  bytes.resize(size + 256);
  Choices choices(options.seed * 0x9e3779b97f4a7c15u + number);
  bytes.resize(mutate_input(bytes.data(), size, bytes.size(), choices));
  bytes.shrink_to_fit();
  return bytes;
}

// Runs the file from a block of exactly its size.
Outcome run_exact(const Bytes& bytes) {
  Heap heap;
  const Span<uint8_t> block = heap.allocate(bytes.size());
  if (block.data() == nullptr) return {};
  if (!bytes.empty()) std::memcpy(block.data(), bytes.data(), bytes.size());
  return run_input(block);
}

void write_json(const Options& options, const Tally& tally, const std::vector<Failure>& failures) {
  std::ofstream out(options.json);
  constexpr const char* kStageNames[kStages] = {"refused", "loaded", "executed"};
  out << "{\"mutants\": " << options.mutants << ", \"seed\": " << options.seed
      << ", \"files\": " << options.files.size() << ", \"slowest_seconds\": " << tally.slowest_seconds;
  for (size_t stage = 0; stage < kStages; ++stage) {
    out << ", \"" << kStageNames[stage] << "\": {";
    const char* comma = "";
    for (uint32_t error = 0; error < Tally::kErrors; ++error) {
      if (tally.counts[stage][error] == 0) continue;
      out << comma << '"' << to_string(static_cast<Error>(error)) << "\": " << tally.counts[stage][error];
      comma = ", ";
    }
    out << '}';
  }
  out << ", \"failures\": [";
  for (size_t i = 0; i < failures.size(); ++i) {
    out << (i == 0 ? "" : ", ") << "{\"number\": " << failures[i].number << ", \"kind\": \""
        << (failures[i].hung ? "hang" : "crash") << "\"}";
  }
  out << "]}\n";
}

int run_mutants(const Options& options) {
  std::vector<Bytes> files;
  for (const std::string& path : options.files) files.push_back(read_file(path));
  if (files.empty()) files.emplace_back();
  const auto run = [&](uint64_t number) { return run_exact(mutant(options, files, number)); };
  Pool pool(options.first, options.first + options.mutants, options.seconds, run);
  const std::vector<Failure> failures = pool.run();
  for (const Failure& failure : failures) {
    const Bytes bytes = mutant(options, files, failure.number);
    const std::string path = options.artifacts + (failure.hung ? "/hang-" : "/crash-") +
                             std::to_string(options.seed) + "-" + std::to_string(failure.number);
    std::filesystem::create_directories(options.artifacts);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    std::fprintf(stderr, "fuzz: mutant %llu %s: %s\n", static_cast<unsigned long long>(failure.number),
                 failure.hung ? "hangs" : "crashes", path.c_str());
  }
  if (!options.json.empty()) write_json(options, pool.tally(), failures);
  return failures.empty() ? 0 : 1;
}

}  // namespace

}  // namespace rushlight::fuzz

int main(int argc, char** argv) {
  using namespace rushlight::fuzz;
  const Options options = parse(argc, argv);
  if (options.mutants > 0) return run_mutants(options);
  for (const std::string& path : options.files) {
    std::fprintf(stderr, "%s\n", path.c_str());
    run_exact(read_file(path));
  }
  std::printf("%zu inputs\n", options.files.size());
  return 0;
}
