#include "core/graph/edit_origin.h"

namespace sonde::graph {

namespace {

std::string originNamed(const Expr& expr, std::string_view op) {
    const bool isIt = expr.origins.size() == 1 && expr.origins.front().op == op;
    return isIt ? expr.origins.front().name : std::string();
}

}  // namespace

std::string editedNodeOf(const Expr& expr) { return originNamed(expr, kEditOrigin); }
std::string editedWeightOf(const Expr& expr) { return originNamed(expr, kWeightEditOrigin); }

}  // namespace sonde::graph
