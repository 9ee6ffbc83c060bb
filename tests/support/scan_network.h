#pragma once

#include <cstdint>
#include <string>

#include "tests/support/onnx_file.h"

namespace sonde::test {

/// A Scan over the numbers of x [count], -1: any count: sum = before + item from 0, "last" the last sum, "all" each.
inline std::string scanNetwork(std::int64_t count) {
    onnxfile::Graph body;
    body.nodes = {{"Add", {"before", "item"}, {"sum"}}, {"Identity", {"sum"}, {"listed"}}};
    body.inputs = {onnxfile::valueInfo("before", 1, {}), onnxfile::valueInfo("item", 1, {})};
    body.outputs = {onnxfile::valueInfo("sum", 1, {}), onnxfile::valueInfo("listed", 1, {})};
    onnxfile::Graph graph;
    graph.nodes = {{"Scan",
                    {"start", "x"},
                    {"last", "all"},
                    "",
                    "",
                    {onnxfile::graphAttribute("body", body.bytes()), onnxfile::intAttribute("num_scan_inputs", 1)}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {count})};
    graph.outputs = {onnxfile::valueInfo("last", 1, {}), onnxfile::valueInfo("all", 1, {count})};
    graph.initializers = {onnxfile::rawTensor("start", 1, {}, std::string(4, '\0'))};
    return onnxfile::model(graph);
}

}  // namespace sonde::test
