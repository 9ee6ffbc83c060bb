// TorchScript archives: records, pickle, storages, sources. Checksums would hide all but the first
// layer from the fuzzer, so an input that is no zip file is a text of records and is packed here:
//   a line "=== NAME", then the record's bytes up to the next such line.

#include "core/io/torchscript/archive.h"
#include "core/io/zip/zip_archive.h"
#include "tests/fuzz/scratch_file.h"

using namespace sonde;

namespace {

constexpr std::string_view kMark = "=== ";

std::vector<std::pair<std::string, std::vector<std::byte>>> recordsOf(std::string_view text) {
    std::vector<std::pair<std::string, std::vector<std::byte>>> records;
    while (text.starts_with(kMark)) {
        const std::size_t line = text.find('\n');
        if (line == std::string_view::npos) break;
        std::string name(text.substr(kMark.size(), line - kMark.size()));
        text.remove_prefix(line + 1);
        const std::size_t next = text.find("\n=== ");
        const std::string_view content = text.substr(0, next);
        const auto bytes = std::as_bytes(std::span(content.data(), content.size()));
        records.emplace_back("fuzz/" + name, std::vector<std::byte>(bytes.begin(), bytes.end()));
        if (next == std::string_view::npos) break;
        text.remove_prefix(next + 1);
    }
    return records;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile scratch(".pt");
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (text.starts_with(kMark)) {
        if (!io::writeZip(scratch.path(), recordsOf(text))) return 0;
    } else {
        scratch.write({data, size});
    }
    const auto archive = io::script::Archive::open(scratch.path());
    if (!archive || !(*archive)->root().object()) return 0;
    // The class of the root leads to its source file; its attributes lead on.
    const auto type = (*archive)->findClass((*archive)->root().object()->typeName());
    if (!type || !*type) return 0;
    for (const io::script::ClassAttribute& attribute : (*type)->attributes) {
        (void)(*archive)->findClass(attribute.type);
        (void)(*archive)->findFunction(attribute.type);
    }
    return 0;
}
