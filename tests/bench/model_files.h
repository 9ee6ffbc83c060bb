#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "core/document/document.h"
#include "core/export/lowering/onnx_graph.h"
#include "core/io/onnx/onnx_writer.h"
#include "core/tensor/tensor.h"
#include "tests/bench/layout_graphs.h"

// Made-up and built-in models as ONNX files, for benchmarks that begin with a file.

namespace model_files {

using namespace sonde;

/// The graph as a file that can be read without complaint: weights get numbers, and operators with other arguments than
/// ONNX gives them become Sum, which takes any number.
inline base::Result<void> write(const std::filesystem::path& path, const graph::InternalGraph& made) {
    static const std::set<std::string> kOne{"Relu", "Sigmoid", "Softmax", "Neg", "Cos", "Sin", "Transpose"};
    static const std::set<std::string> kTwo{"Mul", "Add", "MatMul", "Gather", "LayerNormalization", "Conv"};
    graph::InternalGraph graph = made;
    for (const graph::ExprId id : graph.main().order) {
        graph::Expr& expr = graph.mutableExpr(id);
        expr.op.version = 17;
        if (expr.kind == graph::ExprKind::Constant) {
            const graph::NodeId node = expr.outputs.front();
            const bool conv =
                !graph.node(node).users.empty() && graph.expr(graph.node(node).users.front()).op.name == "Conv";
            const tensor::Shape shape = conv ? tensor::Shape{8, 8, 1, 1} : tensor::Shape{8};
            SONDE_ASSIGN(tensor::Tensor weight, tensor::Tensor::zeros(tensor::DType::Float32, shape));
            graph.setType(node, tensor::TypeInfo::tensor(tensor::DType::Float32, shape));
            graph.setConstant(node, std::move(weight));
            expr.op = {};  // an initializer of the file
            expr.isParameter = true;
        } else if (expr.kind == graph::ExprKind::Apply) {
            const std::size_t wanted = kOne.contains(expr.op.name) ? 1 : kTwo.contains(expr.op.name) ? 2 : 0;
            if (expr.inputs.size() != wanted) expr.op.name = expr.target = "Sum";
        }
    }
    return io::writeOnnx(path, graph);
}

/// A built-in model ("zoo:resnet50") with random weights of full size.
inline base::Result<void> writeBuiltIn(const std::filesystem::path& path, const std::string& model,
                                       tensor::Shape input) {
    SONDE_ASSIGN(const auto document, document::open(model));
    SONDE_ASSIGN(tensor::Tensor image, tensor::Tensor::zeros(tensor::DType::Float32, std::move(input)));
    const std::vector<tensor::Value> inputs{image};
    SONDE_ASSIGN(const exporting::OnnxGraph onnx, exporting::onnxGraph(*document, inputs));
    return io::writeOnnx(path, *onnx.graph);
}

}  // namespace model_files
