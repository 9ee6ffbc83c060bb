#pragma once

#include <string>
#include <vector>

#include "core/document/document_types.h"
#include "core/export/dump.h"
#include "tests/core/passes/graph_maker.h"

/// Dumps of graphs written by hand.
namespace sonde::test {

/// product = x · (1, 2, 3, 4) in module "block" of class Block, sum = product + x, for x of four float32.
inline document::Document productDocument() {
    Maker maker;
    document::Document document;
    const NodeId x = maker.floats("x", {4});
    const NodeId factors = maker.constant("factors", Tensor::of<float>({4}, {1, 2, 3, 4}));
    const NodeId product = maker.call("product", "aten::mul.Tensor", x, factors);
    graph::Expr& expr = maker.graph.mutableExpr(maker.graph.node(product).producer);
    expr.scope = maker.graph.addScope(maker.graph.rootScope(), "block", "Block");
    expr.qualname = "block";
    expr.moduleClass = "Block";
    const NodeId sum = maker.call("sum", "aten::add.Tensor", product, x);
    maker.result(sum);
    document.inputs.push_back({"x", x});
    document.outputs.push_back({"out", sum});
    document.graph = std::make_shared<InternalGraph>(maker.graph);
    return document;
}

/// Writes it with a test case for each entry of `inputData`; an empty text, or what went wrong. `scale`: expected
/// values are multiplied by it.
inline std::string writeProductDump(const std::string& path, const std::vector<std::string>& inputData,
                                    const exporting::DumpOptions& options = {}, float scale = 1) {
    auto dump = exporting::makeDump(productDocument(), inputData, options);
    if (!dump) return dump.error().text();
    for (io::dump::TestCase& test : dump->cases) {
        for (auto& [name, value] : test) {
            if (!name.ends_with(":expect") || scale == 1) continue;
            std::vector<float> scaled;
            for (std::int64_t i = 0; i < value.numel(); ++i)
                scaled.push_back(static_cast<float>(value.toDouble(i)) * scale);
            value = Tensor::of<float>(value.shape(), scaled);
        }
    }
    const auto written = io::dump::writeDump(path, *dump);
    return written ? std::string() : written.error().text();
}

}  // namespace sonde::test
