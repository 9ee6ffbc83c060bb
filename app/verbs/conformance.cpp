#include "core/analysis/conformance.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <set>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/validators.h"
#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/graph/traits.h"
#include "core/io/onnx/value_file.h"

namespace sonde::app {

namespace {

namespace fs = std::filesystem;
using tensor::Value;

struct ConformanceOptions {
    std::vector<std::string> folders;
    std::string filter;
    std::string exceptions;
    std::size_t threads = 1;
    bool failuresOnly = false;
};

/// Folders with a model.onnx in them, at any depth, sorted.
base::Result<std::vector<fs::path>> findCases(const std::vector<std::string>& folders) {
    std::vector<fs::path> cases;
    for (const std::string& folder : folders) {
        std::error_code failure;
        fs::recursive_directory_iterator walk(folder, failure);
        if (failure) return base::usageError("cannot read the folder: " + failure.message(), folder);
        if (fs::exists(fs::path(folder) / "model.onnx")) cases.push_back(folder);
        for (const fs::directory_entry& entry : walk) {
            if (entry.is_directory() && fs::exists(entry.path() / "model.onnx")) cases.push_back(entry.path());
        }
    }
    std::ranges::sort(cases);
    if (cases.empty()) return base::usageError("no folder with a model.onnx", folders.front());
    return cases;
}

/// Names of the first column of a list; '#' begins a comment.
base::Result<std::set<std::string>> readNames(const std::string& path) {
    std::set<std::string> names;
    if (path.empty()) return names;
    std::ifstream file(path);
    if (!file) return base::usageError("cannot read the list of exceptions", path);
    for (std::string line; std::getline(file, line);) {
        const std::string name = line.substr(0, line.find_first_of(" \t#"));
        if (!name.empty()) names.insert(name);
    }
    return names;
}

/// Operators whose results are drawn at random: only shape and dtype are told by the case.
bool isRandom(const graph::InternalGraph& graph) {
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        const graph::ExprId id(i);
        if (graph.isErased(id)) continue;
        const graph::Expr& expr = graph.expr(id);
        const operators::Traits& traits = graph::traitsOf(expr);
        // Dropout draws when it is told to train.
        const bool draws = traits.opClass != operators::OpClass::Dropout || expr.inputs.size() > 2;
        if (traits.is(operators::Trait::Random) && draws) return true;
    }
    return false;
}

base::Result<std::vector<Value>> readValues(const fs::path& set, const char* stem, const graph::InternalGraph& graph,
                                            const std::vector<graph::NodeId>& nodes) {
    std::vector<Value> values;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const fs::path path = set / (std::string(stem) + "_" + std::to_string(i) + ".pb");
        if (!fs::exists(path)) break;
        SONDE_ASSIGN(auto file, base::MappedFile::open(path));
        SONDE_ASSIGN(Value value, io::readOnnxValue(std::move(file), graph.node(nodes[i]).type));
        values.push_back(std::move(value));
    }
    return values;
}

/// Nothing if the case passes, else why it does not.
std::optional<std::string> runSet(const document::Document& document, const exec::Plan& plan, exec::Runner& runner,
                                  const fs::path& set) {
    const graph::InternalGraph& graph = *document.graph;
    const auto inputs = readValues(set, "input", graph, graph.inputs());
    if (!inputs) return inputs.error().text();
    const auto expected = readValues(set, "output", graph, graph.outputs());
    if (!expected) return expected.error().text();
    std::vector<Value> given = *inputs;
    given.resize(graph.inputs().size());
    const exec::Recording recording = runner.run(plan, given, commandLineWork());
    if (recording.error) return recording.error->what;
    if (expected->size() != recording.outputs.size())
        return std::to_string(recording.outputs.size()) + " outputs instead of " + std::to_string(expected->size());
    analysis::ConformanceTolerance tolerance;
    tolerance.typesOnly = isRandom(graph);
    for (std::size_t i = 0; i < expected->size(); ++i) {
        if (auto difference = analysis::conformanceDifference(recording.outputs[i], (*expected)[i], tolerance)) {
            return "output " + std::to_string(i) + ": " + *difference;
        }
    }
    return std::nullopt;
}

std::optional<std::string> runCase(const fs::path& folder, exec::Runner& runner) {
    const auto document = document::open((folder / "model.onnx").string(), {}, commandLineWork());
    if (!document) return document.error().text();
    const auto plan = exec::Plan::make((*document)->graph, {});
    if (!plan) return plan.error().text();
    if (!(*plan)->missingOperators().empty()) return "unknown operator " + (*plan)->missingOperators().front();
    std::size_t sets = 0;
    for (; fs::exists(folder / ("test_data_set_" + std::to_string(sets))); ++sets) {
        if (auto reason = runSet(**document, **plan, runner, folder / ("test_data_set_" + std::to_string(sets))))
            return reason;
    }
    return sets == 0 ? std::optional("it has no test data") : std::nullopt;
}

std::string oneLine(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
}

base::Result<int> conformance(const ConformanceOptions& options) {
    SONDE_ASSIGN(const std::vector<fs::path> cases, findCases(options.folders));
    SONDE_ASSIGN(const std::set<std::string> exceptions, readNames(options.exceptions));
    exec::Runner runner(options.threads);
    std::size_t passed = 0, failed = 0, skipped = 0;
    for (const fs::path& folder : cases) {
        const std::string name = folder.filename().string();
        if (!options.filter.empty() && name.find(options.filter) == std::string::npos) continue;
        if (commandLineWork().cancelled()) return base::cancelled();
        const std::optional<std::string> reason = runCase(folder, runner);
        // What the list of --exceptions names was expected to fail; what it did is told all the same.
        const bool excused = reason && exceptions.contains(name);
        ++(!reason ? passed : excused ? skipped : failed);
        if (reason) fmt::print("{} {} {}\n", excused ? "SKIP" : "FAIL", name, oneLine(*reason));
        else if (!options.failuresOnly) fmt::print("PASS {}\n", name);
    }
    fmt::print("{} passed, {} failed, {} skipped\n", passed, failed, skipped);
    return failed == 0 ? 0 : 1;
}

}  // namespace

Verb conformanceVerb() {
    return {"conformance", "Run ONNX backend test cases, one line per case",
            "sonde conformance onnx/backend/test/data/node --failures", [](CLI::App& command) {
                auto options = std::make_shared<ConformanceOptions>();
                command
                    .add_option("DIR", options->folders,
                                "Folders with cases (model.onnx and test_data_set_N), at any depth")
                    ->required();
                command.add_option("--filter", options->filter, "Only cases whose name contains this");
                command.add_option("--exceptions", options->exceptions,
                                   "File with the names of cases that may fail, one per line, each with its reason");
                addThreads(command, options->threads)->capture_default_str();
                command.add_flag("--failures", options->failuresOnly, "Do not print cases that pass");
                return std::function<base::Result<int>()>([options] { return conformance(*options); });
            }};
}

}  // namespace sonde::app
