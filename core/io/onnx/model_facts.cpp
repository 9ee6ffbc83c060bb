#include "core/io/onnx/model_facts.h"

#include "core/io/onnx/proto.h"

namespace sonde::io {

OnnxFacts onnxFacts(const base::MappedFile& file) {
    const onnx::Bytes bytes(reinterpret_cast<const char*>(file.bytes().data()), file.sizeBytes());
    onnx::Wire wire(bytes);
    const onnx::ModelProto model = onnx::readModel(wire, bytes);
    OnnxFacts facts;
    facts.producer = model.producer;
    facts.producerVersion = model.producerVersion;
    facts.domain = model.domain;
    facts.documentation = model.documentation;
    facts.irVersion = model.irVersion;
    facts.modelVersion = model.modelVersion;
    for (const auto& [domain, version] : model.opsets)
        facts.opsets.emplace_back(domain.empty() ? "ai.onnx" : domain, version);
    for (const auto& [key, value] : model.metadata) facts.metadata.emplace_back(key, value);
    for (const onnx::FunctionProto& function : model.functions)
        facts.functions.push_back((function.domain.empty() ? "ai.onnx" : std::string(function.domain)) +
                                  "::" + std::string(function.name));
    return facts;
}

}  // namespace sonde::io
