// SPDX-License-Identifier: BSD-3-Clause
// Watches a machine with an ADXL345 on SPI: prints a score for each 0.32 s of vibration, and lights the LED
// after three windows in a row above 1. Needs the library anomaly_sensor, which run.py writes.
#include <SPI.h>
#include <anomaly_sensor.h>

constexpr int kChipSelect = 10;
constexpr int kSamples = anomaly_sensor::ForwardInput0::kSizes[1];
constexpr int kAlarmAfter = 3;

// Registers of the ADXL345, from its data sheet.
constexpr byte kDeviceId = 0x00, kRate = 0x2C, kPower = 0x2D, kInterrupts = 0x30, kFormat = 0x31,
               kData = 0x32;
constexpr byte kRead = 0x80, kMultiple = 0x40, kDataReady = 0x80;

static int above = 0;

static void transfer(byte address, byte* bytes, int count) {
  SPI.beginTransaction(SPISettings(5000000, MSBFIRST, SPI_MODE3));
  digitalWrite(kChipSelect, LOW);
  SPI.transfer(address);
  for (int i = 0; i < count; ++i) bytes[i] = SPI.transfer(bytes[i]);
  digitalWrite(kChipSelect, HIGH);
  SPI.endTransaction();
}

static void write_register(byte address, byte value) { transfer(address, &value, 1); }

static byte read_register(byte address) {
  byte value = 0;
  transfer(kRead | address, &value, 1);
  return value;
}

// Waits for the next sample: x, y, z in counts of 1/256 g.
static void read_sample(int16_t* counts) {
  while ((read_register(kInterrupts) & kDataReady) == 0) {
  }
  byte bytes[6] = {};
  transfer(kRead | kMultiple | kData, bytes, 6);
  for (int axis = 0; axis < 3; ++axis) {
    counts[axis] = static_cast<int16_t>(bytes[2 * axis] | bytes[2 * axis + 1] << 8);
  }
}

void setup() {
  Serial.begin(115200);
  pinMode(LED_BUILTIN, OUTPUT);
  pinMode(kChipSelect, OUTPUT);
  digitalWrite(kChipSelect, HIGH);
  SPI.begin();
  while (read_register(kDeviceId) != 0xE5) {
    Serial.println("ADXL345: expected device id 0xE5; check the wires");
    delay(1000);
  }
  write_register(kRate, 0x0E);    // 1,600 Hz
  write_register(kFormat, 0x0B);  // full resolution, 16 g
  write_register(kPower, 0x08);   // measure
}

void loop() {
  int16_t* counts = anomaly_sensor::forward_input0();
  for (int i = 0; i < kSamples; ++i) read_sample(counts + 3 * i);
  if (anomaly_sensor::forward() != rushlight::Error::Ok) {
    Serial.println("the program failed");
    return;
  }
  const float score = anomaly_sensor::forward_output0()[0];
  above = score > 1 ? above + 1 : 0;
  digitalWrite(LED_BUILTIN, above >= kAlarmAfter ? HIGH : LOW);
  Serial.print("score ");
  Serial.println(score, 4);
}
