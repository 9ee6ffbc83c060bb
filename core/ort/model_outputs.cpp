#include "core/ort/model_outputs.h"

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <set>

#include "core/io/onnx/proto.h"

namespace sonde::ort {

namespace {

using io::onnx::Bytes;

constexpr std::uint32_t kModelGraph = 7, kGraphOutput = 12, kValueName = 1, kTensorName = 8;

std::string tensorName(io::onnx::Wire& wire, Bytes message) {
    std::string name;
    io::onnx::MessageReader reader(wire, message);
    while (reader.next()) {
        if (reader.tag() == kTensorName && reader.isLengthDelimited()) name = std::string(reader.bytes());
        else reader.skip();
    }
    return name;
}

/// ONNX Runtime makes initializers of Constant nodes, and numbers the others: "Conv_3".
std::string nameInProfile(const io::onnx::NodeProto& node, std::size_t index) {
    return node.name.empty() ? std::string(node.op) + "_" + std::to_string(index) : std::string(node.name);
}

}  // namespace

base::Result<OpenModel> withAllOutputs(std::string_view model) {
    io::onnx::Wire wire(model);
    const io::onnx::ModelProto proto = readModel(wire, model);
    if (wire.failed() || !proto.graph) return base::unreadable("this is no ONNX model: " + wire.problem());
    const io::onnx::GraphProto graph = readGraph(wire, *proto.graph);
    OpenModel open;
    std::set<std::string> initializers, known;
    for (const Bytes tensor : graph.initializers) initializers.insert(tensorName(wire, tensor));
    for (const auto& input : graph.inputs)
        if (!initializers.contains(std::string(input.name))) open.inputs.emplace_back(input.name);
    for (const auto& output : graph.outputs) {
        open.outputs.emplace_back(output.name);
        known.emplace(output.name);
    }
    std::string added;
    protozero::pbf_writer writer(added);
    std::size_t index = 0;
    for (const io::onnx::NodeProto& node : graph.nodes) {
        if (node.op == "Constant") continue;
        const auto first = std::ranges::find_if(node.outputs, [](Bytes name) { return !name.empty(); });
        if (first != node.outputs.end()) open.operations.emplace_back(nameInProfile(node, index), *first);
        ++index;
        for (const Bytes output : node.outputs) {
            if (output.empty()) continue;
            open.values.emplace_back(output);
            if (!known.emplace(output).second) continue;
            std::string value;
            protozero::pbf_writer(value).add_string(kValueName, output.data(), output.size());
            writer.add_message(kGraphOutput, value);
        }
    }
    if (wire.failed()) return base::unreadable("this is no ONNX model: " + wire.problem());
    for (const std::string& output : open.outputs)  // an input or a constant may be one
        if (std::ranges::find(open.values, output) == open.values.end()) open.values.push_back(output);
    open.bytes = model;
    protozero::pbf_writer(open.bytes).add_message(kModelGraph, added);
    return open;
}

}  // namespace sonde::ort
