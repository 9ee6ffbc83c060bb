#include "core/graph/edit_origin.h"

namespace sonde::graph {

std::string editedNodeOf(const Expr& expr) {
    const bool isEdit = expr.origins.size() == 1 && expr.origins.front().op == kEditOrigin;
    return isEdit ? expr.origins.front().name : std::string();
}

}  // namespace sonde::graph
