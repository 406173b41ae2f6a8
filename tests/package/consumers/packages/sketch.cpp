// SPDX-License-Identifier: BSD-3-Clause
// main() of an Arduino core, which ends here after one turn.
void setup();
void loop();

int main() {
  setup();
  loop();
  return 0;
}
