#include "core/session/diff/same_runs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "core/analysis/compared_values.h"
#include "core/analysis/difference.h"
#include "core/document/input_infos.h"
#include "core/exec/plan.h"
#include "core/exec/runner.h"
#include "core/graph/known_argument.h"
#include "core/io/inputs/inputs.h"
#include "core/session/bisection/default_inputs.h"
#include "core/session/diff/alone_runs.h"
#include "core/session/input_values.h"

namespace sonde::session::diff {

using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

namespace {

constexpr std::int64_t kMaxMultiplyAdds = 12'000'000'000, kMaxForTwoRuns = 2'000'000'000;
constexpr std::int64_t kMaxBytes = 768LL << 20;  ///< of activations, which are held at once
constexpr std::size_t kMaxOperations = 50'000;
/// Half of the width of the random numbers: larger ones come to the limits of what is clipped.
constexpr int kMagnitudes[] = {1, 8};
/// Of dimensions that a file leaves open, such as a batch and a length: of one not all that is done to it can be seen,
/// and of two that are the same not which of them it is.
constexpr std::int64_t kOpenSizes[] = {3, 5, 4, 6, 7};

/// For each input of the first model that of the second: by name if all of the second's are in both, else by position.
std::vector<std::size_t> inputsOfSecond(const document::Document& first, const document::Document& second) {
    std::vector<Value> positions;
    for (std::size_t i = 0; i < first.inputs.size(); ++i)
        positions.push_back(Value::ofInt(static_cast<std::int64_t>(i)));
    std::vector<std::size_t> found(first.inputs.size(), second.inputs.size());
    const std::vector<Value> theirs = valuesForSecond(first, second, positions);
    for (std::size_t k = 0; k < theirs.size() && k < second.inputs.size(); ++k)
        if (theirs[k].kind() == tensor::ValueKind::Int) found[static_cast<std::size_t>(theirs[k].toInt())] = k;
    return found;
}

bool isStatic(const tensor::TypeInfo& type) { return !type.isTensor() ? type.kind.has_value() : !!type.staticShape(); }

/// With what only the other file says of a type. `takesNames`: what it calls open dimensions counts.
void addKnown(tensor::TypeInfo& type, const tensor::TypeInfo& other, bool takesNames) {
    if (!type.kind) type.kind = other.kind;
    if (!type.isTensor() || !other.isTensor()) return;
    if (type.dtype == tensor::DType::Undefined) type.dtype = other.dtype;
    if (!type.shape) type.shape = other.shape;
    if (!type.shape || !other.shape || type.shape->size() != other.shape->size()) return;
    for (std::size_t axis = 0; axis < type.shape->size(); ++axis)
        if (!(*type.shape)[axis].known() && ((*other.shape)[axis].known() || takesNames))
            (*type.shape)[axis] = (*other.shape)[axis];
}

/// Values for the first model that both can take.
class InputMaker {
  public:
    InputMaker(const document::Document& first, const document::Document& second)
        : m_first(first), m_infos(document::requiredInputInfos(first)) {
        const std::vector<io::InputInfo> others = document::requiredInputInfos(second);
        const std::vector<std::size_t> positions = inputsOfSecond(first, second);
        for (std::size_t i = 0; i < m_infos.size(); ++i) {
            std::optional<std::int64_t> rows = bisection::tableRows(*first.graph, first.inputs[i].node);
            if (positions[i] < others.size()) {
                const io::InputInfo& other = others[positions[i]];
                addKnown(m_infos[i].type, other.type, !isDeclared(first, i) && isDeclared(second, positions[i]));
                if (m_infos[i].usual.empty()) m_infos[i].usual = other.usual;
                const auto there = bisection::tableRows(*second.graph, second.inputs[positions[i]].node);
                if (there && (!rows || *there < *rows)) rows = there;
            }
            m_infos[i].required.reset();
            const bool bySide[2] = {isDeclared(first, i), isDeclared(second, positions[i])};
            m_areDeclared = m_areDeclared && (bySide[0] || bySide[1]);
            for (std::size_t side = 0; side < 2; ++side) m_areDeclaredBy[side] = m_areDeclaredBy[side] && bySide[side];
            m_rows.push_back(rows);
        }
    }

    bool areSizesKnown() const {
        return std::ranges::all_of(m_infos, [](const io::InputInfo& info) { return isStatic(info.type); });
    }

    /// A file says of each input what it may be, by numbers or by names of dimensions.
    bool areDeclared() const { return m_areDeclared; }
    /// This model's file does so of all.
    bool areDeclaredBy(std::size_t side) const { return m_areDeclaredBy[side]; }

