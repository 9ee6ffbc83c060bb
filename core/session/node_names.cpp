#include "core/session/node_names.h"

namespace sonde::session {

using graph::NodeId;
using tensor::Value;

expression::Names nodeNames(const document::Document& document, std::function<const Value*(NodeId)> value) {
    return [&document, value = std::move(value)](std::string_view name) -> base::Result<Value> {
        SONDE_ASSIGN(const NodeId node, document.findNode(name));
        if (const Value* const known = value(node)) return *known;
        return base::usageError("the value of '" + std::string(name) + "' is not known", {},
                                "run the model to this node, or give the input");
    };
}

}  // namespace sonde::session
