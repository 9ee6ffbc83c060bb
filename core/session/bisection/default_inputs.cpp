#include "core/session/bisection/default_inputs.h"

#include <algorithm>

#include "core/document/input_infos.h"
#include "core/exec/flatten.h"
#include "core/graph/traits.h"

namespace sonde::session::bisection {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::InputRole;
using operators::OpClass;

namespace {

/// The result has the numbers that the operation reads.
bool handsOn(const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    return traits.is(operators::Trait::MovesData) || traits.opClass == OpClass::Cast ||
           traits.opClass == OpClass::View || traits.opClass == OpClass::Clone || traits.opClass == OpClass::Identity;
}

std::optional<std::int64_t> sizeOf(const graph::Node& table, std::int64_t axis) {
    std::optional<tensor::Shape> shape;
    if (table.constant && table.constant->isTensor()) shape = table.constant->tensor().shape();
    else if (table.type.isTensor()) shape = table.type.staticShape();
    if (!shape) return std::nullopt;
    if (axis < 0) axis += static_cast<std::int64_t>(shape->rank());
    if (axis < 0 || axis >= static_cast<std::int64_t>(shape->rank())) return std::nullopt;
    return (*shape)[static_cast<std::size_t>(axis)];
}

/// Follows an input to what chooses by it.
class TableSearch {
  public:
    TableSearch(const InternalGraph& graph, NodeId input)
        : m_graph(graph), m_sources(exec::valueSources(graph)), m_isReached(graph.nodeCount(), false) {
        m_isReached[m_sources[input.index()].index()] = true;
    }

    std::optional<std::int64_t> run() {
        for (const ExprId id : m_graph.recursiveOrder(m_graph.mainId())) {
            const Expr& expr = m_graph.expr(id);
            if (std::ranges::none_of(expr.inputs, [&](NodeId node) { return isReached(node); })) continue;
            if (look(expr) || !handsOn(expr)) continue;
            for (const NodeId output : expr.outputs) m_isReached[m_sources[output.index()].index()] = true;
        }
        return m_rows;
    }

  private:
    bool isReached(NodeId node) const { return m_isReached[m_sources[node.index()].index()]; }
    bool isReached(const std::vector<Argument>& arguments, std::size_t at) const {
        return at < arguments.size() && arguments[at].kind == Argument::Kind::Node && isReached(arguments[at].node);
    }

    /// Whether the operation chooses by the input.
    bool look(const Expr& expr) {
        const operators::Traits& traits = graph::traitsOf(expr);
        const bool isLookup = traits.opClass == OpClass::Embedding || traits.inputRole(0) == InputRole::Embedding;
        if (!isLookup || !isReached(expr.arguments, 1) || isReached(expr.arguments, 0)) return false;
        if (expr.arguments.front().kind != Argument::Kind::Node) return true;
        const NodeId table = m_sources[expr.arguments.front().node.index()];
        const auto rows = sizeOf(m_graph.node(table), expr.attributes.getInt("axis", 0));
        if (rows && *rows > 0) m_rows = std::min(m_rows.value_or(*rows), *rows);
        return true;
    }

    const InternalGraph& m_graph;
    std::vector<NodeId> m_sources;
    std::vector<bool> m_isReached;  ///< by source
    std::optional<std::int64_t> m_rows;
};

bool mayBeInteger(const tensor::TypeInfo& type) {
    return type.isTensor() && (type.dtype == tensor::DType::Undefined || tensor::isInteger(type.dtype));
}

/// Whether a specification can name the input.
bool isInSpecifications(const std::string& name) { return name.find_first_of(":;") == std::string::npos; }

/// Positions of inputs of integers whose elements are all 0.
std::vector<std::size_t> zeroInputs(const InternalGraph& graph, const std::vector<tensor::Value>& inputs) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i) {
        if (!inputs[i].isTensor()) continue;
        const tensor::Tensor& tensor = inputs[i].tensor();
        if (!tensor::isInteger(tensor.dtype()) || tensor.numel() == 0) continue;
        bool areZero = true;
        for (std::int64_t element = 0; areZero && element < tensor.numel(); ++element)
            areZero = tensor.toInt64(element) == 0;
        if (areZero) found.push_back(i);
    }
    return found;
}

}  // namespace

std::optional<std::int64_t> tableRows(const InternalGraph& graph, NodeId input) {
    return TableSearch(graph, input).run();
}

std::string defaultInputs(const document::Document& document) {
    std::string spec;
    bool hasTable = false;
    const std::vector<io::InputInfo> infos = document::inputInfos(document);
    for (std::size_t i = 0; i < infos.size() && i < document.inputs.size(); ++i) {
        const io::InputInfo& info = infos[i];
        if (!isInSpecifications(info.name)) return {};
        const auto rows = mayBeInteger(info.type) ? tableRows(*document.graph, document.inputs[i].node) : std::nullopt;
        hasTable = hasTable || rows;
        spec += (spec.empty() ? "" : ";") + info.name + ":" +
                (rows ? "#rand(0," + std::to_string(*rows) + ")" : io::defaultItem(info));
    }
    return hasTable ? spec : std::string();
}

std::vector<std::string> notesOnDefaults(const InternalGraph& graph, const std::vector<tensor::Value>& inputs) {
    std::vector<std::string> notes;
    for (const std::size_t i : zeroInputs(graph, inputs)) {
        const NodeId input = graph.inputs()[i];
        const auto rows = tableRows(graph, input);
        if (!rows || *rows < 2) continue;
        const std::string& name = graph.node(input).name;
        std::string note = "input '" + name + "' is 0 everywhere, which is row 0 of " + std::to_string(*rows);
        if (isInSpecifications(name))
            note += ": --input-data \"" + name + ":#rand(0," + std::to_string(*rows) + ")\" draws from all";
        notes.push_back(std::move(note));
    }
    return notes;
}

std::vector<std::string> notesOnZeros(const InternalGraph& graph, const std::vector<tensor::Value>& inputs) {
    std::vector<std::string> notes;
    for (const std::size_t i : zeroInputs(graph, inputs))
        notes.push_back("input '" + graph.node(graph.inputs()[i]).name +
                        "' is 0 everywhere: that says little of other numbers, which --input-data gives");
    return notes;
}

}  // namespace sonde::session::bisection
