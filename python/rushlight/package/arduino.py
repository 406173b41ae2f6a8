# SPDX-License-Identifier: BSD-3-Clause
"""An Arduino library (format 1.5, recursive layout):
https://arduino.github.io/arduino-cli/latest/library-specification/"""

from __future__ import annotations

from rushlight.package.contents import Contents
from rushlight.package.readme import readme

_SKETCH = """\

void setup() {
  Serial.begin(115200);
  while (!Serial && millis() < 5000) {
  }
}

void loop() {
  const unsigned long start = micros();
  const int error = run_example();
  const unsigned long end = micros();
  Serial.print("error ");
  Serial.print(error);
  Serial.print(", microseconds ");
  Serial.println(end - start);
  delay(1000);
}
"""


def files(contents: Contents) -> dict[str, str]:
    """The files of this form, except src/ and LICENSE."""
    name = contents.name
    sketch = f"// SPDX-License-Identifier: BSD-3-Clause\n{contents.example}{_SKETCH}"
    return {
        "library.properties": _properties(contents),
        f"examples/{name}/{name}.ino": sketch,
        "README.md": readme(
            contents,
            "An Arduino library. Copy this folder into `libraries/` of the sketchbook (or zip it: *Sketch, "
            f"Include Library, Add .ZIP Library*); then *File, Examples, {name}*.\n\n"
            "The board's core has to compile C++17 for a 32-bit CPU.",
        ),
    }


def _properties(contents: Contents) -> str:
    lines = {
        "name": contents.name,
        "version": contents.version,
        "author": "rushlight",
        "maintainer": "rushlight",
        "sentence": contents.sentence,
        "paragraph": "Made by rushlight bake; neither an interpreter nor a heap is needed.",
        "category": "Data Processing",
        "url": "https://pypi.org/project/rushlight/",
        "architectures": "*",
        "includes": contents.header,
    }
    return "".join(f"{key}={value}\n" for key, value in lines.items())
