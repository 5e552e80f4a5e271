# Third-party libraries. If the library of an optional feature is missing, the feature is left out:
# LEAT_HAVE_<NAME> is 0 or 1 in every room, and configuring says so in one line.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# Says that a feature is left out, because `missing` was not found.
function(leat_leave_out missing feature)
  message(STATUS "leat: ${missing} not found: ${feature} left out (scripts/install.sh installs it)")
endfunction()

# leat_library(NAME "feature that needs it" module...): target leat_lib_<NAME>
function(leat_library name feature)
  add_library(leat_lib_${name} INTERFACE)
  set(have 1)
  set(missing "")
  foreach(module ${ARGN})
    pkg_check_modules(LEAT_PC_${module} QUIET IMPORTED_TARGET ${module})
    if(LEAT_PC_${module}_FOUND)
      target_link_libraries(leat_lib_${name} INTERFACE PkgConfig::LEAT_PC_${module})
    else()
      string(REGEX REPLACE "^lib" "" base ${module})
      find_library(LEAT_FOUND_${module} ${base})
      if(LEAT_FOUND_${module})
        target_link_libraries(leat_lib_${name} INTERFACE ${LEAT_FOUND_${module}})
      else()
        set(have 0)
        list(APPEND missing ${module})
      endif()
    endif()
  endforeach()
  if(NOT have)
    if(feature STREQUAL "")
      message(FATAL_ERROR "leat needs the library ${missing}: run scripts/install.sh")
    endif()
    leat_leave_out("${missing}" "${feature}")
    set_property(TARGET leat_lib_${name} PROPERTY INTERFACE_LINK_LIBRARIES "")
  endif()
  set(LEAT_HAVE_${name} ${have} PARENT_SCOPE)
endfunction()

leat_library(ZSTD "" libzstd)
leat_library(XXHASH "" libxxhash)
# Most builds of xxHash for x86-64 can also select the widest instructions at run time, which doubles
# the speed.
# The code compiled and linked here is the same use as in src/base/hash.c.
include(CheckCSourceCompiles)
get_target_property(CMAKE_REQUIRED_LIBRARIES leat_lib_XXHASH INTERFACE_LINK_LIBRARIES)
check_c_source_compiles("#include <xxhash.h>
  #include <xxh_x86dispatch.h>
  int main(int count, char **words) { return (int)XXH3_64bits(words[0], (size_t)count); }"
  LEAT_FOUND_XXHASH_DISPATCH)
unset(CMAKE_REQUIRED_LIBRARIES)
if(LEAT_FOUND_XXHASH_DISPATCH)
  target_compile_definitions(leat_lib_XXHASH INTERFACE LEAT_XXHASH_DISPATCH=1)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
  message(STATUS "leat: this xxHash has no dispatch (xxh_x86dispatch.h): pages are hashed with SSE2")
endif()
leat_library(CRYPTO "" libcrypto)
leat_library(JANSSON "" jansson)
leat_library(ZLIB "" zlib)
leat_library(BROTLI "brotli compression" libbrotlienc libbrotlidec libbrotlicommon)
leat_library(SNAPPY "snappy compression" snappy)
leat_library(LZ4 "lz4 in Arrow bodies" liblz4)
leat_library(YAML "settings files (--config)" yaml-0.1)
leat_library(JPEG "JPEG images, and so leat ingest images" libjpeg)
leat_library(PNG "PNG images, and so leat ingest images" libpng)

# leat_opened_library(NAME header library "feature that needs it" [suffix of a folder]): of a library
# that is opened at run time only its header is needed, and the target has its folder.
function(leat_opened_library name header library feature)
  find_path(LEAT_${name}_INCLUDE ${header} PATH_SUFFIXES ${ARGN})
  add_library(leat_lib_${name} INTERFACE)
  if(LEAT_${name}_INCLUDE)
    set(LEAT_HAVE_${name} 1 PARENT_SCOPE)
    target_include_directories(leat_lib_${name} SYSTEM INTERFACE "${LEAT_${name}_INCLUDE}")
  else()
    set(LEAT_HAVE_${name} 0 PARENT_SCOPE)
    leat_leave_out(${library} "${feature}")
  endif()
endfunction()

# libzip's file has another name in Debian 12 (libzip.so.4) than in later releases, and only zip
# archives need it.
leat_opened_library(ZIP zip.h libzip "zip archives")
# libbz2 and liblzma are opened with the first file that they read; libbz2's file has another name in
# Debian (libbz2.so.1.0) than elsewhere (libbz2.so.1).
leat_opened_library(BZIP2 bzlib.h libbz2 "inputs in bzip2")
leat_opened_library(LZMA lzma.h liblzma "inputs in xz")
# libwebp is opened with the first WebP, which few data sets have.
leat_opened_library(WEBP webp/decode.h libwebp "WebP images")
# libpq is opened with the first connection: it brings twenty libraries, which only the crowd needs.
leat_opened_library(PQ libpq-fe.h libpq "training on volunteers' machines" postgresql)
# libmicrohttpd is opened by leat dash alone. It is LGPL: never linked, so that whoever has leat can put
# another version of it in its place.
leat_opened_library(MICROHTTPD microhttpd.h libmicrohttpd "leat dash")
target_compile_definitions(leat_lib_MICROHTTPD INTERFACE
                           LEAT_MICROHTTPD_BESIDE=$<BOOL:${LEAT_MICROHTTPD_BESIDE}>)

