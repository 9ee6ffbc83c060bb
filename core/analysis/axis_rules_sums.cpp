#include <algorithm>
#include <string>

#include "core/analysis/axis_rules.h"
#include "core/graph/traits.h"

namespace sonde::analysis::axes {

using operators::OpClass;

std::vector<AxisMove> linear(const CallArguments&, const Operand& operand) {
    if (operand.argument != 0) return {};
    std::vector<AxisMove> moves = moved(operand);
    if (!moves.empty()) moves.back().axis.reset();
    return moves;
}

/// [… , i, k]·[… , k, j]: k is summed over. A vector has k alone.
std::vector<AxisMove> product(const CallArguments& call, const Operand& operand) {
    const graph::Expr& expr = call.expr();
    const bool isAten = expr.op.domain == "aten";
    const OpClass opClass = graph::traitsOf(expr).opClass;
    // addmm and baddbmm have what is added first, Gemm last; it is broadcast.
    const bool hasSummandFirst = isAten && call.has("beta");
    const std::size_t left = hasSummandFirst ? 1 : 0;
    // Quantised products have scale and zero point behind each factor.
    const bool isQuantised = !isAten && expr.arguments.size() > 4;
    const std::size_t right = isQuantised ? 3 : left + 1;
    if (operand.argument != left && operand.argument != right) {
        const bool isSummand = opClass == OpClass::AddMatrixProduct || hasSummandFirst;
        return isSummand ? broadcast(call, operand) : std::vector<AxisMove>();
    }
    const bool isLeft = operand.argument == left;
    const std::size_t rank = rankOf(operand.type), all = rankOf(operand.result);
    if (rank < 2 || all < rank) return {};
    const bool isTurned = expr.attributes.getInt(isLeft ? "transA" : "transB", 0) != 0;
    std::vector<AxisMove> moves = moved(operand, static_cast<std::int64_t>(all - rank));
    const std::size_t row = isTurned ? rank - 1 : rank - 2, column = isTurned ? rank - 2 : rank - 1;
    moves[row].axis = all - 2;
    moves[column].axis = all - 1;
    moves[isLeft ? column : row].axis.reset();
    return moves;
}

/// By the letters of each operand and of the result.
std::vector<AxisMove> einsum(const CallArguments& call, const Operand& operand) {
    std::string equation = call.expr().attributes.getString("equation", "");
    std::erase(equation, ' ');
    const std::size_t arrow = equation.find("->");
    if (arrow == std::string::npos || equation.find('.') != std::string::npos) return {};
    const std::string result = equation.substr(arrow + 2);
    std::string rest = equation.substr(0, arrow);
    for (std::size_t i = 0; i < operand.argument && !rest.empty(); ++i) {
        const std::size_t comma = rest.find(',');
        rest = comma == std::string::npos ? std::string() : rest.substr(comma + 1);
    }
    const std::string letters = rest.substr(0, rest.find(','));
    if (letters.size() != rankOf(operand.type)) return {};
    std::vector<AxisMove> moves(letters.size());
    for (std::size_t axis = 0; axis < letters.size(); ++axis)
        if (const std::size_t at = result.find(letters[axis]); at != std::string::npos) moves[axis].axis = at;
    return moves;
}

/// softmax(q·kᵀ)·v, [… , positions, size]: a position of the query sees all of the keys.
std::vector<AxisMove> attended(const CallArguments&, const Operand& operand) {
    std::vector<AxisMove> moves = moved(operand);
    if (rankOf(operand.result) != moves.size() || moves.size() < 3) return {};
    moves.back().axis.reset();
    if (operand.argument != 0) moves[moves.size() - 2].axis.reset();
    return moves;
}

/// Steps see all others; sequences stay apart. ONNX: X [steps, batch, size], Y [steps, directions, batch, size].
std::vector<AxisMove> recurrent(const CallArguments& call, const Operand& operand) {
    if (operand.argument != 0 || rankOf(operand.type) != 3) return {};
    std::vector<AxisMove> moves(3);
    if (call.expr().op.domain == "aten") {
        const auto first = CallArguments::integer(call.named("batch_first"));
        if (!first) return {};
        moves[*first != 0 ? 0 : 1].axis = operand.output == 0 && *first != 0 ? 0 : 1;
        return moves;
    }
    const bool isFirst = call.expr().attributes.getInt("layout", 0) != 0;
    if (isFirst) moves[0].axis = 0;
    else moves[1].axis = operand.output == 0 ? 2 : 1;
    return moves;
}

std::vector<AxisMove> reduced(const CallArguments& call, const Operand& operand) {
    if (operand.argument != 0) return {};
    const std::size_t rank = rankOf(operand.type), left = rankOf(operand.result);
    std::vector<std::int64_t> axes = call.expr().attributes.getInts("axes");
    const bool isAten = call.expr().op.domain == "aten";
    if (isAten) axes = CallArguments::integers(call.named("dim")).value_or(std::vector<std::int64_t>());
    else if (axes.empty()) axes = CallArguments::integers(call.at(1)).value_or(std::vector<std::int64_t>());
    std::vector<bool> isReduced(rank, false);
    for (const std::int64_t axis : axes) {
        const auto found = axisOf(axis, rank);
        if (!found) return {};
        isReduced[*found] = true;
    }
    const auto count = static_cast<std::size_t>(std::ranges::count(isReduced, true));
    if (count == 0 || (left != rank && left + count != rank)) return {};
    std::vector<AxisMove> moves(rank);
    std::size_t to = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        if (!isReduced[axis]) moves[axis].axis = to;
        if (!isReduced[axis] || left == rank) ++to;
    }
    return moves;
}

}  // namespace sonde::analysis::axes
