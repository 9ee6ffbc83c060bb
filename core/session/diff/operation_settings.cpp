#include "core/session/diff/operation_settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "core/analysis/call_arguments.h"
#include "core/graph/traits.h"
#include "core/session/diff/parameter_layout.h"
#include "core/session/diff/stored_tensors.h"
#include "core/session/watch/plain_operator.h"

namespace sonde::session::diff {

using analysis::CallArguments;
using graph::Expr;
using graph::InternalGraph;
using operators::OpClass;
using Numbers = std::vector<double>;

namespace {

constexpr std::string_view kOrder = "order of dimensions", kSlice = "dimension, start, end, step";

/// A number that ONNX has as an attribute and ATen as an argument. An empty name: the vocabulary has only the default.
struct NumberRow {
    std::string_view operation, name, attribute, argument;
    double onnxDefault, atenDefault;
};
constexpr std::array<NumberRow, 12> kNumbers{
    {{"elu", "alpha", "alpha", "alpha", 1, 1},
     {"celu", "alpha", "alpha", "alpha", 1, 1},
     {"leakyrelu", "alpha", "alpha", "negative_slope", 0.01, 0.01},
     {"selu", "alpha", "alpha", "", 1.67326319217681884765625, 1.67326319217681884765625},
     {"selu", "gamma", "gamma", "", 1.05070102214813232421875, 1.05070102214813232421875},
     {"hardsigmoid", "alpha", "alpha", "", 0.2, 1.0 / 6},
     {"hardsigmoid", "beta", "beta", "", 0.5, 0.5},
     {"softplus", "beta", "", "beta", 1, 1},
     {"gemm", "alpha", "alpha", "alpha", 1, 1},
     {"gemm", "beta", "beta", "beta", 1, 1},
     {"batchnormalization", "epsilon", "epsilon", "eps", 1e-5, 1e-5},
     {"layernormalization", "epsilon", "epsilon", "eps", 1e-5, 1e-5}}};

std::optional<double> numberOf(const tensor::Value& value) {
    if (value.kind() == tensor::ValueKind::Float) return value.toFloat();
    if (const auto whole = CallArguments::integer(value)) return static_cast<double>(*whole);
    if (value.isTensor() && value.tensor().numel() == 1 && tensor::isFloating(value.tensor().dtype()))
        return value.tensor().toDouble(0);
    return std::nullopt;
}

/// Reads one operation.
class SettingReader {
  public:
    SettingReader(const InternalGraph& graph, const Expr& expr, std::int64_t rank)
        : m_expr(expr), m_arguments(graph, expr), m_isAten(expr.op.domain == "aten"), m_rank(rank) {}

    std::vector<OperationSetting> settings() {
        if (m_expr.op.name.empty() || !(m_isAten || m_expr.op.domain.empty())) return {};
        const std::string plain = plainOperator(m_expr);
        for (const NumberRow& row : kNumbers)
            if (row.operation == plain) addNumber(row);
        switch (graph::traitsOf(m_expr).opClass) {
            case OpClass::MaxPool:
            case OpClass::AveragePool: addFlag("ceil_mode", "ceil_mode"); break;
            case OpClass::Transpose: addOrder(); break;
            case OpClass::Select:
            case OpClass::Index: addIndexedAxis(plain); break;
            case OpClass::Slice: addSlice(); break;
            case OpClass::Sum:
            case OpClass::Mean:
            case OpClass::Reduce: addReduced(); break;
            case OpClass::Clip: addLimits(); break;
            case OpClass::BatchNorm:
            case OpClass::BatchNormWithStatistics: addTraining(); break;
            case OpClass::Add:
            case OpClass::Sub:
            case OpClass::ReverseSub:
            case OpClass::Mul:
            case OpClass::Div:
            case OpClass::Pow: addNumberOperand(); break;
            default:
                if (graph::traitsOf(m_expr).is(operators::Trait::Broadcasts)) addNumberOperand();
                break;
        }
        return std::move(m_settings);
    }

  private:
    void add(std::string_view name, Numbers values) { m_settings.push_back({name, std::move(values)}); }

    void addNumber(const NumberRow& row) {
        double value = m_isAten ? row.atenDefault : row.onnxDefault;
        if (!m_isAten && !row.attribute.empty()) value = m_expr.attributes.getFloat(row.attribute, value);
        if (m_isAten && !row.argument.empty()) {
            const tensor::Value given = m_arguments.named(row.argument);
            const auto number = numberOf(given);
            if (!number && !given.isNone()) return;
            value = number.value_or(value);
        }
        add(row.name, {value});
    }

