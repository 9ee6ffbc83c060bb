// ONNX files: protobuf, names, bodies, functions. The graph must be a valid one.

#include <cstdlib>

#include "core/io/onnx/onnx_reader.h"
#include "tests/fuzz/scratch_file.h"

using namespace sonde;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile scratch(".onnx");
    const auto file = base::MappedFile::open(scratch.write({data, size}));
    if (!file) return 0;
    const auto model = io::readOnnx(*file);
    if (model && !model->graph.validate()) std::abort();
    return 0;
}
