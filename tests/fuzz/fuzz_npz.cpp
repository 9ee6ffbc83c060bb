// Zip archives and the arrays in them. An input that is no zip file is taken as one array, .npy.

#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"
#include "core/tensor/value.h"
#include "tests/fuzz/scratch_file.h"

using namespace sonde;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    if (io::looksLikeNpy(bytes)) {
        if (const auto array = io::readNpy(bytes, nullptr, "fuzz")) (void)tensor::Value(*array).text();
        return 0;
    }
    static const fuzz::ScratchFile scratch(".npz");
    const auto file = io::NpzFile::open(scratch.write({data, size}));
    if (!file) return 0;
    for (const std::string& key : file->keys()) {
        if (const auto array = file->read(key)) (void)tensor::Value(*array).text();
    }
    return 0;
}
