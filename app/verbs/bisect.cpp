#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/engine.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/tolerances.h"
#include "app/verbs/validators.h"
#include "core/analysis/model_target.h"
#include "core/analysis/problem.h"
#include "core/base/visible_text.h"
#include "core/document/without_writes.h"
#include "core/export/write_piece.h"
#include "core/ort/target.h"
#include "core/ort/work_folder.h"
#include "core/session/precision/bisect_target.h"

namespace sonde::app {

namespace {

struct BisectOptions {
    ModelOptions model;
    std::string other;
    InputChoice inputs;
    EngineChoice engine;
    ToleranceChoice tolerances;
    std::string output, precision;
    std::vector<std::string> nodes;
    std::size_t threads = 0;
    bool json = false;
};

bool isNpz(const std::string& path) { return path.ends_with(".npz"); }

class BisectVerb {
  public:
    explicit BisectVerb(BisectOptions& options) : m_options(options), m_runner(options.threads) {}

    base::Result<int> run() {
        SONDE_TRY(checkArguments());
        SONDE_TRY(open());
        SONDE_TRY(search());
        // What was found is told also where it has no ONNX form.
        const auto written = m_found.differs ? writePiece() : base::Result<void>();
        printNotes(m_found.notes);
        if (m_options.json) printJson();
        else printText();
        SONDE_TRY(written);
        return m_found.differs ? 1 : 0;
    }

  private:
    base::Result<void> checkArguments() const {
        if (m_options.output.empty()) return base::usageError("-o FILE is missing", "bisect");
        const int count =
            int{!m_options.other.empty()} + int{m_options.engine.isGiven()} + int{!m_options.precision.empty()};
        if (count == 0)
            return base::usageError("there is nothing to compare the model with", "bisect",
                                    "give another MODEL, --ort LIBRARY or --precision TYPE");
        if (count > 1)
            return base::usageError("the model is to be compared with several things", "bisect",
                                    "give one of them: OTHER, --ort or --precision");
        if (!m_options.nodes.empty() && m_options.precision.empty())
            return base::usageError("--nodes has no effect without --precision", "bisect");
        if (isNpz(m_options.other))
            return base::usageError("a file of values is no model", m_options.other,
                                    "`sonde problems MODEL REFERENCE.npz` finds where a model departs from values");
        return {};
    }

    base::Result<void> open() {
        const std::string values = exporting::pieceValuesPath(m_options.output).string();
        VerbFiles files{
            {{"--output", m_options.output}, {"--output", m_options.output + ".data"}, {"--output", values}}};
        if (m_options.engine.isGiven())
            SONDE_TRY(checkOutputs(files, {{m_options.engine.library, "the engine's library"}}));
        SONDE_ASSIGN(const auto document, m_options.model.load(m_options.inputs.spec, files));
        // What is given to an operation must not be what another one wrote to meanwhile.
        SONDE_ASSIGN(m_document, document::withoutWrites(document, commandLineWork()));
        SONDE_ASSIGN(const auto cases, inputsFor(*m_document, m_options.inputs));
        if (cases.size() > 1) printWarning(fmt::format("only the first of {} inputs is looked at", cases.size()));
        m_inputs = cases.front().values;
        if (m_options.engine.isGiven()) {
            SONDE_TRY(m_folder.make());
            SONDE_ASSIGN(m_document, ort::onnxForm(m_document, m_inputs, m_folder.path(), commandLineWork()));
            return {};
        }
        if (!m_options.precision.empty()) return {};
        ModelOptions other = m_options.model;
        other.model = m_options.other;
        SONDE_ASSIGN(const auto second, other.load(m_options.inputs.spec, files));
        SONDE_ASSIGN(m_other, document::withoutWrites(second, commandLineWork()));
        return {};
    }

