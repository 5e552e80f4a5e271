# Part of make install: links of the installed pages to files that are not installed. A header is
# where it was installed; of other sources only the text of the link stays.
#
#   pages      folder of the pages, with DESTDIR
#   headers    folder of the headers as a path relative to that of the pages
#   sources    this source tree
file(GLOB_RECURSE found "${pages}/*.md")
foreach(page ${found})
  file(READ "${page}" text)
  set(before "${text}")
  get_filename_component(folder "${page}" DIRECTORY)
  file(RELATIVE_PATH below "${pages}" "${folder}")
  string(REGEX MATCHALL "\\([^]()[;# \n]+[#)]" links "${text}")
  list(REMOVE_DUPLICATES links)
  foreach(link ${links})
    string(REGEX REPLACE "^.(.*).$" "\\1" target "${link}")
    get_filename_component(source "${sources}/${below}/${target}" ABSOLUTE)
    if(EXISTS "${folder}/${target}" OR NOT EXISTS "${source}")
      continue() # works as it is, or is not a link
    endif()
    file(RELATIVE_PATH source "${sources}" "${source}")
    string(REGEX REPLACE "([][.+*?^$|()])" "\\\\\\1" pattern "${target}")
    if(source MATCHES "^include/(.*)")
      file(RELATIVE_PATH to "${folder}" "${pages}/${headers}/${CMAKE_MATCH_1}")
      string(REPLACE "](${target})" "](${to})" text "${text}")
    else()
      string(REGEX REPLACE "\\[([^][]*)\\]\\(${pattern}(#[^()]*)?\\)" "\\1" text "${text}")
    endif()
  endforeach()
  if(NOT text STREQUAL before)
    file(WRITE "${page}" "${text}")
  endif()
endforeach()
