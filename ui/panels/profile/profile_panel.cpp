#include "ui/panels/profile/profile_panel.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QListWidget>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "core/analysis/profile/profile_json.h"
#include "core/session/edits/run_edits.h"
#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"
#include "ui/models/roles.h"
#include "ui/models/short_text.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/progress_strip.h"

namespace sonde::panels {

using context::InspectorContext;

namespace {

const QString kRun = QStringLiteral("run.profile");
const QString kSave = QStringLiteral("profile.save");
const QString kCompare = QStringLiteral("profile.compare");

constexpr int kMinTop = 300;  ///< pixels of the summary with its buttons, beside the tabs
constexpr int kWidths[] = {300, 110, 84, 64, 84, 56, 104, 96, 76, 70, 88, 96};
/// In the order of the tabs: how scripts call them.
const char* const kTabs[] = {"nodes", "modules", "timeline", "memory", "roofline", "other"};

/// A line with as much room as it is told, which may also get less.
class TopLine : public QWidget {
  public:
    using QWidget::QWidget;
    /// Whether it is another than before.
    bool setRoom(int room) { return std::exchange(m_room, room) != room; }
    QSize sizeHint() const override { return {m_room, QWidget::sizeHint().height()}; }
    QSize minimumSizeHint() const override { return {0, QWidget::minimumSizeHint().height()}; }