    base::Result<void> search() {
        const analysis::BisectModel model{m_document->graph, m_inputs, seedOf(*m_document, m_options.inputs)};
        const analysis::Tolerances tolerances = m_options.tolerances.tolerances();
        if (!m_options.precision.empty()) return searchPrecision(model, tolerances);
        if (!m_other) {
            ort::EngineTarget target(m_document, m_inputs,
                                     m_options.engine.options(m_options.model.open.allowNative, m_options.threads));
            SONDE_ASSIGN(m_found, analysis::bisect(model, target, tolerances, m_runner, commandLineWork()));
            m_otherName = "ONNX Runtime " + target.version();
            return {};
        }
        analysis::BisectModel other{m_other->graph, {}, model.seed};
        SONDE_ASSIGN(other.inputs, analysis::inputsLike(model, *m_other->graph));
        analysis::ModelTarget target(*m_document->graph, other, m_runner);
        SONDE_ASSIGN(m_found, analysis::bisect(model, target, tolerances, m_runner, commandLineWork()));
        m_otherName = m_other->title;
        if (m_found.differs) m_otherNode = m_other->graph->node(target.counterpart(m_found.node)).name;
        return {};
    }

    base::Result<void> searchPrecision(const analysis::BisectModel& model, const analysis::Tolerances& tolerances) {
        using namespace session::precision;
        SONDE_ASSIGN(const NumberType type, numberType(m_options.precision));
        SONDE_ASSIGN(auto chosen, chosenBy(*model.graph, m_options.nodes));
        PrecisionTarget target(model, simulate(model.graph, std::move(chosen), {type, false, {}}), type, m_runner);
        SONDE_ASSIGN(m_found, analysis::bisect(model, target, tolerances, m_runner, commandLineWork()));
        m_otherName = name(type);
        return {};
    }

    base::Result<void> writePiece() {
        exporting::PieceEnds ends;
        for (const graph::NodeId node : m_found.from) {
            const auto& inputs = m_document->graph->inputs();
            if (std::ranges::find(inputs, node) == inputs.end()) ends.from.push_back(node);
        }
        ends.to = {m_found.node};
        SONDE_ASSIGN(
            const exporting::Piece piece,
            exporting::cutPiece(*m_document, ends, m_inputs, seedOf(*m_document, m_options.inputs), commandLineWork()));
        SONDE_ASSIGN(m_written, exporting::writePiece(piece, m_options.output, commandLineWork()));
        for (const base::Diagnostic& note : m_written->notes) printWarning(note.what, note.where);
        return {};
    }

    const std::string& nameOf(graph::NodeId node) const { return m_document->graph->node(node).name; }
    double matchedShare() const {
        return m_found.computed == 0 ? 1 : static_cast<double>(m_found.matched) / static_cast<double>(m_found.computed);
    }

    void printText() const {
        const std::string other = base::visibleText(m_otherName);
        const std::string counts =
            fmt::format("{} of {} values are in both, {} differ; {} {} of {}", m_found.matched, m_found.computed,
                        m_found.inBetween, m_found.runs, m_found.runs == 1 ? "run" : "runs", other);
        if (!m_found.differs) {
            fmt::print("The outputs agree\n{}\n", counts);
            return;
        }
        const auto shown = [this](graph::NodeId node) { return base::visibleText(nameOf(node)); };
        fmt::print("{}{}\n", shown(m_found.node),
                   m_otherNode.empty() || m_otherNode == nameOf(m_found.node)
                       ? " differs"
                       : " differs (in " + other + ": " + base::visibleText(m_otherNode) + ")");
        const std::size_t count = m_found.operations.size();
        fmt::print("  {}, {}\n",
                   m_found.isAccumulated
                       ? fmt::format("no operation differs by itself: differences add up in {} operations", count)
                       : fmt::format("same inputs, other output: {}",
                                     count == 1 ? "1 operation" : fmt::format("{} operations", count)),
                   m_found.note.empty() ? fmt::format("max abs {:.3g}, max rel {:.3g}", m_found.difference.maxAbsolute,
                                                      m_found.difference.maxRelative)
                                        : base::visibleText(m_found.note));
        for (const graph::NodeId node : m_found.from) fmt::print("  from {}\n", shown(node));
        for (const graph::ExprId id : m_found.operations) {
            const graph::Expr& expr = m_document->graph->expr(id);
            if (expr.outputs.empty()) continue;
            const std::string qualname = qualnameText(*m_document->graph, expr.outputs.front());
            fmt::print("  {}  {}  {}\n", shown(expr.outputs.front()), base::visibleText(analysis::operatorText(expr)),
                       base::visibleText(qualname));
        }
        fmt::print("{}\n", counts);
        if (!m_written) return;
        fmt::print("{} and {} have the piece; run alone, it differs from the model by {:.3g} at most\n",
                   base::visibleText(m_written->model.string()), base::visibleText(m_written->values.string()),
                   m_written->maxAbsolute);
    }

