#include "ui/context/open_model.h"

#include "core/graph/source_files.h"
#include "ui/context/background.h"

namespace sonde::context {

OpenModel::OpenModel(session::Session& session) : m_session(session) {
    connect(&m_fileWatch, &FileWatch::changed, this, &OpenModel::fileChanged);
    connect(&m_fileWatch, &FileWatch::touched, this, &OpenModel::checkFiles);
}

QString OpenModel::fileProblem() const {
    const auto& error = m_session.runs().fileError();
    return error ? QString::fromStdString(error->what) : tr("model file changed on disk");
}

void OpenModel::setSummary(std::shared_ptr<const session::ModelInfo> summary) {
    if (summary == m_summary) return;
    freeLater(std::exchange(m_summary, std::move(summary)));
    Q_EMIT summaryChanged();
}

QStringList OpenModel::graphTitles() const {
    QStringList titles;
    if (!whole()) return titles;
    titles << (whole()->original ? tr("After passes") : tr("Whole model"));
    for (const int graph : m_graphs) {
        if (graph == kBeforePasses) {
            titles << tr("Before passes");
            continue;
        }
        const std::string& qualname = whole()->parts[static_cast<std::size_t>(graph)].qualname;
        titles << (qualname.empty() ? tr("Root module") : QString::fromStdString(qualname));
    }
    return titles;
}

int OpenModel::graphBeforePasses() const { return whole() && whole()->original ? 1 : -1; }

int OpenModel::graphOfModule(const QString& qualname) const {
    const std::string name = qualname.toStdString();
    int below = -1;
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        if (m_graphs[i] == kBeforePasses) continue;
        const std::string& part = whole()->parts[static_cast<std::size_t>(m_graphs[i])].qualname;
        const int number = static_cast<int>(i) + 1;
        if (part == name) return number;
        // A module that failed has no graph: what was traced of it is its children.
        if (below < 0 && !name.empty() && part.starts_with(name + '.')) below = number;
    }
    return below;
}

std::vector<std::pair<NodeId, OpenModel::PassMark>> OpenModel::passMarks() const {
    std::vector<std::pair<NodeId, PassMark>> marks;
    if (!whole() || !whole()->original) return marks;
    const bool before = m_shownGraph == graphBeforePasses();
    if (!before && m_shownGraph != 0) return marks;
    const auto add = [&](const std::vector<passes::NodeChange>& changes, PassMark mark) {
        for (const passes::NodeChange& change : changes) {
            // A node that one pass added and the next removed is in neither graph.
            if (!change.node.valid() || change.node.index() >= graph().nodeCount()) continue;
            if (!graph().isErased(graph().node(change.node).producer)) marks.emplace_back(change.node, mark);
        }
    };
    for (const passes::PassReport& report : whole()->passReports) {
        add(report.changed, PassMark::Changed);
        before ? add(report.went, PassMark::Removed) : add(report.came, PassMark::Added);
    }
    return marks;
}

std::shared_ptr<const document::Document> OpenModel::documentOfGraph(int graph) const {
    if (!whole() || graph < 0 || graph > static_cast<int>(m_graphs.size())) return nullptr;
    if (graph == 0) return whole();
    const int which = m_graphs[static_cast<std::size_t>(graph - 1)];
    return which == kBeforePasses ? document::documentBeforePasses(*whole())
                                  : document::documentOfPart(*whole(), static_cast<std::size_t>(which));
}

void OpenModel::setShown(std::shared_ptr<const layout::Outline> outline, int graph) {
    freeLater(std::exchange(m_outline, std::move(outline)));
    m_shownGraph = graph;
}

void OpenModel::followFile() {
    m_graphs.clear();
    if (!document()) return m_fileWatch.watch({});
    if (whole()->original) m_graphs.push_back(kBeforePasses);
    for (std::size_t i = 0; i < whole()->parts.size(); ++i)
        if (whole()->parts[i].graph) m_graphs.push_back(static_cast<int>(i));
    QStringList paths;
    for (const auto& file : graph::filesOf(document()->graph)) paths += QString::fromStdString(file->path().string());
    m_fileWatch.watch(QString::fromStdString(document()->location), paths);
}

}  // namespace sonde::context