# A build that runs where none of these is installed links them, in this order of files, each of which
# may need those after it. LEAT_LINK_<NAME> is 0 or 1 in the rooms that use one (src/base/library.h).
set(LEAT_FILES_ZIP zip bz2 z)
set(LEAT_FILES_BZIP2 bz2)
set(LEAT_FILES_LZMA lzma)
set(LEAT_FILES_WEBP "webpdecoder|webp") # the first of them that is there
set(LEAT_FILES_PQ pq ssl)
set(LEAT_OPENED ZIP BZIP2 LZMA WEBP PQ)
foreach(name ${LEAT_LINK})
  if(NOT name IN_LIST LEAT_OPENED)
    list(JOIN LEAT_OPENED ", " opened)
    message(FATAL_ERROR "LEAT_LINK: ${name} is not opened at run time; those are ${opened}")
  endif()
  if(NOT LEAT_HAVE_${name})
    message(FATAL_ERROR "LEAT_LINK: the headers of ${name} were not found")
  endif()
  foreach(file ${LEAT_FILES_${name}})
    string(REPLACE "|" ";" names "${file}")
    list(GET names 0 file)
    find_library(LEAT_FOUND_${file} NAMES ${names} REQUIRED)
    target_link_libraries(leat_lib_${name} INTERFACE "${LEAT_FOUND_${file}}")
  endforeach()
endforeach()
foreach(name ${LEAT_OPENED})
  set(link 0)
  if(name IN_LIST LEAT_LINK)
    set(link 1)
  endif()
  target_compile_definitions(leat_lib_${name} INTERFACE LEAT_LINK_${name}=${link})
endforeach()

# DuckDB is opened at run time by one room, duckdb; only its header is needed to build. A copy
# installed in the system comes first, then the one that scripts/install.sh fetched.
find_path(LEAT_DUCKDB_INCLUDE duckdb.h)
find_library(LEAT_DUCKDB_LIBRARY duckdb)
set(LEAT_DUCKDB_BUNDLED OFF)
if(NOT LEAT_DUCKDB_INCLUDE OR NOT LEAT_DUCKDB_LIBRARY)
  unset(LEAT_DUCKDB_INCLUDE CACHE)
  unset(LEAT_DUCKDB_LIBRARY CACHE)
  if(EXISTS "${LEAT_DUCKDB_ROOT}/include/duckdb.h" AND
     EXISTS "${LEAT_DUCKDB_ROOT}/lib/libduckdb.so")
    set(LEAT_DUCKDB_INCLUDE "${LEAT_DUCKDB_ROOT}/include")
    set(LEAT_DUCKDB_LIBRARY "${LEAT_DUCKDB_ROOT}/lib/libduckdb.so")
    set(LEAT_DUCKDB_BUNDLED ON)
  endif()
endif()
if(LEAT_DUCKDB_LIBRARY)
  set(LEAT_HAVE_DUCKDB 1)
  message(STATUS "leat: DuckDB at ${LEAT_DUCKDB_LIBRARY}")
else()
  set(LEAT_HAVE_DUCKDB 0)
  message(STATUS "leat: DuckDB not found: Parquet input left out (scripts/install.sh fetches it)")
endif()
add_library(leat_lib_DUCKDB INTERFACE)
if(LEAT_HAVE_DUCKDB)
  # The path from the installed command to the installed library: leat looks for it relative to
  # itself, and contains no path of the machine that it was built on.
  file(RELATIVE_PATH from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}/leat")
  target_include_directories(leat_lib_DUCKDB SYSTEM INTERFACE "${LEAT_DUCKDB_INCLUDE}")
  target_compile_definitions(leat_lib_DUCKDB INTERFACE LEAT_DUCKDB_FROM_BIN="${from_bin}/")
  # Programs in the build folder find it next to them, through a link that is never copied.
  foreach(folder "${CMAKE_BINARY_DIR}" "${CMAKE_BINARY_DIR}/tests")
    file(MAKE_DIRECTORY "${folder}")
    file(CREATE_LINK "${LEAT_DUCKDB_LIBRARY}" "${folder}/libduckdb.so" SYMBOLIC)
  endforeach()
endif()

add_library(leat_libraries INTERFACE)
foreach(name ZSTD BROTLI SNAPPY LZ4 ZLIB XXHASH CRYPTO JANSSON YAML JPEG PNG WEBP ZIP BZIP2 LZMA PQ
        MICROHTTPD DUCKDB)
  target_compile_definitions(leat_libraries INTERFACE LEAT_HAVE_${name}=${LEAT_HAVE_${name}})
endforeach()
target_link_libraries(leat_libraries INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)

# Which room uses which library; one file of the room wraps it (docs/dependencies.md).
set(LEAT_LIBRARIES_base ZSTD BROTLI SNAPPY LZ4 ZLIB XXHASH CRYPTO JANSSON YAML JPEG PNG WEBP ZIP BZIP2
    LZMA)
set(LEAT_LIBRARIES_format ZSTD BROTLI SNAPPY LZ4 ZLIB XXHASH CRYPTO JANSSON JPEG PNG WEBP ZIP)
set(LEAT_LIBRARIES_duckdb DUCKDB)
set(LEAT_LIBRARIES_synth DUCKDB)
set(LEAT_LIBRARIES_ingest ZLIB DUCKDB)
set(LEAT_LIBRARIES_crowd PQ)
set(LEAT_LIBRARIES_dash MICROHTTPD)