  private:
    int m_room = 0;
};

QListWidget* makeLines(const QString& name, QWidget* parent) {
    auto* list = new QListWidget(parent);
    list->setAccessibleName(name);
    list->setFrameShape(QFrame::NoFrame);
    list->setAlternatingRowColors(true);
    list->setTextElideMode(Qt::ElideRight);
    list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    return list;
}

base::Error noProfile() {
    return base::usageError("there is no profile", {}, "Run \u203a Profile \u203a Profile This Run makes one");
}

}  // namespace

ProfilePanel::ProfilePanel(const session::Session& session, context::OpenModel& opened, context::Navigation& navigation,
                           context::Runs& runs, context::Messages& messages, context::Profile& shared,
                           context::Edits& edits, QWidget* parent)
    : Panel(parent), m_session(session), m_opened(opened), m_navigation(navigation), m_runs(runs), m_messages(messages),
      m_shared(shared), m_nodeModel(ProfileTableModel::Rows::Nodes), m_moduleModel(ProfileTableModel::Rows::Modules),
      m_progress(new widgets::ProgressStrip(this)), m_top(new TopLine(this)),
      m_summary(new widgets::ElidedLabel({}, m_top)), m_tabs(new QTabWidget(this)),
      m_nodes(makeTableView(tr("Profile by node"), this)), m_modules(makeTableView(tr("Profile by module"), this)),
      m_spans(new SpanPlot(tr("Timeline of the profile"), this)),
      m_memory(new MemoryPlot(tr("Memory over time"), this)), m_roofline(new RooflinePlot(tr("Roofline"), this)),
      m_alive(makeLines(tr("What the peak is made of"), this)),
      m_other(makeLines(tr("Not found in both profiles"), this)) {
    m_nodes->setObjectName(QStringLiteral("profileNodes"));
    m_modules->setObjectName(QStringLiteral("profileModules"));
    m_tabs->setObjectName(QStringLiteral("profileTabs"));
    m_tabs->setDocumentMode(true);
    m_summary->setElideMode(Qt::ElideRight);
    m_nodeProxy.setSourceModel(&m_nodeModel);
    m_moduleProxy.setSourceModel(&m_moduleModel);
    m_nodes->setModel(&m_nodeProxy);
    m_modules->setModel(&m_moduleProxy);
    setColumnWidths(m_nodes, kWidths);
    setColumnWidths(m_modules, kWidths);
    m_nodes->sortByColumn(ProfileTableModel::Self, Qt::DescendingOrder);
    m_modules->sortByColumn(ProfileTableModel::Total, Qt::DescendingOrder);
    m_modules->setColumnHidden(ProfileTableModel::Threads, true);
    m_modules->setColumnHidden(ProfileTableModel::Other, true);
    auto* memory = new QSplitter(Qt::Horizontal, this);
    memory->addWidget(m_memory);
    memory->addWidget(m_alive);
    memory->setStretchFactor(0, 3);
    memory->setStretchFactor(1, 2);
    m_tabs->addTab(m_nodes, tr("Nodes"));
    m_tabs->addTab(m_modules, tr("Modules"));
    m_tabs->addTab(m_spans, tr("Timeline"));
    m_tabs->addTab(memory, tr("Memory"));
    m_tabs->addTab(m_roofline, tr("Roofline"));
    m_tabs->addTab(m_other, tr("Other Profile"));
    auto* top = new QHBoxLayout(m_top);
    top->setContentsMargins(theme::kSmall, 0, theme::kSmall, 0);
    top->setSpacing(theme::kTight);
    top->addWidget(m_summary, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_top);
    column->addWidget(m_progress);
    column->addWidget(m_tabs, 1);
    setFocusProxy(m_nodes);

    for (ProfilePlot* plot : std::initializer_list<ProfilePlot*>{m_spans, m_memory, m_roofline}) {
        connect(plot, &ProfilePlot::chosen, this, &ProfilePanel::choose);
        connect(plot, &ProfilePlot::moduleChosen, this, [this](graph::ScopeId call) {
            if (m_opened.isOpen()) m_navigation.navigateTo(m_navigation.selectionOf(call));
        });
    }
    const auto chooseNode = [this](const QModelIndex& row) {
        if (!m_isFollowing && row.isValid()) choose(m_nodeModel.exprOf(m_nodeProxy.mapToSource(row).row()));
    };
    const auto chooseModule = [this](const QModelIndex& row) {
        if (m_isFollowing || !row.isValid() || !m_opened.isOpen()) return;
        m_navigation.navigateTo(m_navigation.selectionOf(m_moduleModel.moduleOf(m_moduleProxy.mapToSource(row).row())));
    };
    connect(m_nodes->selectionModel(), &QItemSelectionModel::currentRowChanged, this, chooseNode);
    connect(m_modules->selectionModel(), &QItemSelectionModel::currentRowChanged, this, chooseModule);
    // The row that is current already leads there as well.
    for (const auto signal : {&QAbstractItemView::clicked, &QAbstractItemView::activated}) {
        connect(m_nodes, signal, this, chooseNode);
        connect(m_modules, signal, this, chooseModule);
        connect(m_alive, signal, this, [this](const QModelIndex& line) {
            graph::ExprId maker;
            maker.value = line.data(models::ExprRole).toUInt();
            choose(maker);
        });
    }
    connect(&m_job, &context::Job::progressed, this, [this](const base::Progress& progress) {
        m_progress->setProgress(QString::fromStdString(progress.what), qint64(progress.done), qint64(progress.total));
    });
    connect(&m_job, &context::Job::finished, m_progress, &widgets::ProgressStrip::finish);
    for (context::Job* job : {&m_job, &m_files}) {
        const auto follow = [this] { setProperty("busy", m_job.isActive() || m_files.isActive()); };
        connect(job, &context::Job::started, this, follow);
        connect(job, &context::Job::finished, this, follow);
    }
    connect(m_progress, &widgets::ProgressStrip::cancelRequested, &m_job, &context::Job::cancel);
    connect(&runs, &context::Runs::runFinished, this, [this] {
        if (std::exchange(m_isWaiting, false) && m_runs.state() == session::RunState::Finished) begin();
    });
    connect(&navigation, &context::Navigation::selectionChanged, this, &ProfilePanel::follow);
    connect(&edits, &context::Edits::changed, this, &ProfilePanel::summarise);
    connect(&opened, &context::OpenModel::documentLeft, this, [this] {
        m_isWaiting = false;
        m_job.abandon();
        m_files.abandon();
        m_progress->finish();
        take(nullptr);
    });
    refresh();
}

void ProfilePanel::join(const PanelHost& host) {
    m_raise = host.raise;
    host.actions.bind(kRun, this, [this] { tell(start()); });
    host.actions.bind(kSave, this, [this] { m_profile ? askForFile(true) : tell(noProfile()); });
    host.actions.bind(kCompare, this, [this] { m_profile ? askForFile(false) : tell(noProfile()); });
    for (const QString& id : {kRun, kSave, kCompare}) {
        auto* button = new QToolButton(this);
        button->setDefaultAction(host.actions.action(id));
        button->setAutoRaise(true);
        button->setFocusPolicy(Qt::TabFocus);
        m_top->layout()->addWidget(button);
    }
    placeTop();
}

/// Beside the tabs if there is room: a line is worth a row of the table.
void ProfilePanel::placeTop() {
    const int room = width() - m_tabs->tabBar()->sizeHint().width() - theme::kSmall;
    const bool isBeside = room >= kMinTop;
    auto* const column = static_cast<QVBoxLayout*>(layout());
    const bool isOther = static_cast<TopLine*>(m_top)->setRoom(std::max(room, 0));
    if (isBeside == (m_tabs->cornerWidget() != nullptr) && !(isBeside && isOther)) return;
    if (isBeside) {
        column->removeWidget(m_top);
        m_tabs->setCornerWidget(m_top);  // again: only then it asks for the room
    } else {
        m_tabs->setCornerWidget(nullptr);
        column->insertWidget(0, m_top);
    }
    m_top->show();
}

void ProfilePanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    placeTop();
}

