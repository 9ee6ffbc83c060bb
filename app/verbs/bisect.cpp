#include <CLI/CLI.hpp>
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
#include "core/session/bisection/bisection.h"
#include "core/session/bisection/default_inputs.h"

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

bool isReference(const std::string& path) {
    const std::size_t hash = path.rfind('#');
    return path.ends_with(".npz") || (hash != std::string::npos && path.substr(0, hash).ends_with(".npz"));
}

class BisectVerb {
  public:
    explicit BisectVerb(BisectOptions& options) : m_options(options) {}

    base::Result<int> run() {
        SONDE_TRY(checkArguments());
        SONDE_TRY(open());
        SONDE_ASSIGN(const auto found, session::bisection::bisect(m_request, m_target, commandLineWork()));
        // What was found is told also where it has no ONNX form.
        std::optional<exporting::WrittenPiece> piece;
        base::Result<void> written;
        if (session::bisection::hasPiece(found)) {
            auto made = session::bisection::writePiece(found, m_options.output, commandLineWork());
            if (made) piece = std::move(*made);
            else written = made.error();
        }
        if (piece)
            for (const base::Diagnostic& note : piece->notes) printWarning(note.what, note.where);
        printNotes(found.found.notes);
        print(found, piece ? &*piece : nullptr);
        SONDE_TRY(written);
        return found.found.differs ? 1 : 0;
    }

  private:
    base::Result<void> checkArguments() const {
        const int count =
            int{!m_options.other.empty()} + int{m_options.engine.isGiven()} + int{!m_options.precision.empty()};
        if (count == 0)
            return base::usageError("there is nothing to compare the model with", "bisect",
                                    "give another MODEL, REFERENCE.npz, --ort LIBRARY or --precision TYPE");
        if (count > 1)
            return base::usageError("the model is to be compared with several things", "bisect",
                                    "give one of them: OTHER, --ort or --precision");
        if (!m_options.nodes.empty() && m_options.precision.empty())
            return base::usageError("--nodes has no effect without --precision", "bisect");
        if (isReference(m_options.other) && !m_options.inputs.spec.empty())
            return base::usageError("reference values have inputs of their own", m_options.other,
                                    "leave out --input-data");
        return {};
    }

    base::Result<void> open() {
        const std::string values = exporting::pieceValuesPath(m_options.output).string();
        const bool hasReference = isReference(m_options.other);
        VerbFiles files{
            {{"--output", m_options.output}, {"--output", m_options.output + ".data"}, {"--output", values}}};
        if (m_options.engine.isGiven())
            SONDE_TRY(checkOutputs(files, {{m_options.engine.library, "the engine's library"}}));
        if (hasReference)
            SONDE_TRY(checkOutputs(
                files, {{m_options.other.substr(0, m_options.other.rfind(".npz") + 4), "the reference values"}}));
        SONDE_ASSIGN(m_request.document, m_options.model.load(m_options.inputs.spec, files));
        m_request.seed = seedOf(*m_request.document, m_options.inputs);
        m_request.tolerances = m_options.tolerances.tolerances();
        m_request.threads = m_options.threads;
        if (hasReference) {
            m_target = session::bisection::ReferenceFile{m_options.other};
            return {};
        }
        InputChoice inputs = m_options.inputs;
        if (inputs.spec.empty() && !m_request.document->session)
            inputs.spec = session::bisection::defaultInputs(*m_request.document);
        SONDE_ASSIGN(const auto cases, inputsFor(*m_request.document, inputs));
        if (cases.size() > 1) printWarning(fmt::format("only the first of {} inputs is looked at", cases.size()));
        m_request.inputs = cases.front().values;
        return chooseTarget(files);
    }

    base::Result<void> chooseTarget(const VerbFiles& files) {
        using namespace session::bisection;
        if (m_options.engine.isGiven()) {
            m_target = OtherEngine{m_options.engine.options(m_options.model.open.allowNative, m_options.threads)};
            return {};
        }
        if (!m_options.precision.empty()) {
            LowerPrecision lower;
            SONDE_ASSIGN(lower.options.type, session::precision::numberType(m_options.precision));
            lower.options.queries = m_options.nodes;
            m_target = std::move(lower);
            return {};
        }
        ModelOptions other = m_options.model;
        other.model = m_options.other;
        SONDE_ASSIGN(auto second, other.load(m_options.inputs.spec, files));
        m_target = OtherModel{std::move(second)};
        return {};
    }

    void print(const session::bisection::Outcome& found, const exporting::WrittenPiece* piece) const {
        if (!m_options.json) {
            fmt::print("{}", session::bisection::outcomeText(found, piece));
            return;
        }
        using Json = nlohmann::ordered_json;
        Json object{{"format", "sonde-bisection"}, {"version", 1}};
        session::bisection::addOutcome(object, found, piece);
        fmt::print("{}\n", object.dump(-1, ' ', false, Json::error_handler_t::replace));
    }

    BisectOptions& m_options;
    session::bisection::Request m_request;
    session::bisection::Target m_target;
};

}  // namespace

Verb bisectVerb() {
    return {"bisect", "Find the smallest part of a model in which another model, or another engine, gives other values",
            "sonde bisect model.onnx exported_again.onnx --input-data photo.png -o piece.onnx", [](CLI::App& command) {
                auto options = std::make_shared<BisectOptions>();
                options->model.addTo(command);
                command.add_option(
                    "OTHER", options->other,
                    "The model that differs: another export, precision or version of MODEL; or reference values "
                    "(.npz, with #case1 behind it one of several cases). Required without --ort and --precision");
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
                command
                    .add_option("-o,--output", options->output,
                                "The ONNX file for the part of MODEL; its inputs and outputs are written to an .npz "
                                "of the same name beside it")
                    ->required();
                command.add_flag("--json", options->json, "Print one JSON object");
                addSeed(command, options->inputs.seed, "Seed of random inputs and operators");
                addThreads(command, options->threads);
                return std::function<base::Result<int>()>([options] { return BisectVerb(*options).run(); });
            }};
}

}  // namespace sonde::app
