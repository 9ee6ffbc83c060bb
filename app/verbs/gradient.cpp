#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/analysis/tensor_stats.h"
#include "core/base/counted_text.h"
#include "core/base/visible_text.h"
#include "core/session/gradient/saliency.h"
#include "core/session/session.h"
#include "core/session/why/place_text.h"

namespace sonde::app {

namespace {

using session::gradient::NodeSaliency;
using session::gradient::Saliency;

struct GradientOptions {
    ModelOptions model;
    InputChoice inputs;
    std::string of;
    std::vector<std::string> to;
    std::string output;
    std::size_t threads = 0;
    std::size_t memoryMib = session::debug::KeptLimits::kDefaultMemory >> 20;
    bool json = false;
};

std::string indexText(std::vector<std::int64_t> index) { return fmt::format("[{}]", fmt::join(index, ", ")); }

std::vector<std::int64_t> indexOf(std::int64_t element, const tensor::Shape& shape) {
    std::vector<std::int64_t> index(shape.rank(), 0);
    for (std::size_t d = shape.rank(); d-- > 0; element /= std::max<std::int64_t>(shape[d], 1))
        index[d] = element % std::max<std::int64_t>(shape[d], 1);
    return index;
}

class GradientVerb {
  public:
    explicit GradientVerb(GradientOptions& options) : m_options(options), m_session(commandLineWork()) {}

    base::Result<int> run() {
        SONDE_ASSIGN(const auto document,
                     m_options.model.load(m_options.inputs.spec, {{{"--output", m_options.output}}}));
        SONDE_ASSIGN(const auto cases, inputsFor(*document, m_options.inputs));
        if (cases.size() > 1) printWarning(fmt::format("only the first of {} inputs is looked at", cases.size()));
        showIn(m_session, document);
        session::gradient::Request request;
        SONDE_TRY(readRequest(request));
        session::RunSettings settings;
        settings.threads = request.threads = m_options.threads;
        settings.seed = seedOf(*document, m_options.inputs);
        m_session.runs().setSettings(settings);
        m_session.runs().giveValues(cases.front().values);
        m_session.debugger().setLimits({m_options.memoryMib << 20, session::debug::KeptLimits::kDefaultDisk, {}});
        SONDE_ASSIGN(const Saliency found, compute(request));
        printNotes(found.notes);
        const graph::InternalGraph& graph = *m_session.document()->graph;
        if (!m_options.output.empty()) SONDE_TRY(session::gradient::saveSaliency(found, graph, m_options.output));
        m_options.json ? printJson(found, graph) : printText(found, graph);
        return 0;
    }

  private:
    base::Result<void> readRequest(session::gradient::Request& request) {
        if (!m_options.of.empty()) {
            session::why::PlaceProblem problem;
            const auto place = session::why::readPlace(m_options.of, problem);
            if (!place) return std::move(problem.error.at("--of"));
            if (!place->rest.empty()) return base::usageError("unexpected '" + std::string(place->rest) + "'", "--of");
            SONDE_ASSIGN(const graph::NodeId node, m_session.document()->findNode(place->node));
            request.of = {node, {}, place->index};
            // What nothing else needs is computed too.
            m_session.setWatched(node, true);
        }
        SONDE_ASSIGN(request.to, nodesFor(*m_session.document(), m_options.to));
        m_session.clearEnds();
        for (const graph::NodeId node : session::gradient::endsFor(*m_session.document()->graph, request))
            m_session.setEnd(node, true);
        return {};
    }

    base::Result<Saliency> compute(const session::gradient::Request& request) {
        m_session.debugger().clearBreakpoints();
        m_session.debugger().restart();
        if (m_session.debugger().error()) return *m_session.debugger().error();
        // A run that was interrupted is a paused one for the debugger.
        if (commandLineWork().cancelled()) return base::cancelled("while the model runs");
        std::optional<base::Result<Saliency>> found;
        m_session.debugger().inspect(
            [&](const session::debug::View& view, const base::WorkContext& work) {
                return session::gradient::saliency(view, request, work);
            },
            [&](base::Result<Saliency> result) { found.emplace(std::move(result)); });
        if (!found) return base::cancelled("while differentiating");
        if (!*found) return session::gradient::withOption(std::move(*found).error(), "--to NODE");
        return std::move(*found);
    }

    void printJson(const Saliency& found, const graph::InternalGraph& graph) const {
        nlohmann::ordered_json object{{"format", "sonde-gradient"}, {"version", 1}};
        session::gradient::addSaliency(object, found, graph);
        if (!m_options.output.empty()) object["saved"] = m_options.output;
        fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }

    void printText(const Saliency& found, const graph::InternalGraph& graph) const {
        std::vector<std::int64_t> index = found.of.index;
        if (found.of.member) index.insert(index.begin(), static_cast<std::int64_t>(*found.of.member));
        fmt::print("{}{} = {:.6g}, through {}\n", base::visibleText(graph.node(found.of.node).name), indexText(index),
                   found.value, base::countedText(static_cast<std::int64_t>(found.operations), "operation"));
        for (const NodeSaliency& one : found.gradients) {
            const analysis::TensorStats stats = analysis::tensorStats(one.gradient);
            fmt::print("{}  {}  min {:.4g}  max {:.4g}  mean {:.4g}  std {:.4g}{}\n",
                       base::visibleText(graph.node(one.node).name), one.gradient.typeText(), stats.minimum,
                       stats.maximum, stats.mean, stats.deviation, one.isReached ? "" : "  (does not depend on it)");
            for (const std::int64_t element : session::gradient::largestElements(one.gradient, one.isReached ? 4 : 0))
                fmt::print("  {}  {:.6g}\n", indexText(indexOf(element, one.gradient.shape())),
                           one.gradient.toDouble(element));
        }
        if (!m_options.output.empty()) fmt::print("{} has the gradients\n", base::visibleText(m_options.output));
    }

    GradientOptions& m_options;
    session::Session m_session;
};

}  // namespace

Verb gradientVerb() {
    return {"gradient", "How much an element of a node's value changes with every element of the inputs or other nodes",
            "sonde gradient resnet18.onnx --of 'output[0, 283]' --input-data photo.png -o saliency.npz",
            [](CLI::App& command) {
                auto options = std::make_shared<GradientOptions>();
                options->model.addTo(command);
                command.add_option("--of", options->of,
                                   "The element, NODE[INDEX]; without INDEX the largest of the node, without --of the "
                                   "largest of the first output");
                command
                    .add_option("--to", options->to,
                                "Node or weight to differentiate by (again for more); without, every floating-point "
                                "input of the model")
                    ->allow_extra_args(false);
                options->inputs.addTo(command);
                addSeed(command, options->inputs.seed, "Seed of random inputs and operators");
                command
                    .add_option("-o,--output", options->output,
                                "Write the gradients: .npz under grad.NODE, or .npy if it is one")
                    ->check(notEmpty());
                command
                    .add_option("--memory", options->memoryMib,
                                "MiB of memory for values of the run; others go to disk and come back when asked for")
                    ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 24))
                    ->capture_default_str();
                command.add_flag("--json", options->json, "Print one JSON object");
                addThreads(command, options->threads);
                return std::function<base::Result<int>()>([options] { return GradientVerb(*options).run(); });
            }};
}

}  // namespace sonde::app
