# SPDX-License-Identifier: BSD-3-Clause
"""A CMake project for inclusion as a subfolder, or for installation and find_package()."""

from __future__ import annotations

from rushlight.package.contents import Contents
from rushlight.package.main import plain_main
from rushlight.package.readme import readme

_LISTS = """\
# SPDX-License-Identifier: BSD-3-Clause
cmake_minimum_required(VERSION 3.16...4.2)
project(@name@ VERSION @version@ LANGUAGES CXX)

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(
    @name@
    STATIC
@sources@
)
add_library(@name@::@name@ ALIAS @name@)
target_include_directories(
    @name@
    PUBLIC
        "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/src>"
        "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/@name@>"
)
target_compile_features(@name@ PUBLIC cxx_std_17)
target_compile_options(
    @name@
    PRIVATE -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti -fno-threadsafe-statics
)

set(@name@_is_top OFF)
if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    set(@name@_is_top ON)
endif()
option(@upper@_BUILD_EXAMPLE "Build the example" ${@name@_is_top})
if(@upper@_BUILD_EXAMPLE)
    add_executable(@name@_example examples/@name@/main.cpp)
    target_link_libraries(@name@_example PRIVATE @name@)
endif()

option(@upper@_INSTALL "Install the library" ${@name@_is_top})
if(@upper@_INSTALL)
    set(package "${CMAKE_INSTALL_LIBDIR}/cmake/@name@")
    install(TARGETS @name@ EXPORT @name@ ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(
        DIRECTORY src/
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/@name@"
        FILES_MATCHING
        PATTERN "*.h"
    )
    install(EXPORT @name@ NAMESPACE @name@:: FILE @name@-config.cmake DESTINATION "${package}")
    write_basic_package_version_file(@name@-config-version.cmake COMPATIBILITY SameMajorVersion)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/@name@-config-version.cmake" DESTINATION "${package}")
endif()
"""


def files(contents: Contents) -> dict[str, str]:
    """The files of this form, except src/ and LICENSE."""
    name = contents.name
    values = {
        "name": name,
        "upper": name.upper(),
        "version": contents.version,
        "sources": "\n".join(f"        src/{path}" for path in contents.sources),
    }
    lists = _LISTS
    for key, value in values.items():
        lists = lists.replace(f"@{key}@", value)
    return {
        "CMakeLists.txt": lists,
        f"examples/{name}/main.cpp": plain_main(contents),
        "README.md": readme(
            contents,
            f"A CMake project. `add_subdirectory({name})`, or install it and `find_package({name})`; then\n"
            f"`target_link_libraries(app PRIVATE {name}::{name})`. Built by itself it makes an example:\n\n"
            f"```sh\ncmake -S . -B out && cmake --build out && out/{name}_example\n```",
        ),
    }