    /// Dimensions of which nothing but a name is said have several elements, or one.
    base::Result<std::vector<Value>> make(int magnitude, std::uint64_t seed, bool areOpenOnesLarge) const {
        std::vector<Value> values;
        io::InputOptions options;
        options.seed = seed;
        options.hasDefault = document::defaultsOf(m_first);
        std::map<std::string, std::int64_t> sizes;  // by name
        for (std::size_t i = 0; i < m_infos.size(); ++i) {
            io::InputInfo info = m_infos[i];
            const tensor::Shape usual = io::usualShape(info.type, info.usual);
            for (std::size_t axis = 0; info.type.shape && axis < info.type.shape->size(); ++axis)
                if (tensor::Dim& dim = (*info.type.shape)[axis]; areOpenOnesLarge && !dim.known() && usual[axis] == 1) {
                    const std::string name = dim.symbol.empty() ? fmt::format("{} {}", i, axis) : dim.symbol;
                    dim = {sizes.try_emplace(name, kOpenSizes[sizes.size() % std::size(kOpenSizes)]).first->second, {}};
                }
            SONDE_ASSIGN(Value value, io::makeInput(itemOf(i, magnitude), info, i, options));
            values.push_back(std::move(value));
        }
        return values;
    }

  private:
    std::string itemOf(std::size_t index, int magnitude) const {
        const tensor::TypeInfo& type = m_infos[index].type;
        const bool isInteger = tensor::isInteger(type.dtype);
        if (type.kind && !type.isTensor()) return io::defaultItem(m_infos[index]);
        if (m_rows[index] && (isInteger || type.dtype == tensor::DType::Undefined))
            return fmt::format("#rand(0,{})", *m_rows[index]);
        if (isInteger) return "#rand(0,3)";
        if (type.dtype == tensor::DType::Bool) return io::defaultItem(m_infos[index]);
        return fmt::format("#rand({},{})", -magnitude, magnitude);
    }

    static bool isDeclared(const document::Document& document, std::size_t index) {
        if (index >= document.inputs.size() || document.inputs[index].isRequired) return false;
        const tensor::TypeInfo& type = document.graph->node(document.inputs[index].node).type;
        return type.isTensor() ? type.shape.has_value() : type.kind.has_value();
    }

    const document::Document& m_first;
    std::vector<io::InputInfo> m_infos;
    bool m_areDeclared = true, m_areDeclaredBy[2] = {true, true};
    std::vector<std::optional<std::int64_t>> m_rows;  ///< of tables that integers choose from
};

bool drawsNumbers(const InternalGraph& graph) {
    return std::ranges::any_of(graph.recursiveOrder(graph.mainId()),
                               [&](ExprId id) { return graph::drawsNumbers(graph, graph.expr(id)).value_or(false); });
}

bool hasNan(const Value& value) {
    const auto tensor = analysis::asTensor(value);
    if (!tensor || !tensor::isFloating(tensor->dtype())) return false;
    for (std::int64_t i = 0; i < tensor->numel(); ++i)
        if (std::isnan(tensor->toDouble(i))) return true;
    return false;
}

/// Runs both, again and again, and keeps what all runs say.
class BothRuns {
  public:
    BothRuns(const document::Document& first, const document::Document& second, const GraphPairs& pairs,
             const SameRunsRequest& request)
        : m_documents{&first, &second}, m_pairs(pairs), m_request(request), m_runner(request.threads),
          m_alone({first.graph.get(), second.graph.get()}, pairs, request.alone) {
        const std::size_t exprs = first.graph->exprCount();
        m_found.ofPair.assign(exprs, Verdict::Unknown);
        m_found.maxAbs.assign(exprs, 0);
        m_found.hasRun = {std::vector<bool>(exprs, true), std::vector<bool>(second.graph->exprCount(), true)};
        if (first.graph->outputs().size() == second.graph->outputs().size()) {
            m_found.results.assign(first.graph->outputs().size(), Verdict::Unknown);
            m_found.resultTexts.resize(m_found.results.size());
        }
    }

    SameRuns& found() { return m_found; }

