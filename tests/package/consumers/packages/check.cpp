// SPDX-License-Identifier: BSD-3-Clause
// check INPUT OUTPUT: runs the digits on each image of a file, and writes the scores to another.
#include <cstdio>

#include "digits.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::FILE* images = std::fopen(argv[1], "rb");
  std::FILE* scores = std::fopen(argv[2], "wb");
  if (images == nullptr || scores == nullptr) return 2;
  float image[digits::ForwardInput0::kElements];
  float score[digits::ForwardOutput0::kElements];
  while (std::fread(image, sizeof image, 1, images) == 1) {
    if (digits::forward(image, score) != rushlight::Error::Ok) return 1;
    if (std::fwrite(score, sizeof score, 1, scores) != 1) return 2;
  }
  std::fclose(images);
  return std::fclose(scores);
}