    void addFlag(std::string_view attribute, std::string_view argument) {
        const auto given = m_isAten ? CallArguments::integer(m_arguments.named(argument)).value_or(0)
                                    : m_expr.attributes.getInt(attribute, 0);
        add(attribute, {given != 0 ? 1.0 : 0.0});
    }

    std::optional<double> fromFront(std::int64_t axis) const {
        if (axis >= 0) return static_cast<double>(axis);
        return m_rank < 0 ? std::nullopt : std::optional(static_cast<double>(axis + m_rank));
    }
    void addAxes(const std::vector<std::int64_t>& axes) {
        Numbers values;
        for (const std::int64_t axis : axes) {
            const auto value = fromFront(axis);
            if (!value) return;
            values.push_back(*value);
        }
        std::ranges::sort(values);
        add("axes", std::move(values));
    }

    /// Which dimension of the operand each dimension of the result is.
    void addOrder() {
        if (m_rank < 0) return;
        const auto rank = static_cast<std::size_t>(m_rank);
        std::vector<std::int64_t> order(rank);
        for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::int64_t>(i);
        if (!m_isAten) {
            order = m_expr.attributes.getInts("perm");
            if (order.size() != rank) return;
        } else if (const auto dims = CallArguments::integers(m_arguments.named("dims"))) {
            order = *dims;
        } else {
            const auto one = CallArguments::integer(m_arguments.named("dim0")),
                       other = CallArguments::integer(m_arguments.named("dim1"));
            if (!one || !other) return;
            const auto a = fromFront(*one), b = fromFront(*other);
            if (*a < 0 || *b < 0 || *a >= static_cast<double>(rank) || *b >= static_cast<double>(rank)) return;
            std::swap(order[static_cast<std::size_t>(*a)], order[static_cast<std::size_t>(*b)]);
        }
        Numbers values;
        for (const std::int64_t axis : order) values.push_back(*fromFront(axis));
        add(kOrder, std::move(values));
    }

    /// Of select and Gather; a slice of Python says it in another form.
    void addIndexedAxis(const std::string& plain) {
        if (m_isAten && !m_arguments.has("dim")) return;
        const auto axis = m_isAten            ? CallArguments::integer(m_arguments.named("dim"))
                          : plain == "gather" ? std::optional(m_expr.attributes.getInt("axis", 0))
                                              : std::nullopt;
        if (axis) addAxes({*axis});
    }

    /// Of one dimension: from where, to where and in which steps. A file may take several slices for one of the other.
    void addSlice() {
        constexpr double kEnd = 1LL << 40;  // what PyTorch and exporters write for "to the end" is larger
        const auto given = [this](std::string_view argument, std::size_t position) {
            const auto values =
                CallArguments::integers(m_isAten ? m_arguments.named(argument) : m_arguments.at(position));
            return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
        };
        const auto axis = given("dim", 3), start = given("start", 1), end = given("end", 2), step = given("step", 4);
        const auto front = axis ? fromFront(*axis) : std::nullopt;
        if (!front || !start || !end) return;
        add(kSlice, {*front, static_cast<double>(*start), std::min(static_cast<double>(*end), kEnd),
                     static_cast<double>(step.value_or(1))});
    }

    void addReduced() {
        if (m_isAten) {
            const auto axes = CallArguments::integers(m_arguments.named("dim"));
            if (!axes) return;
            if (!axes->empty()) addAxes(*axes);
            add("keepdims", {CallArguments::integer(m_arguments.named("keepdim")).value_or(0) != 0 ? 1.0 : 0.0});
            return;
        }
        std::vector<std::int64_t> axes = m_expr.attributes.getInts("axes");
        if (const auto given = CallArguments::integers(m_arguments.at(1)); given && axes.empty()) axes = *given;
        if (!axes.empty()) addAxes(axes);
        add("keepdims", {m_expr.attributes.getInt("keepdims", 1) != 0 ? 1.0 : 0.0});
    }

    /// Whether a batch norm takes the statistics of its input; a script may compute it.
    void addTraining() {
        const auto given = m_isAten ? CallArguments::integer(m_arguments.named("training"))
                                    : std::optional(m_expr.attributes.getInt("training_mode", 0));
        if (given) add("training mode", {*given != 0 ? 1.0 : 0.0});
    }

