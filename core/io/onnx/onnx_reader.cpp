#include "core/io/onnx/onnx_reader.h"

#include "core/io/onnx/graph_builder.h"

namespace sonde::io {

namespace {

using base::Result;
using base::unreadable;

constexpr std::int64_t kNewestIrVersion = 13;

onnx::Bytes asBytes(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void describe(const onnx::ModelProto& model, OnnxModel& result) {
    const auto add = [&result](std::string key, std::string value) {
        if (!value.empty()) result.properties.emplace_back(std::move(key), std::move(value));
    };
    std::string producer(model.producer);
    if (!model.producerVersion.empty()) producer += " " + std::string(model.producerVersion);
    add("producer", std::move(producer));
    add("IR version", std::to_string(model.irVersion));
    for (const auto& [domain, version] : model.opsets) {
        add("opset", (domain.empty() ? "ai.onnx" : domain) + " " + std::to_string(version));
    }
    if (model.modelVersion > 0) add("model version", std::to_string(model.modelVersion));
    add("domain", std::string(model.domain));
    add("documentation", std::string(model.documentation));
    if (!model.functions.empty()) add("functions", std::to_string(model.functions.size()));
    for (const auto& [key, value] : model.metadata) add(std::string(key), std::string(value));
    if (model.irVersion > kNewestIrVersion) {
        result.diagnostics.push_back({base::Severity::Warning,
                                      "the file has IR version " + std::to_string(model.irVersion) +
                                          ", newer than the known " + std::to_string(kNewestIrVersion),
                                      "", "export it with an older IR version if something is missing"});
    }
}

/// The place of an error begins with the file.
base::Error inFile(base::Error error, const base::MappedFile& file) {
    error.where = file.path().string() + (error.where.empty() ? "" : ", " + error.where);
    if (error.kind != base::ErrorKind::Cancelled) error.kind = base::ErrorKind::Unreadable;
    return error;
}

}  // namespace

bool looksLikeOnnx(std::span<const std::byte> head, std::size_t fileSizeBytes) {
    return onnx::looksLikeModel(asBytes(head), fileSizeBytes);
}

Result<OnnxModel> readOnnx(std::shared_ptr<const base::MappedFile> file, const base::WorkContext& work,
                           MissingData missing) {
    const onnx::Bytes bytes = asBytes(file->bytes());
    onnx::Wire wire(bytes);
    const auto damaged = [&] {
        return unreadable("the file is damaged or cut off: " + wire.problem(),
                          file->path().string() + ", byte " + std::to_string(wire.problemOffset()),
                          "export or download the model again");
    };
    const onnx::ModelProto model = onnx::readModel(wire, bytes);
    if (wire.failed()) return damaged();
    if (!model.graph) return unreadable("the model has no graph", file->path().string(), "the file may be cut off");
    const onnx::GraphProto graph = onnx::readGraph(wire, *model.graph);
    if (wire.failed()) return damaged();

    OnnxModel result;
    describe(model, result);
    onnx::TensorReader tensors(wire, file);
    onnx::GraphBuilder builder(wire, model, tensors, work, missing == MissingData::Listed ? &result.missing : nullptr);
    if (auto built = builder.build(graph); !built) return inFile(std::move(built).error(), *file);
    for (base::Diagnostic& diagnostic : builder.takeDiagnostics()) result.diagnostics.push_back(std::move(diagnostic));
    for (const onnx::ValueInfoProto& output : graph.outputs) result.outputNames.emplace_back(output.name);
    if (work.cancelled()) return base::cancelled("reading the graph");
    onnx::assignScopes(builder.mutableGraph(), result.modules, builder.hints(), builder.calls());
    if (work.cancelled()) return base::cancelled("reading the graph");
    result.graph = builder.takeGraph();
    if (auto valid = result.graph.validate(); !valid) return inFile(std::move(valid).error(), *file);
    return result;
}

}  // namespace sonde::io
