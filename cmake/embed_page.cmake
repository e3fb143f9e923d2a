# Writes the files of FOLDER into OUT as C++ that partwise/server/page.h declares; `cmake -P` alone does it.
file(GLOB files RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT files)
set(entries "")
set(bytes "")
set(number 0)
foreach(name IN LISTS files)
  file(READ ${FOLDER}/${name} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," data "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" data "${data}")
  string(APPEND bytes "constexpr unsigned char kFile${number}[] = {${data}0x00};\n")
  string(APPEND entries "    {\"${name}\", {reinterpret_cast<const char*>(kFile${number}), sizeof kFile${number} - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "#include \"partwise/server/page.h\"

namespace partwise::server {
namespace {

${bytes}
const PageFile kFiles[] = {
${entries}};

}  // namespace

std::span<const PageFile> page_files() {
  return kFiles;
}

}  // namespace partwise::server
")