    /// False: further runs say nothing more.
    base::Result<bool> run(const std::vector<Value>& values, const base::WorkContext& work) {
        const std::array<std::vector<Value>, 2> inputs{
            inGraphOrder(*m_documents[0], values),
            inGraphOrder(*m_documents[1], valuesForSecond(*m_documents[0], *m_documents[1], values))};
        std::array<exec::Recording, 2> recordings;
        std::array<std::shared_ptr<const exec::Plan>, 2> plans;
        const bool isFirst = m_found.runs == 0;
        for (std::size_t side = 0; side < 2; ++side) {
            exec::PlanOptions options;
            options.watch = watchedOf(side);
            if (isFirst && !m_alone.empty())
                for (const NodeId node : m_alone.watched(side)) options.watch.push_back(node);
            SONDE_ASSIGN(plans[side], exec::Plan::make(m_documents[side]->graph, options));
            recordings[side] = m_runner.run(*plans[side], inputs[side], base::WorkContext{work.stop, {}});
            if (work.cancelled()) return base::cancelled("running the models");
        }
        if (recordings[0].error || recordings[1].error) return noteFailure(recordings);
        if (std::ranges::any_of(recordings[0].outputs, hasNan) && std::ranges::any_of(recordings[1].outputs, hasNan))
            return true;  // NaN is the same as NaN whatever it comes of
        ++m_found.runs;
        if (isFirst && !m_alone.empty())
            m_found.isSameAlone = m_alone.compare(plans, recordings, m_runner, m_request.seed, {work.stop, {}});
        comparePairs(recordings);
        compareResults(recordings);
        for (std::size_t side = 0; side < 2; ++side)
            for (std::size_t i = 0; i < m_found.hasRun[side].size(); ++i)
                if (!hasRun(recordings[side], *m_documents[side]->graph, ExprId(i))) m_found.hasRun[side][i] = false;
        return true;
    }

  private:
    static bool hasRun(const exec::Recording& recording, const InternalGraph& graph, ExprId id) {
        return !graph.isErased(id) && recording.state(id) == exec::ExprState::Done;
    }

    std::vector<NodeId> watchedOf(std::size_t side) const {
        const InternalGraph& graph = *m_documents[side]->graph;
        const std::vector<ExprId>& match = side == 0 ? m_pairs.ofFirst : m_pairs.ofSecond;
        std::vector<NodeId> nodes;
        for (std::size_t i = 0; i < match.size(); ++i)
            if (match[i].valid())
                nodes.insert(nodes.end(), graph.expr(ExprId(i)).outputs.begin(), graph.expr(ExprId(i)).outputs.end());
        return nodes;
    }

    bool noteFailure(const std::array<exec::Recording, 2>& recordings) {
        if (recordings[0].error && recordings[1].error) {
            m_found.note = "neither model runs on them: " + recordings[0].error->what;
            return false;
        }
        const std::size_t side = recordings[0].error ? 0 : 1;
        m_found.failure = OneFailure{side, recordings[side].failedAt, recordings[side].error->what};
        if (!recordings[side].failures.empty()) m_found.failure->at = recordings[side].failures.front().expr;
        return false;
    }

    /// Of all passes of a loop together.
    static Verdict compared(const exec::Recording& ours, NodeId a, const exec::Recording& theirs, NodeId b,
                            double& maxAbs) {
        const std::size_t passes = std::min(ours.iterations(a), theirs.iterations(b));
        Verdict verdict = Verdict::Unknown;
        for (std::size_t pass = 0; pass < passes; ++pass) {
            const auto x = analysis::asTensor(*ours.value(a, pass)), y = analysis::asTensor(*theirs.value(b, pass));
            if (!x || !y || x->shape() != y->shape()) return Verdict::Unknown;
            const analysis::Difference found =
                analysis::difference(*y, *x, analysis::Tolerances().of(y->dtype(), x->dtype()));
            maxAbs = std::max(maxAbs, found.maxAbsolute);
            if (!found.ok) return Verdict::Differs;
            verdict = Verdict::Agrees;
        }
        return verdict;
    }

    /// Differs if it does once; is not known if it was not known once.
    static Verdict both(Verdict known, Verdict now, bool isFirst) {
        if (isFirst || now == Verdict::Differs) return now;
        return known == now ? known : known == Verdict::Differs ? known : Verdict::Unknown;
    }

    void comparePairs(const std::array<exec::Recording, 2>& recordings) {
        const InternalGraph &first = *m_documents[0]->graph, &second = *m_documents[1]->graph;
        for (std::size_t i = 0; i < m_pairs.ofFirst.size(); ++i) {
            if (!m_pairs.ofFirst[i].valid()) continue;
            const auto &ours = first.expr(ExprId(i)).outputs, &theirs = second.expr(m_pairs.ofFirst[i]).outputs;
            Verdict all = Verdict::Unknown;
            for (std::size_t k = 0; k < ours.size() && k < theirs.size(); ++k) {
                // What nobody reads need not be computed.
                if (first.node(ours[k]).users.empty() && k > 0) continue;
                const Verdict one = compared(recordings[0], ours[k], recordings[1], theirs[k], m_found.maxAbs[i]);
                all = both(all, one, k == 0);
            }
            m_found.ofPair[i] = both(m_found.ofPair[i], all, m_found.runs == 1);
        }
    }

