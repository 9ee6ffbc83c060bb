#pragma once

#include <filesystem>
#include <memory>

#include "core/base/mapped_file.h"
#include "core/io/onnx/onnx_reader.h"
#include "core/io/onnx/value_file.h"
#include "tests/core/nn/layer_run.h"
#include "tests/support/reference_sets.h"

namespace sonde::test {

/// A case of the ONNX backend suite whose values torch made (groups pytorch-converted, pytorch-operator) or that a
/// layer's formula must give, too: inputs, weights in the order of the file, outputs.
struct TorchCase {
    std::vector<Value> inputs;
    std::vector<Tensor> weights;
    std::vector<Tensor> outputs;
    std::string problem;
};

inline QString torchCases() { return referenceSets() + "/onnx-conformance"; }

inline TorchCase readTorchCase(const std::string& name) {
    TorchCase result;
    const std::filesystem::path folder = (torchCases() + '/').toStdString() + name;
    auto file = base::MappedFile::open(folder / "model.onnx");
    if (!file) return {{}, {}, {}, file.error().text()};
    const auto model = io::readOnnx(std::move(*file));
    if (!model) return {{}, {}, {}, model.error().text()};
    for (graph::ExprId id : model->graph.main().order) {
        const graph::Expr& expr = model->graph.expr(id);
        if (expr.kind == graph::ExprKind::Constant && expr.isParameter)
            result.weights.push_back(model->graph.node(expr.outputs.front()).constant->tensor());
    }
    const auto read = [&](const std::string& stem, std::size_t index, graph::NodeId node) -> Value {
        auto data = base::MappedFile::open(folder / "test_data_set_0" / (stem + std::to_string(index) + ".pb"));
        if (!data) return {};
        auto value = io::readOnnxValue(std::move(*data), model->graph.node(node).type);
        if (!value) result.problem = value.error().text();
        return value ? *value : Value();
    };
    for (std::size_t i = 0; i < model->graph.inputs().size(); ++i) {
        if (Value value = read("input_", i, model->graph.inputs()[i]); value.isTensor())
            result.inputs.push_back(std::move(value));
    }
    for (std::size_t i = 0; i < model->graph.outputs().size(); ++i) {
        if (const Value value = read("output_", i, model->graph.outputs()[i]); value.isTensor())
            result.outputs.push_back(value.tensor());
    }
    return result;
}

/// Gives the layer the case's weights in order, runs it on the inputs and compares with the outputs. Nothing if all is
/// well.
inline std::string runTorchCase(const std::shared_ptr<nn::Module>& layer, const TorchCase& given) {
    if (!given.problem.empty()) return given.problem;
    std::size_t next = 0;
    for (const trace::NamedTensor& named : trace::namedTensors(*layer)) {
        if (named.slot->value.dtype() != tensor::DType::Float32) continue;  // num_batches_tracked
        if (next == given.weights.size()) return "the case has no " + named.path;
        if (given.weights[next].shape() != named.slot->value.shape())
            return named.path + " is " + named.slot->value.typeText() + ", in the case " +
                   given.weights[next].typeText();
        named.slot->value = given.weights[next++];
    }
    if (next != given.weights.size()) return "the case has more weights than the layer";
    const LayerResult result = runLayer(layer, given.inputs);
    if (!result.problem.empty()) return result.problem;
    if (result.outputs.size() < given.outputs.size()) return "too few outputs";
    for (std::size_t i = 0; i < given.outputs.size(); ++i) {
        const std::string difference = compareTensors(result.outputs[i], given.outputs[i], 1e-3, 1e-6);
        if (!difference.empty()) return "output " + std::to_string(i) + ": " + difference;
    }
    return {};
}

}  // namespace sonde::test
