// The grammar of --input-data for a model with two inputs. To be started in an empty folder: names of files lead nowhere.

#include "core/io/inputs/inputs.h"

using namespace sonde;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // An absolute name could be any file of the machine, a device too.
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (text.find('/') != std::string::npos) return 0;
    static const std::vector<io::InputInfo> inputs{
        {"x", tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{1, 3, 4, 4})},
        {"mask", tensor::TypeInfo::tensor(tensor::DType::Int64, tensor::Shape{2})}};
    (void)io::makeInputs(text, inputs);
    return 0;
}
