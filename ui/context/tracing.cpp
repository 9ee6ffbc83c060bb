// The part of InspectorContext that traces again and chooses among a model's graphs.

#include <QSettings>

#include "ui/context/inspector_context.h"

namespace sonde::context {

namespace {

const QString kLeaves = QStringLiteral("tracing/leaves");

}  // namespace

QStringList InspectorContext::registeredLeaves() { return QSettings().value(kLeaves).toStringList(); }

void InspectorContext::setRegisteredLeaves(const QStringList& classes) { QSettings().setValue(kLeaves, classes); }

void InspectorContext::retrace(const document::OpenOptions& options) {
    if (!m_whole || m_location.isEmpty()) return;
    if (m_document) keep();
    m_traceOptions = options;
    load();
}

QStringList InspectorContext::graphTitles() const {
    QStringList titles;
    if (!m_whole) return titles;
    titles << tr("Whole model");
    for (const int part : m_graphs) {
        const document::Part& one = m_whole->parts[static_cast<std::size_t>(part)];
        titles << (one.qualname.empty() ? tr("Root module") : QString::fromStdString(one.qualname));
    }
    return titles;
}

int InspectorContext::graphOfModule(const QString& qualname) const {
    const std::string name = qualname.toStdString();
    for (std::size_t i = 0; i < m_graphs.size(); ++i)
        if (m_whole->parts[static_cast<std::size_t>(m_graphs[i])].qualname == name) return static_cast<int>(i) + 1;
    // A module that failed has no graph: what was traced of it is its children.
    for (std::size_t i = 0; i < m_graphs.size() && !name.empty(); ++i)
        if (m_whole->parts[static_cast<std::size_t>(m_graphs[i])].qualname.starts_with(name + '.')) return static_cast<int>(i) + 1;
    return -1;
}

void InspectorContext::showGraph(int graph) {
    if (!m_whole || graph == m_shownGraph || graph < 0 || graph > static_cast<int>(m_graphs.size())) return;
    std::shared_ptr<const document::Document> chosen =
        graph == 0 ? m_whole : document::documentOfPart(*m_whole, static_cast<std::size_t>(m_graphs[static_cast<std::size_t>(graph - 1)]));
    if (!chosen) return;
    keep();
    m_shownGraph = graph;
    auto outline = std::make_shared<const layout::Outline>(chosen->graph);
    display(std::move(chosen), std::move(outline));
    Q_EMIT documentOpened();
    Q_EMIT historyChanged();
}

QString InspectorContext::inputData() const {
    QStringList items;
    for (const ModelInput& input : m_inputs)
        if (!input.spec.source.isEmpty()) items << input.name + QLatin1Char(':') + input.spec.source;
    return items.join(QLatin1Char(';'));
}

}  // namespace sonde::context
