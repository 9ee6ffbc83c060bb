#include "core/ort/reference.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/engine.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/base/visible_text.h"
#include "core/io/npz/npz.h"
#include "core/session/session.h"

namespace sonde::app {

namespace {

struct ReferenceOptions {
    ModelOptions model;
    InputChoice inputs;
    EngineChoice engine;
    std::string output;
    std::size_t threads = 0;
    bool times = false;
    bool json = false;
};

/// An operation in both engines; 0: it has no time of its own there.
struct TimeRow {
    std::string node, operatorName;
    std::int64_t engineNs = 0, ownNs = 0;
};

double inMs(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

class ReferenceVerb {
  public:
    explicit ReferenceVerb(ReferenceOptions& options) : m_options(options), m_session(commandLineWork()) {}

    base::Result<int> run() {
        if (!m_options.engine.isGiven())
            return base::usageError("no engine is named", "reference", "--ort LIBRARY names ONNX Runtime");
        const VerbFiles files{{{"--output", m_options.output}}};
        SONDE_TRY(checkOutputs(files, {{m_options.engine.library, "the engine's library"}}));
        SONDE_ASSIGN(m_document, m_options.model.load(m_options.inputs.spec, files));
        SONDE_ASSIGN(const auto cases, inputsFor(*m_document, m_options.inputs));
        for (std::size_t i = 0; i < cases.size(); ++i)
            SONDE_TRY(runCase(i == 0 ? "" : fmt::format("case{}.", i), cases[i].values));
        SONDE_TRY(io::writeNpz(m_options.output, m_arrays));
        if (m_options.json) printJson();
        else printText(cases.size());
        return 0;
    }

  private:
    base::Result<void> runCase(const std::string& prefix, const std::vector<tensor::Value>& inputs) {
        SONDE_ASSIGN(ort::EngineReference reference,
                     ort::engineReference(*m_document, inputs,
                                          m_options.engine.options(m_options.model.open.allowNative, m_options.threads),
                                          commandLineWork()));
        for (auto& [key, tensor] : reference.arrays) m_arrays.emplace_back(prefix + key, std::move(tensor));
        if (!prefix.empty()) return {};
        m_version = reference.version;
        m_notes = reference.notes;
        printNotes(reference.notes);
        for (const auto& [node, ns] : reference.elapsedNs) m_rows.push_back({node, {}, ns, 0});
        return m_options.times ? addOwnTimes(inputs) : base::Result<void>();
    }

    /// Each operation by itself, as the other engine does them.
    base::Result<void> addOwnTimes(const std::vector<tensor::Value>& inputs) {
        showIn(m_session, m_document);
        m_session.runs().setSettings({m_options.threads, seedOf(*m_document, m_options.inputs)});
        m_session.runs().giveValues(inputs);
        m_session.runs().run();
        const session::Run& run = m_session.runs().last();
        if (!run.recording) return *run.error;
        for (TimeRow& row : m_rows) {
            const graph::NodeId node = m_document->graph->findNode(row.node);
            if (!node.valid()) continue;
            const graph::Expr& expr = m_document->graph->expr(m_document->graph->node(node).producer);
            row.operatorName = expr.op.name;
            row.ownNs = run.recording->elapsedNs(expr.id);
        }
        if (run.error)
            printWarning("Sonde's own run failed, its times are not complete: " + run.error->what, run.error->where);
        return {};
    }

    void printText(std::size_t cases) const {
        if (m_options.times) {
            std::size_t width = 4;
            for (const TimeRow& row : m_rows) width = std::max(width, base::visibleText(row.node).size());
            fmt::print("{:{}}  {:20}  {:>12}  {:>12}\n", "node", width, "operator", "engine ms", "Sonde ms");
            for (const TimeRow& row : m_rows)
                fmt::print("{:{}}  {:20}  {:12.4f}  {:12.4f}\n", base::visibleText(row.node), width,
                           base::visibleText(row.operatorName), inMs(row.engineNs), inMs(row.ownNs));
            std::int64_t engineNs = 0, ownNs = 0;
            for (const TimeRow& row : m_rows) engineNs += row.engineNs, ownNs += row.ownNs;
            fmt::print("{:{}}  {:20}  {:12.4f}  {:12.4f}\n", "sum", width, "", inMs(engineNs), inMs(ownNs));
        }
        fmt::print("ONNX Runtime {}: {} values of {} {} in {}\n", m_version, m_arrays.size(), cases,
                   cases == 1 ? "run" : "runs", base::visibleText(m_options.output));
    }

    void printJson() const {
        using Json = nlohmann::ordered_json;
        Json operations = Json::array();
        for (const TimeRow& row : m_rows) {
            Json each{{"node", row.node}, {"engine_ns", row.engineNs}};
            if (m_options.times) each["operator"] = row.operatorName, each["sonde_ns"] = row.ownNs;
            operations.push_back(std::move(each));
        }
        const Json object{{"format", "sonde-reference"},
                          {"version", 1},
                          {"engine", "ONNX Runtime"},
                          {"engine_version", m_version},
                          {"file", m_options.output},
                          {"values", m_arrays.size()},
                          {"operations", std::move(operations)},
                          {"notes", m_notes}};
        fmt::print("{}\n", object.dump(-1, ' ', false, Json::error_handler_t::replace));
    }

    ReferenceOptions& m_options;
    session::Session m_session;
    std::shared_ptr<const document::Document> m_document;
    std::vector<io::NamedTensor> m_arrays;
    std::vector<TimeRow> m_rows;  ///< of the first case
    std::vector<std::string> m_notes;
    std::string m_version;
};

}  // namespace

Verb referenceVerb() {
    return {
        "reference", "Run a model in ONNX Runtime and write all of its values as a reference for check and problems",
        "sonde reference model.onnx --ort libonnxruntime.so --allow-native --input-data '#rand(0,1)' -o reference.npz",
        [](CLI::App& command) {
            auto options = std::make_shared<ReferenceOptions>();
            options->model.addTo(command);
            options->inputs.addTo(command);
            options->engine.addTo(command);
            command.add_option("-o,--output", options->output, "The .npz to write: in.NAME, node.NAME, out.NAME")
                ->required();
            command.add_flag("--times", options->times,
                             "Also run the model in Sonde, and print the time of each operation in both");
            command.add_flag("--json", options->json, "Print one JSON object");
            addSeed(command, options->inputs.seed, "Seed of random inputs");
            addThreads(command, options->threads);
            return std::function<base::Result<int>()>([options] { return ReferenceVerb(*options).run(); });
        }};
}

}  // namespace sonde::app
