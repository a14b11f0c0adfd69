# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a source file with the bytes of FILES:
#     std::span<const saltus::io::EmbeddedFile> saltus::io::FUNCTION();
set(arrays "")
set(rows "")
set(number 0)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(SIZE ${file} size)
  if(size GREATER 0)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "const unsigned char file_${number}[] = {\n${bytes}};\n")
    string(APPEND rows "    {\"${name}\", {reinterpret_cast<const char*>(file_${number}), sizeof file_${number}}},\n")
  else()
    string(APPEND rows "    {\"${name}\", {}},\n")
  endif()
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"saltus/io/page/embedded.hpp\"

namespace saltus::io {

namespace {

${arrays}
const EmbeddedFile files[] = {
${rows}};

}  // namespace

std::span<const EmbeddedFile> ${FUNCTION}() { return files; }

}  // namespace saltus::io
")
