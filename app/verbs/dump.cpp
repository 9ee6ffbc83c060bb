#include "core/export/dump.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "core/graph/traits.h"
#include "core/session/run.h"

namespace sonde::app {

namespace {

struct DumpVerbOptions {
    ModelOptions model;
    exporting::DumpOptions dump;
    std::string out, stripInfo;
    std::vector<std::string> options, inputData;
    std::uint64_t offset = 0;
    bool append = false, appendJson = false, silent = false, noMetadata = false, noOptimize = false, check = false;
};

using Json = nlohmann::ordered_json;

/// What a runtime must have to run the graph: with `append` what the file lists already stays.
base::Result<void> writeStripInfo(const std::string& path, const graph::InternalGraph& graph, std::uint64_t hash,
                                  bool append) {
    std::set<std::string> operators, dtypes, modes;
    if (append) {
        std::ifstream known(path);
        const Json before = Json::parse(known, nullptr, false);
        const auto keep = [&before](const char* key, std::set<std::string>& into) {
            if (!before.is_object() || !before.contains(key) || !before[key].is_array()) return;
            for (const Json& each : before[key]) {
                if (each.is_string()) into.insert(each.get<std::string>());
            }
        };
        keep("opr_types", operators), keep("dtypes", dtypes), keep("elemwise_modes", modes);
    }
    exporting::collectStripInfo(graph, operators, dtypes, modes);
    Json json{{"opr_types", operators}, {"dtypes", dtypes}, {"elemwise_modes", modes}, {"hash", hash}};
    std::ofstream file(path);
    file << json.dump(2) << '\n';
    return file ? base::Result<void>() : base::runError("the file cannot be written", path);
}

/// Runs a dump's test cases.
base::Result<int> checkDump(const DumpVerbOptions& options) {
    SONDE_ASSIGN(const io::dump::DumpFile file, io::dump::readDump(options.model.model, options.offset));
    if (file.cases.empty())
        return base::usageError("the dump has no test cases", options.model.model, "write it with --input-data");
    session::RunTask task;
    task.graph = file.graph;
    task.runner = std::make_shared<exec::Runner>(0);
    std::size_t failed = 0;
    for (std::size_t i = 0; i < file.cases.size(); ++i) {
        SONDE_ASSIGN(task.inputs, exporting::inputsOfCase(*file.graph, file.cases[i]));
        const session::Run run = session::doRun(task, commandLineWork()).run;
        if (!run.plan) return *run.error;
        task.plan = run.plan;
        if (run.error) {
            ++failed;
            fmt::print("case {}  FAIL  {}\n", i, run.error->text());
            continue;
        }
        const exec::Recording& recording = *run.recording;
        fmt::print("case {}  ok\n", i);
        if (options.silent) continue;
        for (std::size_t k = 0; k < recording.outputs.size() && k < file.graph->outputs().size(); ++k) {
            const graph::Node& node = file.graph->node(file.graph->outputs()[k]);
            const graph::Expr& expr = file.graph->expr(node.producer);
            if (!graph::traitsOf(expr).is(operators::Trait::ReturnsError) || !recording.outputs[k].isTensor()) continue;
            fmt::print("AssertEqual: err={:g} (name={} id={})\n", recording.outputs[k].tensor().toDouble(0),
                       expr.attributes.getString("name", ""), node.id.index());
        }
    }
    fmt::print("{} cases, {} failed\n", file.cases.size(), failed);
    return failed == 0 ? 0 : 1;
}

base::Result<int> dump(DumpVerbOptions& options) {
    if (options.check) return checkDump(options);
    if (options.out.empty()) return base::usageError("-o FILE is missing", "dump");
    for (const std::string& option : options.options) {
        const std::size_t equals = option.find('=');
        const std::string value = equals == std::string::npos ? "true" : option.substr(equals + 1);
        if (value != "true" && value != "false")
            return base::usageError("'" + option + "' is neither true nor false", "--option");
        // As in MegEngine, options of an optimisation that is off are taken and left aside.
        const auto set = options.dump.inference.set(option.substr(0, equals), value == "true");
        if (!set && !options.noOptimize) return set.error();
        if (!set) printWarning(set.error().what);
    }
    options.dump.optimize = !options.noOptimize;
    options.dump.metadata = !options.noMetadata;
    options.dump.silent = options.silent;
    SONDE_ASSIGN(
        const auto document,
        options.model.load(options.inputData.empty() ? std::string() : options.inputData.front(),
                           {{{"--out", options.out}, {"--strip-info-file", options.stripInfo}}, options.inputData}));
    SONDE_ASSIGN(const io::dump::DumpFile file,
                 exporting::makeDump(*document, options.inputData, options.dump, commandLineWork()));
    for (const base::Diagnostic& note : file.notes) printWarning(note.what, note.where);
    SONDE_ASSIGN(
        const io::dump::WriteInfo info,
        io::dump::writeDump(options.out, file, {options.dump.names, options.dump.modelVersion, options.append}));
    if (!options.stripInfo.empty())
        SONDE_TRY(writeStripInfo(options.stripInfo, *file.graph, info.contentHash, options.appendJson));
    const std::size_t operators =
        static_cast<std::size_t>(std::ranges::count_if(file.graph->main().order, [&](graph::ExprId id) {
            return file.graph->expr(id).kind != graph::ExprKind::Output;
        }));
    Json json{{"nr_opr", operators},
              {"tot_bytes", info.totalBytes},
              {"tensor_value_bytes", info.tensorBytes},
              {"content_hash", info.contentHash}};
    json["inputs"] = Json::array();
    for (const graph::NodeId input : file.graph->inputs()) json["inputs"].push_back(file.graph->node(input).name);
    json["outputs"] = file.outputNames;
    json["params"] = Json::array();
    for (const graph::ExprId id : file.graph->recursiveOrder(file.graph->mainId())) {
        const graph::Expr& expr = file.graph->expr(id);
        if (options.dump.names.parameters && expr.isParameter) json["params"].push_back(expr.target);
    }
    fmt::print("{}\n", json.dump(2));
    return 0;
}

}  // namespace

Verb dumpVerb() {
    return {
        "dump", "Write a model as one static graph, with test cases if requested, or run the test cases of a dump",
        "sonde dump model.pt -o model.dump --input-data '#rand(0,1,1,3,224,224)'", [](CLI::App& command) {
            auto options = std::make_shared<DumpVerbOptions>();
            options->model.addTo(command);
            exporting::DumpOptions& dump = options->dump;
            command.add_option("-o,--out", options->out, "File to write");
            command.add_flag("--append", options->append, "Append to the file");
            command.add_flag("--check", options->check, "MODEL is a dump: run its test cases");
            command.add_option("--offset", options->offset, "With --check: byte offset of the dump in the file");
            command.add_option("--arg-names", dump.argNames, "Names of the inputs, in order")->delimiter(',');
            command.add_option("--output-names", dump.outputNames, "Names of the outputs, in order")->delimiter(',');
            command.add_option("--keep-var-name", dump.keepVarName, "0: no names; 1, 2: all")
                ->check(CLI::Range(0, 2))
                ->capture_default_str();
            command.add_flag("--keep-opr-name", dump.names.operations, "Keep the names of operations");
            command.add_flag("--keep-param-name", dump.names.parameters, "Keep the names of weights");
            command.add_option("--strip-info-file", options->stripInfo,
                               "Write a JSON file of the used operators, dtypes and elementwise modes");
            command.add_flag("--append-json", options->appendJson,
                             "Add to the lists in that file instead of replacing them");
            command.add_flag("--no-optimize-for-inference", options->noOptimize, "Keep the graph as it was traced");
            command
                .add_option("--opt-level", dump.optLevel,
                            "0: arithmetic stays as it is; 1, 2: x / x is 1, log(exp(x)) is x, log-sum-exp is stable")
                ->check(CLI::Range(0, 2))
                ->capture_default_str();
            command.add_option("--option", options->options,
                               "Option of the optimisation, NAME or NAME=false (enable_fuse_grain …)");
            command.add_option("--user-info", dump.userInfo, "Text to keep in the metadata");
            command.add_flag("--no-metadata", options->noMetadata, "Keep no metadata");
            command
                .add_option("--input-data", options->inputData,
                            "A test case: input data as for run, or @FILE with one case per line (again for more)")
                ->allow_extra_args(false);  // else [1,2] would be two
            command.add_option("--repeat", dump.input.repeat, "Repeat each sample of file data N times along axis 0")
                ->check(CLI::PositiveNumber);
            command.add_flag("--silent", options->silent, "Checks do not print their errors");
            command.add_flag("--no-assert", dump.noAssert, "Test cases without expected values");
            command.add_option("--maxerr", dump.maxError, "Maximum error that the test cases allow")
                ->capture_default_str();
            command.add_option("--input-transform", dump.inputTransform,
                               "Expression in `data` that is applied to file data: \"data / np.std(data)\"");
            command.add_flag("--resize-input", dump.resizeInput, "Resize images to the input's height and width");
            command.add_option("--model-version", dump.modelVersion, "Version of the format")->check(CLI::Range(2, 2));
            return std::function<base::Result<int>()>([options] { return app::dump(*options); });
        }};
}

}  // namespace sonde::app