    void compareResults(const std::array<exec::Recording, 2>& recordings) {
        const auto &ours = recordings[0].outputs, &theirs = recordings[1].outputs;
        for (std::size_t i = 0; i < m_found.results.size() && i < ours.size() && i < theirs.size(); ++i) {
            const auto x = analysis::asTensor(ours[i]), y = analysis::asTensor(theirs[i]);
            if (m_found.results[i] == Verdict::Differs || !x || !y) continue;
            m_found.results[i] = Verdict::Agrees;
            if (x->shape() != y->shape()) {
                m_found.results[i] = Verdict::Differs;
                m_found.resultTexts[i] = "shape " + x->shape().text() + " -> " + y->shape().text();
                continue;
            }
            const analysis::Difference found =
                analysis::difference(*y, *x, analysis::Tolerances().of(y->dtype(), x->dtype()));
            if (found.ok) continue;
            m_found.results[i] = Verdict::Differs;
            m_found.resultTexts[i] = fmt::format("max abs {:.3g}", found.maxAbsolute);
        }
    }

    std::array<const document::Document*, 2> m_documents;
    const GraphPairs& m_pairs;
    const SameRunsRequest& m_request;
    exec::Runner m_runner;
    AloneRuns m_alone;
    SameRuns m_found;
};

/// Why the models are not run for a comparison that nobody gave an input for; empty: they are.
std::string tooLarge(const ModelInfo& a, const ModelInfo& b) {
    for (const ModelInfo* info : {&a, &b}) {
        if (info->graph->exprCount() > kMaxOperations) return "there are too many operations to run them";
        const auto products = info->cost.total.multiplyAdds.constant(),
                   bytes = info->cost.total.activationBytes.constant();
        if ((products && *products > kMaxMultiplyAdds) || (bytes && *bytes > kMaxBytes))
            return "they are too large to be run without being asked";
    }
    return {};
}

}  // namespace

bool SameRuns::haveSameResults() const {
    return runs > 0 && !results.empty() &&
           std::ranges::all_of(results, [](Verdict one) { return one == Verdict::Agrees; });
}

base::Result<SameRuns> runBoth(const document::Document& first, const document::Document& second, const ModelInfo& a,
                               const ModelInfo& b, const GraphPairs& pairs, const SameRunsRequest& request,
                               const base::WorkContext& work) {
    work.report("running the models");
    BothRuns both(first, second, pairs, request);
    SameRuns& found = both.found();
    found.isGiven = !request.inputs.empty();
    if (drawsNumbers(*first.graph) || drawsNumbers(*second.graph)) found.note = "they draw numbers";
    else if (first.inputs.size() != second.inputs.size()) found.note = "they have not as many inputs";
    else if (!found.isGiven) found.note = tooLarge(a, b);
    if (!found.note.empty()) return std::move(found);
    if (found.isGiven) {
        found.areValuesTold = found.areFailuresTold[0] = found.areFailuresTold[1] = true;
        SONDE_TRY(both.run(request.inputs, work));
        return std::move(found);
    }
    const InputMaker maker(first, second);
    found.areValuesTold = maker.areDeclared();
    for (std::size_t side = 0; side < 2; ++side)
        found.areFailuresTold[side] = maker.areSizesKnown() || maker.areDeclaredBy(side);
    const bool isHeavy = a.cost.total.multiplyAdds.constant().value_or(0) > kMaxForTwoRuns;
    bool areOpenOnesLarge = true;
    for (std::size_t i = 0; i < std::size(kMagnitudes); ++i) {
        const auto values = maker.make(kMagnitudes[i], request.seed, areOpenOnesLarge);
        if (!values) {
            found.note = values.error().what;
            break;
        }
        SONDE_ASSIGN(bool goesOn, both.run(*values, work));
        // A trace may be made for a batch of one.
        const bool isOfSize = !goesOn && i == 0 && areOpenOnesLarge && !maker.areSizesKnown() &&
                              (!found.failure || !found.areFailuresTold[found.failure->side]);
        if (isOfSize) {
            areOpenOnesLarge = false;
            found.failure.reset();
            found.note.clear();
            SONDE_ASSIGN(const auto smaller, maker.make(kMagnitudes[i], request.seed, areOpenOnesLarge));
            SONDE_ASSIGN(goesOn, both.run(smaller, work));
        }
        if (!goesOn || isHeavy) break;
    }
    if (found.runs == 0 && found.note.empty() && !found.failure) found.note = "their results are NaN";
    return std::move(found);
}

}  // namespace sonde::session::diff
