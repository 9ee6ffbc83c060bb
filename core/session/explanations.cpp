#include "core/session/explanations.h"

#include "core/graph/source_files.h"

namespace sonde::session {

namespace {

/// The values that the last run left.
class LastRunReader : public why::Reader {
  public:
    explicit LastRunReader(Session& session) : m_session(session) {}

    base::Result<tensor::Value> value(graph::NodeId node) override {
        m_session.values().request(node);
        if (const tensor::Value* const known = m_session.values().of(node)) return *known;
        const std::string name = m_session.document()->graph->node(node).name;
        return base::usageError("the value of '" + name + "' is not known", {},
                                "run the model to this node, or give the input");
    }

  private:
    Session& m_session;
};

}  // namespace

base::Result<why::Explanation> explain(Session& session, const why::Place& place, const why::Options& options,
                                       const base::WorkContext& work) {
    if (!session.document()) return base::usageError("no model is open");
    LastRunReader reader(session);
    SONDE_ASSIGN(why::Explanation explanation, why::explain(*session.document()->graph, place, reader, options, work));
    SONDE_TRY(graph::checkFiles(session.document()->graph));
    return explanation;
}

base::Result<why::ReceptiveField> receptiveField(Session& session, const why::Place& place,
                                                 const base::WorkContext& work) {
    if (!session.document()) return base::usageError("no model is open");
    LastRunReader reader(session);
    SONDE_ASSIGN(why::ReceptiveField field, why::receptiveField(*session.document()->graph, place, reader, work));
    SONDE_TRY(graph::checkFiles(session.document()->graph));
    return field;
}

}  // namespace sonde::session
