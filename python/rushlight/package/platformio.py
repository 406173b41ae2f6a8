# SPDX-License-Identifier: BSD-3-Clause
"""A PlatformIO library: https://docs.platformio.org/en/latest/manifests/library-json/index.html"""

from __future__ import annotations

import json

from rushlight.package.contents import Contents
from rushlight.package.main import plain_main
from rushlight.package.readme import readme


def files(contents: Contents) -> dict[str, str]:
    """The files of this form, except src/ and LICENSE."""
    example = f"examples/{contents.name}"
    return {
        "library.json": json.dumps(_manifest(contents), indent=2) + "\n",
        f"{example}/platformio.ini": _project(),
        f"{example}/src/main.cpp": plain_main(contents),
        "README.md": readme(
            contents,
            "A PlatformIO library. Copy this folder into `lib/` of a project, or name it in\n"
            f"`platformio.ini`: `lib_deps = symlink://path/to/{contents.name}`.\n"
            f"`pio run -d {example}` builds the example for this machine.\n\n"
            "Where a board's framework compiles older C++, the project says\n\n"
            "```ini\nbuild_unflags = -std=gnu++11 -std=gnu++14\nbuild_flags = -std=gnu++17\n```",
        ),
    }


def _manifest(contents: Contents) -> dict[str, object]:
    example = f"examples/{contents.name}"
    return {
        "name": contents.name,
        "version": contents.version,
        "description": contents.sentence,
        "keywords": ["machine learning", "neural network"],
        "license": "BSD-3-Clause",
        "headers": [contents.header],
        "frameworks": ["*"],
        "platforms": ["*"],
        "build": {
            "srcDir": "src",
            "unflags": ["-std=gnu++11", "-std=gnu++14", "-std=c++11", "-std=c++14"],
            "flags": ["-std=gnu++17"],
        },
        "examples": [
            {"name": contents.name, "base": example, "files": ["platformio.ini", "src/main.cpp"]},
        ],
    }


def _project() -> str:
    return (
        "; SPDX-License-Identifier: BSD-3-Clause\n"
        "[env:native]\n"
        "platform = native\n"
        "build_flags = -std=gnu++17\n"
        "; The folder of this library, two up from the example.\n"
        "lib_deps = symlink://../..\n"
    )
