#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/finding_networks.h"
#include "tests/support/reference_sets.h"

// The models that benchmarks of the audit measure.

namespace audit_models {

using namespace sonde;

/// A chain of layers with an operation beside each that nothing reads; `isOpen`: of any batch size.
inline std::string generated(int count, bool isOpen = false) {
    std::vector<test::onnxfile::Node> nodes;
    std::string last = "x";
    for (int i = 0; i < count / 2; ++i) {
        const std::string next = 2 * i + 2 >= count ? "y" : "r" + std::to_string(i);
        nodes.push_back({"Relu", {last}, {next}});
        nodes.push_back({"Exp", {last}, {"e" + std::to_string(i)}});
        last = next;
    }
    const std::int64_t batch = isOpen ? -1 : 1;
    return test::findingnetworks::chain(nodes, {batch, 4}, {batch, 4});
}

/// Of the reference models the one with the largest file; empty without them.
inline std::string largest() {
    namespace fs = std::filesystem;
    fs::path found;
    std::uintmax_t bytes = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(test::referenceModels().toStdString(), ignored)) {
        const fs::path ending = entry.path().extension();
        if ((ending == ".onnx" || ending == ".pt") && entry.file_size() > bytes)
            found = entry.path(), bytes = entry.file_size();
    }
    return found.string();
}

}  // namespace audit_models