    void addLimits() {
        const auto limit = [this](std::string_view name, std::string_view argument, std::size_t position) {
            std::optional<double> value;
            if (m_isAten) value = numberOf(m_arguments.named(argument));
            else if (m_expr.attributes.has(argument)) value = m_expr.attributes.getFloat(argument, 0);
            else value = numberOf(m_arguments.at(position));
            if (value) add(name, {*value});
        };
        limit("min", "min", 1);
        limit("max", "max", 2);
    }

    /// x + 2: of one operand that is a number.
    void addNumberOperand() {
        if (m_isAten)
            if (const auto alpha = numberOf(m_arguments.named("alpha")); alpha && *alpha != 1) return;
        const std::size_t operands =
            m_isAten ? std::min<std::size_t>(m_expr.arguments.size(), 2) : m_expr.arguments.size();
        if (operands != 2) return;
        const std::array<std::optional<double>, 2> numbers{numberOf(m_arguments.at(0)), numberOf(m_arguments.at(1))};
        if (numbers[0].has_value() == numbers[1].has_value()) return;
        std::size_t position = numbers[0] ? 0 : 1;
        add(kNumberOperand, {*numbers[position]});
        switch (graph::traitsOf(m_expr).opClass) {
            case OpClass::ReverseSub: position = 1 - position; [[fallthrough]];
            case OpClass::Sub:
            case OpClass::Div:
            case OpClass::Pow: add("operand that is a number", {static_cast<double>(position)}); break;
            default: break;
        }
    }

    const Expr& m_expr;
    CallArguments m_arguments;
    bool m_isAten;
    std::int64_t m_rank;
    std::vector<OperationSetting> m_settings;
};

std::int64_t rankOfOperand(const InternalGraph& graph, const Expr& expr) {
    if (expr.inputs.empty()) return -1;
    const auto& shape = graph.node(expr.inputs.front()).type.shape;
    return shape ? std::ssize(*shape) : -1;
}

bool areSameNumbers(const Numbers& a, const Numbers& b) {
    return std::ranges::equal(a, b, [](double x, double y) {
        return static_cast<float>(x) == static_cast<float>(y) || (std::isnan(x) && std::isnan(y));
    });
}

std::string textOf(const Numbers& numbers) {
    std::string text;
    for (const double number : numbers) text += fmt::format("{}{:g}", text.empty() ? "" : ", ", number);
    return text.empty() ? "none" : text;
}

}  // namespace

std::vector<OperationSetting> operationSettings(const InternalGraph& graph, const Expr& expr, std::int64_t rank) {
    return SettingReader(graph, expr, rank).settings();
}

std::string otherSettings(const InternalGraph& first, const Expr& ours, const InternalGraph& second, const Expr& theirs,
                          bool readTheSame) {
    const std::int64_t rank = std::max(rankOfOperand(first, ours), rankOfOperand(second, theirs));
    const std::vector<OperationSetting> others = operationSettings(second, theirs, rank);
    std::string text;
    for (const OperationSetting& own : operationSettings(first, ours, rank)) {
        const auto same = std::ranges::find(others, own.name, &OperationSetting::name);
        if ((own.name == kOrder || own.name == kSlice) && !readTheSame) continue;
        if (same == others.end() || areSameNumbers(own.values, same->values)) continue;
        text +=
            fmt::format("{}{}: {} -> {}", text.empty() ? "" : "; ", own.name, textOf(own.values), textOf(same->values));
    }
    return text;
}

std::string otherReading(const InternalGraph& first, const Expr& ours, const InternalGraph& second,
                         const Expr& theirs) {
    const auto matrixOf = [](const InternalGraph& graph, const Expr& expr) {
        for (const graph::NodeId node : storedInputs(graph, expr.id))
            if (const auto& constant = graph.node(node).constant;
                constant && constant->isTensor() && constant->tensor().rank() == 2)
                return node;
        return graph::NodeId();
    };
    if (!graph::traitsOf(ours).is(operators::Trait::Multiplies)) return {};
    const graph::NodeId a = matrixOf(first, ours), b = matrixOf(second, theirs);
    if (!a.valid() || !b.valid()) return {};
    const auto own = isOutputFirst(first, a, ours.id), other = isOutputFirst(second, b, theirs.id);
    if (!own || !other || own == other) return {};
    const tensor::Tensor &x = first.node(a).constant->tensor(), &y = second.node(b).constant->tensor();
    if (!areEqual(x, y) || areEqual(y, y.transposed(0, 1))) return {};  // symmetric
    return fmt::format("weight: read as {} -> {}", *own ? "[out, in]" : "[in, out]",
                       *other ? "[out, in]" : "[in, out]");
}

}  // namespace sonde::session::diff
