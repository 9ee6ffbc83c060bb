// The part of InspectorContext that traces again and chooses among a model's graphs.

#include "ui/context/inspector_context.h"
#include "ui/context/stored.h"

namespace sonde::context {

namespace {

const QString kLeaves = QStringLiteral("tracing/leaves");
const QString kGroups = QStringLiteral("tracing/groups");

}  // namespace

QStringList InspectorContext::registeredLeaves() { return stored(kLeaves).toStringList(); }

void InspectorContext::setRegisteredLeaves(const QStringList& classes) { store(kLeaves, classes); }

bool InspectorContext::findsGroups() { return stored(kGroups, true).toBool(); }

void InspectorContext::setFindsGroups(bool finds) { store(kGroups, finds); }

void InspectorContext::retrace(const document::OpenOptions& options) {
    if (!wholeDocument() || m_location.isEmpty()) return;
    if (document()) keep();
    m_traceOptions = options;
    load();
}

QStringList InspectorContext::graphTitles() const {
    QStringList titles;
    if (!wholeDocument()) return titles;
    titles << (wholeDocument()->original ? tr("After passes") : tr("Whole model"));
    for (const int graph : m_graphs) {
        if (graph == kBeforePasses) {
            titles << tr("Before passes");
            continue;
        }
        const std::string& qualname = wholeDocument()->parts[static_cast<std::size_t>(graph)].qualname;
        titles << (qualname.empty() ? tr("Root module") : QString::fromStdString(qualname));
    }
    return titles;
}

int InspectorContext::graphBeforePasses() const { return wholeDocument() && wholeDocument()->original ? 1 : -1; }

int InspectorContext::graphOfModule(const QString& qualname) const {
    const std::string name = qualname.toStdString();
    int below = -1;
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        if (m_graphs[i] == kBeforePasses) continue;
        const std::string& part = wholeDocument()->parts[static_cast<std::size_t>(m_graphs[i])].qualname;
        const int number = static_cast<int>(i) + 1;
        if (part == name) return number;
        // A module that failed has no graph: what was traced of it is its children.
        if (below < 0 && !name.empty() && part.starts_with(name + '.')) below = number;
    }
    return below;
}

std::vector<std::pair<NodeId, InspectorContext::PassMark>> InspectorContext::passMarks() const {
    std::vector<std::pair<NodeId, PassMark>> marks;
    if (!wholeDocument() || !wholeDocument()->original) return marks;
    const bool before = m_shownGraph == graphBeforePasses();
    if (!before && m_shownGraph != 0) return marks;
    const auto add = [&](const std::vector<passes::NodeChange>& changes, PassMark mark) {
        for (const passes::NodeChange& change : changes) {
            // A node that one pass added and the next removed is in neither graph.
            if (!change.node.valid() || change.node.index() >= graph().nodeCount()) continue;
            if (!graph().isErased(graph().node(change.node).producer)) marks.emplace_back(change.node, mark);
        }
    };
    for (const passes::PassReport& report : wholeDocument()->passReports) {
        add(report.changed, PassMark::Changed);
        before ? add(report.went, PassMark::Removed) : add(report.came, PassMark::Added);
    }
    return marks;
}

void InspectorContext::showGraph(int graph) {
    if (!wholeDocument() || graph == m_shownGraph || graph < 0 || graph > static_cast<int>(m_graphs.size())) return;
    std::shared_ptr<const document::Document> chosen = wholeDocument();
    if (graph > 0) {
        const int which = m_graphs[static_cast<std::size_t>(graph - 1)];
        chosen = which == kBeforePasses ? document::documentBeforePasses(*wholeDocument())
                                        : document::documentOfPart(*wholeDocument(), static_cast<std::size_t>(which));
    }
    if (!chosen) return;
    keep();
    m_shownGraph = graph;
    auto outline = std::make_shared<const layout::Outline>(chosen->graph);
    display(std::move(chosen), std::move(outline), wholeDocument());
    Q_EMIT documentOpened();
    Q_EMIT historyChanged();
}

}  // namespace sonde::context
