// SPDX-License-Identifier: BSD-3-Clause
// ESP-IDF's start of an application.
extern "C" void app_main();

int main() {
  app_main();
  return 0;
}