    void printJson() const {
        using Json = nlohmann::ordered_json;
        const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
        Json object{{"format", "sonde-bisection"},   {"version", 1},         {"differs", m_found.differs},
                    {"other", m_otherName},          {"runs", m_found.runs}, {"matched", matchedShare()},
                    {"differing", m_found.inBetween}};
        if (m_found.differs) {
            Json from = Json::array(), operations = Json::array();
            for (const graph::NodeId node : m_found.from) from.push_back(nameOf(node));
            for (const graph::ExprId id : m_found.operations) {
                const graph::Expr& expr = m_document->graph->expr(id);
                if (expr.outputs.empty()) continue;
                operations.push_back({{"node", nameOf(expr.outputs.front())},
                                      {"operator", analysis::operatorText(expr)},
                                      {"qualname", expr.qualname ? Json(*expr.qualname) : Json(nullptr)}});
            }
            object["node"] = nameOf(m_found.node);
            object["other_node"] = m_otherNode.empty() ? nameOf(m_found.node) : m_otherNode;
            object["from"] = std::move(from), object["operations"] = std::move(operations);
            object["accumulated"] = m_found.isAccumulated;
            object["max_abs"] = number(m_found.difference.maxAbsolute);
            object["max_rel"] = number(m_found.difference.maxRelative);
            object["note"] = m_found.note;
            object["piece"] = m_written ? Json(m_written->model.string()) : Json(nullptr);
            object["values"] = m_written ? Json(m_written->values.string()) : Json(nullptr);
        }
        object["notes"] = m_found.notes;
        fmt::print("{}\n", object.dump(-1, ' ', false, Json::error_handler_t::replace));
    }

    BisectOptions& m_options;
    exec::Runner m_runner;
    ort::WorkFolder m_folder;  ///< of the model's ONNX form; outlives the document
    std::shared_ptr<const document::Document> m_document, m_other;
    std::vector<tensor::Value> m_inputs;
    analysis::Bisection m_found;
    std::string m_otherName, m_otherNode;
    std::optional<exporting::WrittenPiece> m_written;
};

}  // namespace

Verb bisectVerb() {
    return {"bisect", "Find the smallest part of a model in which another model, or another engine, gives other values",
            "sonde bisect model.onnx exported_again.onnx --input-data photo.png -o piece.onnx", [](CLI::App& command) {
                auto options = std::make_shared<BisectOptions>();
                options->model.addTo(command);
                command.add_option("OTHER", options->other,
                                   "The model that differs: another export, precision or version of MODEL");
                options->inputs.addTo(command);
                options->engine.addTo(command);
                command.add_option("--precision", options->precision,
                                   "Compare with MODEL itself rounding to float16, bfloat16 or int8, as `sonde "
                                   "precision` does");
                command
                    .add_option("--nodes", options->nodes,
                                "With --precision: round only at operations whose results this query finds")
                    ->allow_extra_args(false);
                options->tolerances.addTo(command);
                command.add_option("-o,--output", options->output,
                                   "The ONNX file for the part of MODEL; its inputs and outputs are written to an .npz "
                                   "of the same name beside it");
                command.add_flag("--json", options->json, "Print one JSON object");
                command.add_option("--seed", options->inputs.seed, "Seed of random inputs and operators");
                addThreads(command, options->threads);
                return std::function<base::Result<int>()>([options] { return BisectVerb(*options).run(); });
            }};
}

}  // namespace sonde::app
