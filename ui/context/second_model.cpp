#include "ui/context/second_model.h"

#include <QCoreApplication>
#include <QScopedValueRollback>
#include <QTimer>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/context/background.h"
#include "ui/context/comparison.h"
#include "ui/context/count_text.h"
#include "ui/context/difference_marks.h"
#include "ui/context/inputs.h"
#include "ui/context/loader.h"
#include "ui/context/messages.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"
#include "ui/context/session_files.h"
#include "ui/context/settings.h"
#include "ui/context/text.h"

namespace sonde::context {

using session::DifferenceRow;
using MarkKind = DifferenceMarks::Kind;

namespace {

/// Of what has one: structure.
std::optional<MarkKind> markOf(DifferenceRow::Kind kind) {
    switch (kind) {
        case DifferenceRow::Kind::Added: return MarkKind::Added;
        case DifferenceRow::Kind::Removed: return MarkKind::Removed;
        case DifferenceRow::Kind::Changed: return MarkKind::Changed;
        case DifferenceRow::Kind::Moved: return MarkKind::Moved;
        default: return std::nullopt;
    }
}

QString differenceTip(const DifferenceRow& row) {
    const QString what = QString::fromStdString(row.what);
    switch (row.kind) {
        case DifferenceRow::Kind::Added: return SecondModel::tr("Only in the second model");
        case DifferenceRow::Kind::Removed: return SecondModel::tr("Only in the first model");
        case DifferenceRow::Kind::Moved: return SecondModel::tr("Moved: %1").arg(what);
        case DifferenceRow::Kind::Parameter: break;
        default: return SecondModel::tr("Changed: %1").arg(what);
    }
    const QString name = QString::fromStdString(row.first.empty() ? row.second : row.first);
    const QString by = row.maxAbs ? SecondModel::tr("by up to %1").arg(*row.maxAbs, 0, 'g', 3) : what;
    return SecondModel::tr("Other weights: %1, %2").arg(name, by);
}

}  // namespace

SecondModel::SecondModel(ModelSide first, std::function<Other()> make)
    : m_first(std::move(first)), m_make(std::move(make)) {
    connect(&m_job, &Job::progressed, this, &SecondModel::progressed);
    connect(&m_job, &Job::finished, this, &SecondModel::changed, Qt::QueuedConnection);
    connect(&m_first.navigation, &Navigation::selectionChanged, this, &SecondModel::followFirst);
    connect(&m_first.runs, &Runs::runFinished, this, &SecondModel::firstRan);
    // Values are those of inputs that are no longer given.
    connect(&m_first.inputs, &Inputs::specsChanged, this, [this] {
        if (std::erase_if(m_rows, [](const DifferenceRow& row) { return row.kind == DifferenceRow::Kind::Value; }) >
            0) {
            Q_EMIT rowsChanged();
            Q_EMIT changed();
        }
    });
    for (auto* const settings : {&m_first.settings})
        for (const auto signal : {&Settings::labelsChanged, &Settings::coloringChanged})
            connect(settings, signal, this, [this, settings] {
                if (!m_other) return;
                m_other->side.settings.setShowsAttributes(settings->showsAttributes());
                m_other->side.settings.setShowsNames(settings->showsNames());
                m_other->side.settings.setEdgeWidths(settings->edgeWidths());
                m_other->side.settings.setLabelRules(settings->labelRules());
            });
}

SecondModel::~SecondModel() { m_job.abandon(); }

bool SecondModel::isBusy() const { return m_job.isActive() || (m_other && m_other->side.isBusy()); }

// --- opening ---------------------------------------------------------------------------------------------------------

void SecondModel::open(const QString& location) {
    if (!m_first.model.isOpen() || location.isEmpty()) return;
    close();
    m_location = location;
    m_pairs.clear();
    if (const auto& document = m_first.model.document(); document->session)
        m_pairs = session::storedPairsWith(*document, location.toStdString());
    m_other.emplace(m_make());
    connectOther();
    m_other->side.loader.open(location);
    Q_EMIT changed();
}

void SecondModel::connectOther() {
    const ModelSide* const other = &m_other->side;
    const Settings& settings = m_first.settings;
    other->settings.setShowsAttributes(settings.showsAttributes());
    other->settings.setShowsNames(settings.showsNames());
    other->settings.setEdgeWidths(settings.edgeWidths());
    other->settings.setLabelRules(settings.labelRules());
    connect(&other->loader, &Loader::loadProgressed, this, &SecondModel::progressed);
    connect(&other->model, &OpenModel::documentLeft, this, &SecondModel::forget);
    connect(&other->model, &OpenModel::documentOpened, this, [this] {
        if (!std::exchange(m_isShown, true)) Q_EMIT opened();
        store();
        compare();
    });
    // Later, so that who tells of it is done.
    connect(
        &other->loader, &Loader::loadFailed, this,
        [this] {
            if (m_isShown || !m_other) return;
            close();
            Q_EMIT failed();
        },
        Qt::QueuedConnection);
    for (const auto request : {&Loader::consentRequested})
        connect(&other->loader, request, this, [this] {
            m_first.messages.report(Message{base::Severity::Error,
                                            tr("The code of a library is not run for a comparison"),
                                            m_location,
                                            tr("Open it in a window of its own first, and agree there"),
                                            {}});
        });
    connect(&other->loader, &Loader::sessionQuestioned, this, [this](const SessionQuestion& question) {
        m_first.messages.report(Message{base::Severity::Error,
                                        tr("The session's model is not there as it was saved"),
                                        question.session,
                                        tr("Open the session in a window of its own first"),
                                        {}});
    });
    connect(&other->messages, &Messages::messageReported, this, [this](const Message& message) {
        if (message.severity < base::Severity::Warning || message.isDifference) return;
        Message told = message;
        told.text = tr("Second model: %1").arg(message.text);
        told.node = {};  // of another graph
        m_first.messages.report(told);
    });
    connect(&other->navigation, &Navigation::selectionChanged, this, &SecondModel::followSecond);
    connect(&other->runs, &Runs::runFinished, this, &SecondModel::secondRan);
}

void SecondModel::close() {
    if (!m_other) return;
    m_job.abandon();
    m_runStep = RunStep::None;
    m_values.clear();
    if (m_isShown) Q_EMIT closing();
    m_isShown = false;
    m_location.clear();
    for (QObject* part : m_other->side.parts()) part->disconnect(this);
    m_other->side.loader.cancel();
    // Not while one of its parts tells something.
    QTimer::singleShot(0, qApp, [gone = std::move(m_other->context)] {});
    m_other.reset();
    m_pairs.clear();
    forget();
    store();
}

void SecondModel::cancel() {
    m_runStep = RunStep::None;
    m_job.cancel();
    if (!m_other) return;
    m_other->side.runs.cancel();
    if (!m_isShown) close();
    Q_EMIT changed();
}

/// A session file says what its model is compared with; else what is beside it stays.
void SecondModel::documentOpened() {
    const document::Document& document = *m_first.model.document();
    const bool isWhole = m_first.model.document() == m_first.model.whole();
    const std::string stored = isWhole ? session::comparedModelOf(document) : std::string();
    if (stored.empty() || stored == m_location.toStdString()) {
        store();
        return compare();
    }
    const bool mayRead = stored.starts_with("zoo:") || document.session->allowsOutside ||
                         document::isInFolder(stored, document.session->folder);
    if (mayRead) return open(QString::fromStdString(stored));
    m_first.messages.report(Message{base::Severity::Warning,
                                    tr("Not restored: the model beside this one"),
                                    QString::fromStdString(stored),
                                    tr("It is outside of the session's folder"),
                                    {}});
    close();
}

void SecondModel::documentClosed() { close(); }

/// The session file has what is compared, and what was said by hand.
void SecondModel::store() {
    if (!m_first.model.isOpen()) return;
    io::SessionFile base = m_first.session.fileBase();
    const std::string model = m_isShown ? m_location.toStdString() : std::string();
    const std::optional<std::filesystem::path>& folder = m_first.session.fileFolder();
    std::error_code ignored;
    // As it is named from everywhere.
    const std::string named =
        model.empty() || model.starts_with("zoo:") ? model : std::filesystem::absolute(model, ignored).string();
    io::SessionFile::Compared compared{named, m_isShown ? m_pairs : std::vector<session::StoredPair>()};
    if (compared == base.compared) return;
    base.compared = std::move(compared);
    m_first.session.setFileBase(std::move(base), folder);
    m_first.files.saveSoon();
}

// --- comparing -------------------------------------------------------------------------------------------------------

void SecondModel::compare(std::vector<tensor::Value> values) {
    if (!m_isShown || !m_first.model.isOpen() || !m_other->side.model.isOpen()) return;
    session::ModelDiffRequest request;
    const session::RunSettings& settings = m_first.session.runs().settings();
    request.inputs = std::move(values);
    request.tolerances = m_first.comparison.tolerances();
    request.seed = settings.seed;
    request.threads = settings.threads;
    m_job.start(
        [first = m_first.model.document(), second = m_other->side.model.document(), request = std::move(request),
         pairs = m_pairs](const base::WorkContext& work) mutable -> base::Result<Known> {
            Known known;
            request.byHand = session::pairsByHand(pairs, *first->graph, *second->graph, known.lost);
            SONDE_ASSIGN(known.diff, session::modelDiff(*first, *second, request, work));
            known.nodes = session::nodePairs(*first->graph, *second->graph, known.diff.pairs, known.diff.parameters);
            known.rows = session::differenceRows(*first, *second, known.diff);
            return known;
        },
        [this](base::Result<Known> known) { take(std::move(known)); });
    Q_EMIT changed();
}

void SecondModel::take(base::Result<Known> known) {
    if (!m_isShown) return;
    if (!known) {
        if (known.error().kind != base::ErrorKind::Cancelled) m_first.messages.report(known.error());
        return;
    }
    for (const std::string& line : known->lost)
        m_first.messages.report(Message{base::Severity::Warning, QString::fromStdString(line), {}, {}, {}});
    if (known->diff.values && !known->diff.values->error.empty())
        m_first.messages.report(Message{base::Severity::Warning,
                                        tr("Values were compared as far as both models ran: %1")
                                            .arg(QString::fromStdString(known->diff.values->error)),
                                        {},
                                        {},
                                        {}});
    freeLater(std::exchange(m_known, std::make_shared<const Known>(std::move(*known))));
    m_rows = m_known->rows;
    mark();
    Q_EMIT rowsChanged();
    followFirst();
}

void SecondModel::forget() {
    m_job.abandon();
    freeLater(std::exchange(m_known, nullptr));
    m_rows.clear();
    m_first.marks.set({});
    if (m_other) m_other->side.marks.set({});
    Q_EMIT rowsChanged();
    Q_EMIT changed();
}

/// On both canvases: what is other there.
void SecondModel::mark() {
    DifferenceMarks::List first, second;
    const graph::InternalGraph &a = m_first.model.graph(), &b = m_other->side.model.graph();
    const auto markUsers = [](DifferenceMarks::List& list, const graph::InternalGraph& graph, graph::NodeId weight,
                              const QString& text) {
        if (!weight.valid()) return;
        list.push_back({graph.node(weight).producer, MarkKind::OtherWeights, text});
        for (const graph::ExprId user : graph.node(weight).users) list.push_back({user, MarkKind::OtherWeights, text});
    };
    for (const DifferenceRow& row : m_known->rows) {
        const QString text = differenceTip(row);
        if (row.kind == DifferenceRow::Kind::Parameter) {
            markUsers(first, a, row.a, text);
            markUsers(second, b, row.b, text);
        } else if (const auto kind = markOf(row.kind)) {
            if (row.a.valid()) first.push_back({a.node(row.a).producer, *kind, text});
            if (row.b.valid()) second.push_back({b.node(row.b).producer, *kind, text});
        }
    }
    m_first.marks.set(std::move(first));
    m_other->side.marks.set(std::move(second));
}

QString SecondModel::summary() const {
    if (m_job.isActive()) return tr("Comparing \u2026");
    if (!m_isShown) return m_other ? tr("Opening %1 \u2026").arg(m_location) : QString();
    if (!m_known) return tr("Not compared");
    const session::StructureDiff& nodes = m_known->diff.structure;
    QStringList parts{tr("%1 % matched").arg(std::floor(nodes.matchedOfAll() * 1000) / 10, 0, 'f', 1)};
    const auto add = [&](std::size_t count, const QString& text) {
        if (count > 0) parts << QStringLiteral("%1 %2").arg(count).arg(text);
    };
    add(nodes.removed.size(), tr("removed"));
    add(nodes.added.size(), tr("added"));
    add(nodes.changed.size(), tr("changed"));
    add(nodes.moved.size(), tr("moved"));
    add(nodes.renamed, tr("renamed"));
    const session::ParameterDiff& parameters = m_known->diff.parameters;
    const std::size_t differing = parameters.changed.size() + parameters.added.size() + parameters.removed.size();
    add(differing, differing == 1 ? tr("parameter differs") : tr("parameters differ"));
    if (const auto& values = m_known->diff.values; values && m_rows.size() == m_known->rows.size()) {
        parts << tr("%1 of %2 values differ").arg(values->changed.size()).arg(values->compared) +
                     (m_first.session.edits().planned() ? tr(" (without the edits)") : QString());
        add(values->otherForms, tr("values in other forms"));
    }
    if (m_known->diff.isEqual()) {
        const std::size_t open = m_known->diff.structure.uncompared();
        const bool areSame = m_known->diff.runs.haveSameResults();
        parts << tr("no difference in structure and parameters") +
                     (open > 0 ? countedText(open,
                                             areSame ? tr(" (the same results on equal inputs; 1 operation was not "
                                                          "compared one by one)")
                                                     : tr(" (1 operation was not compared one by one)"),
                                             areSame ? tr(" (the same results on equal inputs; %1 operations were not "
                                                          "compared one by one)")
                                                     : tr(" (%1 operations were not compared one by one)"))
                               : QString());
    }
    return parts.join(QStringLiteral(" \u00b7 "));
}

// --- one selection for both ------------------------------------------------------------------------------------------

graph::NodeId SecondModel::counterpart(graph::NodeId node) const {
    if (!m_known || !node.valid() || node.index() >= m_known->nodes.ofFirst.size()) return {};
    return m_known->nodes.ofFirst[node.index()];
}

graph::NodeId SecondModel::counterpartOfSecond(graph::NodeId node) const {
    if (!m_known || !node.valid() || node.index() >= m_known->nodes.ofSecond.size()) return {};
    return m_known->nodes.ofSecond[node.index()];
}

/// Of a module the one of the same name, or what most of the operations in it are in.
Selection SecondModel::counterpartOf(const Selection& here, const ModelSide& from, const ModelSide& to) const {
    const bool isFirst = &from == &m_first;
    const Navigation& there = to.navigation;
    if (here.node.valid()) return there.selectionOf(isFirst ? counterpart(here.node) : counterpartOfSecond(here.node));
    if (here.kind == Selection::Kind::Expr) {
        const auto& order = to.model.graph().main().order;
        const auto output = std::ranges::find_if(
            order, [&](ExprId id) { return to.model.graph().expr(id).kind == graph::ExprKind::Output; });
        const bool isOutput = from.model.graph().expr(here.expr).kind == graph::ExprKind::Output;
        return isOutput && output != order.end() ? there.selectionOf(*output) : Selection();
    }
    if (!here.isModule()) return {};
    if (const Selection same = there.selectionOf(here.qualname); same.kind != Selection::Kind::Module) return same;
    const auto& match = isFirst ? m_known->diff.pairs.ofFirst : m_known->diff.pairs.ofSecond;
    for (const ExprId id : from.navigation.exprsOf(here)) {
        if (id.index() >= match.size() || !match[id.index()].valid()) continue;
        const graph::InternalGraph &own = from.model.graph(), &other = to.model.graph();
        // As many levels above the operation as here.
        int levels = 0;
        for (ScopeId scope = own.expr(id).scope; scope.valid() && scope != here.scope; scope = own.scope(scope).parent)
            ++levels;
        ScopeId scope = other.expr(match[id.index()]).scope;
        for (; levels > 0 && scope.valid() && other.scope(scope).parent.valid(); --levels)
            scope = other.scope(scope).parent;
        return there.selectionOf(scope);
    }
    return {};
}

void SecondModel::followFirst() {
    if (m_isShown && m_known) follow(m_first, m_other->side);
    else Q_EMIT changed();
}

void SecondModel::followSecond() {
    if (m_isShown && m_known) follow(m_other->side, m_first);
}

/// What has no counterpart leaves what is selected on the other side only if that has none either: the two can be
/// paired then.
void SecondModel::follow(const ModelSide& from, const ModelSide& to) {
    if (m_isFollowing || !from.model.isOpen() || !to.model.isOpen()) return;
    const QScopedValueRollback guard(m_isFollowing, true);
    const Selection& here = from.navigation.selection();
    const Selection there = counterpartOf(here, from, to);
    if (!there.isNone()) {
        to.navigation.navigateTo(there);
    } else if (here.isNone() || !counterpartOf(to.navigation.selection(), to, from).isNone()) {
        to.navigation.clearSelection();
    }
    Q_EMIT changed();
}

bool SecondModel::goTo(const DifferenceRow& row) {
    if (!m_isShown || !m_known) return false;
    if (!row.nodesA.empty() || !row.nodesB.empty()) return selectFigure(row);
    if (!row.a.valid() && !row.b.valid()) return false;
    if (row.a.valid()) m_first.navigation.navigateTo(row.a);
    if (row.b.valid() && m_other->side.navigation.selection().node != row.b) {
        const QScopedValueRollback guard(m_isFollowing, row.a.valid());
        m_other->side.navigation.navigateTo(row.b);
    }
    Q_EMIT changed();
    return true;
}

/// All that makes a figure differ, in each model; where one has nothing, nothing stays selected.
bool SecondModel::selectFigure(const DifferenceRow& row) {
    const QScopedValueRollback guard(m_isFollowing, true);
    const auto select = [](Navigation& navigation, const std::vector<NodeId>& nodes) {
        navigation.selectMany(nodes);
        if (!nodes.empty()) navigation.reveal(navigation.selectionOf(nodes.front()));
    };
    select(m_first.navigation, row.nodesA);
    select(m_other->side.navigation, row.nodesB);
    Q_EMIT changed();
    return true;
}

void SecondModel::setCamerasLinked(bool linked) {
    if (std::exchange(m_areCamerasLinked, linked) != linked) Q_EMIT changed();
}

// --- by hand ---------------------------------------------------------------------------------------------------------

bool SecondModel::canPair() const {
    if (!m_isShown || !m_known) return false;
    const NodeId a = m_first.navigation.selection().node, b = m_other->side.navigation.selection().node;
    return a.valid() && b.valid() && counterpart(a) != b;
}

bool SecondModel::canUnpair() const {
    if (!m_isShown || !m_known) return false;
    const NodeId a = m_first.navigation.selection().node, b = m_other->side.navigation.selection().node;
    return a.valid() && b.valid() && counterpart(a) == b;
}

void SecondModel::pairSelected() {
    if (canPair())
        (void)setPaired(m_first.navigation.selection().node, m_other->side.navigation.selection().node, true);
}

void SecondModel::unpairSelected() {
    if (canUnpair())
        (void)setPaired(m_first.navigation.selection().node, m_other->side.navigation.selection().node, false);
}

base::Result<void> SecondModel::setPaired(NodeId first, NodeId second, bool arePaired) {
    if (!m_isShown || !m_known) return base::usageError("the models were not compared yet");
    if ((counterpart(first) == second) == arePaired)
        return base::usageError(arePaired ? "they are a pair already" : "they are no pair");
    const session::StoredPair pair =
        session::storedPair(m_first.model.graph(), m_other->side.model.graph(), {first, second}, !arePaired);
    // What was said of them before counts no more; a node has one counterpart.
    std::erase_if(m_pairs, [&](const session::StoredPair& one) {
        const bool isThis = one.a == pair.a && one.b == pair.b;
        return isThis || (arePaired && !one.isApart && (one.a == pair.a || one.b == pair.b));
    });
    m_pairs.push_back(pair);
    store();
    compare();
    return {};
}

// --- values ----------------------------------------------------------------------------------------------------------

void SecondModel::runBoth() {
    if (!m_isShown || !m_first.model.isOpen()) return;
    if (m_first.model.document()->inputs.size() != m_other->side.model.document()->inputs.size())
        return m_first.messages.report(
            Message{base::Severity::Error,
                    tr("The models have %1 and %2 inputs: they cannot run on the same values")
                        .arg(m_first.model.document()->inputs.size())
                        .arg(m_other->side.model.document()->inputs.size()),
                    {},
                    {},
                    {}});
    // A debugged run stays where it is, with its edits: values are compared by a run of their own.
    if (m_first.runs.isDebugged() && m_first.runs.staleReason().isEmpty())
        return runSecond(m_first.session.inputs().values());
    m_runStep = RunStep::First;
    m_first.runs.run();
}

void SecondModel::firstRan() {
    // The run that was shown before tells that it is no longer.
    if (m_runStep != RunStep::First || !m_isShown || m_first.runs.isRunning()) return;
    if (m_first.runs.state() != RunState::Finished || !m_first.runs.recording()) {
        m_runStep = RunStep::None;
        Q_EMIT changed();
        return;
    }
    runSecond(m_first.runs.lastInputs());
}

void SecondModel::runSecond(const std::vector<tensor::Value>& given) {
    const document::Document& first = *m_first.model.document();
    m_values.assign(first.inputs.size(), {});
    for (std::size_t i = 0; i < first.inputs.size(); ++i) {
        const auto at = std::ranges::find(first.graph->inputs(), first.inputs[i].node);
        const auto index = static_cast<std::size_t>(at - first.graph->inputs().begin());
        if (index < given.size()) m_values[i] = given[index];
    }
    m_runStep = RunStep::Second;
    m_other->side.session.runs().setSettings(m_first.session.runs().settings());
    m_other->side.session.inputs().setValues(
        session::valuesForSecond(first, *m_other->side.model.document(), m_values));
    m_other->side.runs.run();
}

void SecondModel::secondRan() {
    if (m_runStep != RunStep::Second) return;
    m_runStep = RunStep::None;
    if (m_other->side.runs.state() == RunState::Finished) compare(std::exchange(m_values, {}));
    else Q_EMIT changed();
}

}  // namespace sonde::context