ProfilePlot* ProfilePanel::plot(int tab) const {
    return tab == 2 ? static_cast<ProfilePlot*>(m_spans) : tab == 3 ? static_cast<ProfilePlot*>(m_memory) : m_roofline;
}

QString ProfilePanel::summary() const { return m_summary->text(); }

void ProfilePanel::tell(const base::Result<void>& done) {
    if (!done) m_messages.report(done.error());
}

// --- making one -----------------------------------------------------------------------------------------------------

base::Result<void> ProfilePanel::start() {
    if (!m_session.document()) return base::usageError("no model is open");
    const bool isFresh = m_runs.recording() && m_runs.staleReason().isEmpty() && !m_runs.isDebugged();
    const session::Inputs& inputs = m_session.inputs();
    // A plain run would end the one with edits that is looked at.
    const bool isEdited = m_session.edits().planned() && inputs.areAllGiven() && inputs.areRead();
    if (isEdited || (isFresh && m_runs.state() == session::RunState::Finished)) begin();
    else m_isWaiting = true, m_runs.run();
    return {};
}

void ProfilePanel::begin() {
    const auto document = m_session.document();
    session::ProfileRequest request;
    request.edits = session::runEditsOf(m_session.edits());
    request.inputs = request.edits.count > 0 ? m_session.inputs().values() : m_runs.lastInputs();
    request.threads = m_session.runs().settings().threads;
    request.seed = m_session.runs().settings().seed;
    request.isExact = m_session.runs().settings().exact;
    request.repeat = 2;  // the first one reads weights and packs them
    m_progress->start(tr("Profiling"));
    m_job.start(
        [document, request](const base::WorkContext& work) { return session::profileRun(*document, request, work); },
        [this, document, edits = context::UsedEdits(m_session.edits())](
            base::Result<std::shared_ptr<const analysis::RunProfile>> made) {
            if (m_session.document() != document) return;
            if (!made) return m_messages.report(made.error());
            m_edits = edits;
            take(std::move(*made));
            if (m_raise) m_raise();
        });
}

void ProfilePanel::take(std::shared_ptr<const analysis::RunProfile> profile) {
    m_profile = std::move(profile);
    m_compared = nullptr;
    m_shared.set(m_session.document(), m_profile);
    refresh();
}

