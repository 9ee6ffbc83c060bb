// ONNX files as a whole: protobuf, graph, shapes. Nothing is run.

#include "core/document/document.h"
#include "tests/fuzz/scratch_file.h"

using namespace sonde;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile scratch(".onnx");
    const auto document = document::open(scratch.write({data, size}).string());
    if (document && !(*document)->graph->validate()) std::abort();
    return 0;
}
