#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/export_arguments.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/session_edits.h"
#include "core/export/write_export.h"
#include "core/graph/traits.h"
#include "core/session/run.h"

namespace sonde::app {

namespace {

struct DumpVerbOptions {
    ModelOptions model;
    ExportArguments arguments{exporting::ExportFormat::Dump};
    std::string out;
    std::uint64_t offset = 0;
    bool check = false;
};

using Json = nlohmann::ordered_json;
constexpr std::string_view kStandardOutput = "-";

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
        if (options.arguments.choice.settings.dump.silent) continue;
        for (std::size_t k = 0; k < recording.outputs.size() && k < file.graph->outputs().size(); ++k) {
            const graph::Node& node = file.graph->node(file.graph->outputs()[k]);
            const graph::Expr& expr = file.graph->expr(node.producer);
            if (!graph::traitsOf(expr).is(operators::Trait::ReturnsError) || !recording.outputs[k].isTensor()) continue;
            fmt::print("AssertEqual: err={:g} (name={} id={})\n", recording.outputs[k].tensor().toDouble(0),
                       expr.attributes.getString("name", ""), node.id.index());
        }
    }
    fmt::print("{} {}, {} failed\n", file.cases.size(), file.cases.size() == 1 ? "case" : "cases", failed);
    return failed == 0 ? 0 : 1;
}

/// To the file, or for "-" to standard output. A file that the shell opened for appending has something before.
base::Result<exporting::WrittenExport> writeOut(const document::Document& document,
                                                const exporting::ExportChoice& choice, const std::string& out) {
    if (out != kStandardOutput) return exporting::writeExport(document, choice, out, {}, commandLineWork());
    std::cout.seekp(0, std::ios::end);
    std::cout.clear();  // a pipe has no position
    return exporting::writeExport(document, choice, std::cout, {}, commandLineWork());
}

base::Result<int> dump(DumpVerbOptions& options) {
    if (options.check) {
        options.model.tellUnused("with --check");
        options.arguments.tellUnused("silent", "with --check");
        if (!options.out.empty()) printWarning("--out has no effect with --check");
        return checkDump(options);
    }
    if (options.out.empty() && !options.arguments.isPreview) return base::usageError("-o FILE is missing", "dump");
    SONDE_TRY(options.arguments.finish());
    const exporting::ExportChoice& choice = options.arguments.choice;
    const exporting::ExportSettings& settings = choice.settings;
    const std::vector<std::string>& cases = settings.inputData;
    const bool toStream = options.out == kStandardOutput;
    SONDE_ASSIGN(const auto opened,
                 options.model.load(
                     cases.empty() ? std::string() : cases.front(),
                     {{{"--out", toStream ? "" : options.out}, {"--strip-info-file", settings.stripInfoFile}}, cases}));
    // The inputs of the first test case, or numbers of the usual shape.
    const InputChoice inputs{cases.empty() ? std::string() : cases.front()};
    SONDE_ASSIGN(const auto document, withSessionEdits(opened, inputs));
    if (options.arguments.isPreview) {
        SONDE_ASSIGN(const auto made, inputsFor(*document, inputs));
        return options.arguments.printPreview(document, made.front().values);
    }
    SONDE_ASSIGN(const exporting::WrittenExport written, writeOut(*document, choice, options.out));
    for (const base::Diagnostic& note : written.notes) printWarning(note.what, note.where);
    const graph::InternalGraph& graph = *written.graph;
    const std::size_t operators = static_cast<std::size_t>(std::ranges::count_if(
        graph.main().order, [&](graph::ExprId id) { return graph.expr(id).kind != graph::ExprKind::Output; }));
    Json json{{"nr_opr", operators},
              {"tot_bytes", written.dump.totalBytes},
              {"tensor_value_bytes", written.dump.tensorBytes},
              {"content_hash", written.dump.contentHash}};
    json["inputs"] = Json::array();
    for (const graph::NodeId input : graph.inputs()) json["inputs"].push_back(graph.node(input).name);
    json["outputs"] = written.outputNames;
    json["params"] = Json::array();
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (settings.dump.names.parameters && expr.isParameter) json["params"].push_back(expr.target);
    }
    fmt::print(toStream ? stderr : stdout, "{}\n", json.dump(2));
    return 0;
}

}  // namespace

Verb dumpVerb() {
    return {"dump", "Write a model as one static graph, with test cases if requested, or run the test cases of a dump",
            "sonde dump model.pt -o model.dump --input-data '#rand(0,1,1,3,224,224)'", [](CLI::App& command) {
                auto options = std::make_shared<DumpVerbOptions>();
                options->model.addTo(command);
                options->model.makesEdits = true;
                command.add_option("-o,--out", options->out, "File to write, - for standard output");
                auto* check = command.add_flag("--check", options->check, "MODEL is a dump: run its test cases");
                command.add_option("--offset", options->offset, "With --check: byte offset of the dump in the file")
                    ->needs(check);
                options->arguments.addTo(command);
                command.get_option("--append-json")->needs(command.get_option("--strip-info-file"));
                command.get_option("--user-info")->excludes(command.get_option("--user-info-file"));
                return std::function<base::Result<int>()>([options] { return app::dump(*options); });
            }};
}

}  // namespace sonde::app