void ProfilePanel::refresh() {
    m_isFollowing = true;
    m_nodeModel.setProfile(m_profile, m_compared);
    m_moduleModel.setProfile(m_profile);
    m_isFollowing = false;
    m_nodes->setColumnHidden(ProfileTableModel::Other, !m_compared);
    m_tabs->setTabVisible(5, m_compared != nullptr);
    placeTop();
    for (ProfilePlot* plot : std::initializer_list<ProfilePlot*>{m_spans, m_memory, m_roofline})
        plot->setProfile(m_profile);
    m_alive->clear();
    m_other->clear();
    setHasContent(m_profile != nullptr);
    summarise();
    if (!m_profile) return;
    const analysis::MemoryProfile& memory = m_profile->memory;
    const auto line = [](QListWidget* list, double bytes, const QString& what, graph::ExprId expr) {
        auto* item = new QListWidgetItem(QStringLiteral("%1  %2").arg(profileBytesText(bytes), what), list);
        item->setToolTip(expr.valid()
                             ? tr("%1\nIn memory at the peak; click to select the operation that made it").arg(what)
                             : what);
        item->setData(models::ExprRole, expr.value);
    };
    if (memory.peak.unused() > 0)
        line(m_alive, double(memory.peak.unused()), tr("free blocks, kept for values to come"), {});
    for (const analysis::AliveMemory& alive : memory.alive)
        line(m_alive, double(alive.bytes), models::shown(analysis::aliveText(*m_profile, alive)), alive.maker);
    if (m_compared) {
        for (const auto& [list, engine] : {std::pair(&m_compared->onlyHere, &m_compared->engine),
                                           std::pair(&m_compared->onlyThere, &m_compared->otherEngine)})
            for (const analysis::StoredNode& node : *list)
                m_other->addItem(tr("only in %1: %2 (%3), %4")
                                     .arg(QString::fromStdString(*engine), models::shown(node.name),
                                          models::shown(node.op), profileTimeText(node.selfNs)));
    }
    follow();
}

void ProfilePanel::summarise() {
    if (!m_profile) return m_summary->setToolTip({}), m_summary->setText({});
    const analysis::MemoryProfile& memory = m_profile->memory;
    QString text = tr("%1 on %2 threads, each operation by itself  ·  peak %3")
                       .arg(profileTimeText(double(m_profile->totalNs)))
                       .arg(m_profile->threads)
                       .arg(profileBytesText(double(memory.peak.total())));
    if (memory.peakExpr.valid()) text += tr(" in %1").arg(models::shown(m_profile->nameOf(memory.peakExpr)));
    if (m_compared)
        text += tr("  ·  %1: %2")
                    .arg(QString::fromStdString(m_compared->otherEngine), profileTimeText(m_compared->otherTotalNs));
    for (const std::string& note : m_profile->notes) text += QStringLiteral("  ·  ") + models::shown(note);
    if (const QString edits = m_edits.changedText(m_session.edits()); !edits.isEmpty())
        text += QStringLiteral("  ·  ") + edits;
    m_summary->setText(text);
    m_summary->setToolTip(text + QLatin1Char('\n') +
                          tr("Time: \u03a3 self time of all operations + time between them (%1)\n"
                             "Peak: the most of values + free blocks + packed weights + working memory at one time")
                              .arg(profileTimeText(double(m_profile->betweenNs))));
}

// --- to and from the canvas -----------------------------------------------------------------------------------------

void ProfilePanel::choose(graph::ExprId expr) {
    if (!expr.valid() || !m_opened.isOpen()) return;
    const context::Selection selection = m_navigation.selectionOf(expr);
    m_navigation.navigateTo(selection);
}

void ProfilePanel::follow() {
    if (!m_profile || !m_opened.isOpen()) return;
    const graph::NodeId node = m_navigation.selection().node;
    const graph::ExprId expr = node.valid() ? m_opened.graph().node(node).producer : graph::ExprId();
    for (ProfilePlot* plot : std::initializer_list<ProfilePlot*>{m_spans, m_memory, m_roofline})
        plot->setSelected(expr);
    const int row = m_nodeModel.rowOf(expr);
    m_isFollowing = true;
    if (row < 0) m_nodes->clearSelection();
    else m_nodes->selectRow(m_nodeProxy.mapFromSource(m_nodeModel.index(row, 0)).row());
    m_isFollowing = false;
}

