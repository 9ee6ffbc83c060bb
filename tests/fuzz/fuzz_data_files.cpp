// Recordings, which their content tells, and otherwise tables, as the value of an input.

#include "core/io/inputs/data_files.h"
#include "core/io/inputs/inputs.h"
#include "tests/fuzz/scratch_file.h"

using namespace sonde;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile scratch(".csv");
    const std::string path = scratch.write({data, size}).string();
    static const std::vector<io::InputInfo> inputs{
        {"open", tensor::TypeInfo::tensor(tensor::DType::Float32, std::vector<tensor::Dim>{{}, {}})},
        {"fixed", tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{1, 1, 40})}};
    for (std::size_t i = 0; i < inputs.size(); ++i) (void)io::giveInput(path, inputs[i], i);
    return 0;
}
