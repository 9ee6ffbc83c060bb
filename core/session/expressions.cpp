#include "core/session/expressions.h"

namespace sonde::session {

using graph::NodeId;
using tensor::Value;

base::Result<Value> evaluate(Session& session, std::string_view text, const base::WorkContext& work) {
    if (!session.document()) return base::usageError("no model is open");
    SONDE_ASSIGN(const expression::Expression parsed, expression::parse(text));
    for (const std::string& name : parsed.names())
        if (const auto node = session.document()->findNode(name)) session.values().request(*node);
    const auto value = [&session](NodeId node) { return session.values().of(node); };
    return expression::evaluate(parsed, nodeNames(*session.document(), value), work);
}

}  // namespace sonde::session