// --- files ----------------------------------------------------------------------------------------------------------

void ProfilePanel::askForFile(bool isSaved) {
    auto* dialog = new QFileDialog(window(), isSaved ? tr("Save Profile") : tr("Compare with Profile"), {},
                                   tr("Profile (*.json);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(isSaved ? QFileDialog::AcceptSave : QFileDialog::AcceptOpen);
    dialog->setFileMode(isSaved ? QFileDialog::AnyFile : QFileDialog::ExistingFile);
    dialog->setDefaultSuffix(QStringLiteral("json"));
    connect(dialog, &QFileDialog::fileSelected, this,
            [this, isSaved](const QString& file) { tell(isSaved ? save(file) : compareWith(file)); });
    dialog->open();
}

base::Result<void> ProfilePanel::save(const QString& file) {
    if (!m_profile) return noProfile();
    m_files.start([profile = m_profile, path = file.toStdString()](
                      const base::WorkContext&) { return analysis::writeTraceEvents(path, *profile); },
                  [this](const base::Result<void>& done) { tell(done); });
    return {};
}

base::Result<void> ProfilePanel::compareWith(const QString& file) {
    if (!m_profile) return noProfile();
    using Compared = std::shared_ptr<const analysis::ProfileComparison>;
    m_files.start(
        [profile = m_profile, path = file.toStdString()](const base::WorkContext&) -> base::Result<Compared> {
            SONDE_ASSIGN(const analysis::StoredProfile other, analysis::readProfile(path));
            return Compared(std::make_shared<analysis::ProfileComparison>(
                analysis::compareProfiles(analysis::storedOf(*profile), other, profile->graph.get())));
        },
        [this, profile = m_profile](base::Result<Compared> compared) {
            if (profile != m_profile) return;
            if (!compared) return m_messages.report(compared.error());
            m_compared = std::move(*compared);
            refresh();
            m_nodes->sortByColumn(ProfileTableModel::Other, Qt::DescendingOrder);
        });
    return {};
}

base::Result<void> ProfilePanel::showTab(const QString& name) {
    for (int tab = 0; tab < m_tabs->count(); ++tab) {
        if (name != QLatin1String(kTabs[tab])) continue;
        if (!m_profile || !m_tabs->isTabVisible(tab)) return noProfile();
        m_tabs->setCurrentIndex(tab);
        if (m_raise) m_raise();
        return {};
    }
    return base::usageError("no such tab", name.toStdString(), "nodes, modules, timeline, memory, roofline or other");
}

namespace {

base::Result<void> profileCommand(QWidget& widget, const PanelHost&, const QString& arguments) {
    auto& panel = static_cast<ProfilePanel&>(widget);
    const QString word = arguments.section(QLatin1Char(' '), 0, 0), rest = arguments.section(QLatin1Char(' '), 1);
    if (word.isEmpty()) return panel.start();
    if (word == QLatin1String("save")) return panel.save(rest);
    if (word == QLatin1String("compare")) return panel.compareWith(rest);
    return panel.showTab(word);
}

}  // namespace

PanelInfo profilePanel() {
    PanelInfo info{QStringLiteral("profile"),
                   QObject::tr("Profile"),
                   QStringLiteral("line"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+Shift+O"),
                   [](InspectorContext& context) -> Panel* {
                       return new ProfilePanel(context.session(), context.model(), context.navigation(), context.runs(),
                                               context.messages(), context::profileOf(context), context.edits());
                   }};
    info.coming = PanelComing::ToFront;
    info.size = {0, 230};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<ProfilePanel&>(panel).join(host); };
    info.commands = {{"profile", "[nodes|modules|timeline|memory|roofline|other|save FILE|compare FILE]",
                      "profile a run; show a part of it, save it, or compare it with another one", profileCommand}};
    return info;
}

}  // namespace sonde::panels
