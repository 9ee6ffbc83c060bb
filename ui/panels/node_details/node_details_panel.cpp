#include "ui/panels/node_details/node_details_panel.h"

#include <QHBoxLayout>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "core/analysis/layer_facts.h"
#include "core/analysis/model_summary.h"
#include "core/document/attempts.h"
#include "core/graph/main_layer.h"
#include "core/layout/lockstep.h"
#include "ui/actions/action_registry.h"
#include "ui/context/comparison.h"
#include "ui/context/count_text.h"
#include "ui/context/inspector_context.h"
#include "ui/context/model_counts.h"
#include "ui/context/problems.h"
#include "ui/context/selection.h"
#include "ui/context/stored.h"
#include "ui/context/window_hint.h"
#include "ui/models/difference_table_model.h"
#include "ui/models/module_result.h"
#include "ui/models/node_text.h"
#include "ui/models/short_text.h"
#include "ui/panels/node_details/note_edit.h"
#include "ui/theme/theme.h"
#include "ui/widgets/details.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using context::InspectorContext;
using context::Selection;
using graph::ExprId;
using graph::NodeId;
using graph::ScopeId;
using models::shown;
using widgets::KeyValueGrid;

namespace {

constexpr std::size_t kMaxLinks = 40;
constexpr std::size_t kMaxSearched = 5000;  ///< operations of a module, for its layers
constexpr std::size_t kMaxRows =
    200;  ///< of one section: each is a widget, and folded constants stand for thousands of operations

/// Why a module was not traced, and what was tried with it.
void addNotTraced(KeyValueGrid* grid, const context::OpenModel& opened, const graph::ModuleInfo& module) {
    if (module.failure.empty()) return;
    grid->addRow(NodeDetailsPanel::tr("Not traced"), shown(module.failure));
    const document::Document& whole = opened.whole() ? *opened.whole() : *opened.document();
    for (const std::string_view attempt : document::triedWith(whole, module.qualname))
        grid->addRow(NodeDetailsPanel::tr("Tried to"), shown(attempt));
}

}  // namespace

NodeDetailsPanel::NodeDetailsPanel(context::OpenModel& opened, context::Navigation& navigation, context::Points& points,
                                   context::Runs& runs, context::Inputs& inputs, context::Problems& problems,
                                   context::Comparison& comparison, context::Notes& notes, QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_points(points), m_runs(runs), m_problems(problems),
      m_comparison(comparison), m_stats(opened, runs, inputs), m_title(new widgets::ElidedLabel),
      m_subtitle(new widgets::ElidedLabel),
      m_watch(widgets::makeToolButton(QStringLiteral("watch"), tr("Watch point (F9)"), this)),
      m_end(widgets::makeToolButton(QStringLiteral("end"), tr("End point (Shift+F9)"), this)), m_header(new QWidget),
      m_note(new NoteEdit(notes)), m_area(new QScrollArea) {
    m_subtitle->setColorRole(theme::ColorRole::MutedText);
    m_watch->setCheckable(true);
    m_end->setCheckable(true);
    auto* names = new QVBoxLayout;
    names->setSpacing(0);
    names->addWidget(m_title);
    names->addWidget(m_subtitle);
    auto* head = new QHBoxLayout(m_header);
    head->setContentsMargins(theme::kSmall, theme::kSmall, theme::kTight, theme::kTight);
    head->setSpacing(theme::kTight);
    head->addLayout(names, 1);
    head->addWidget(m_watch, 0, Qt::AlignTop);
    head->addWidget(m_end, 0, Qt::AlignTop);
    m_area->setWidgetResizable(true);
    m_area->setFrameShape(QFrame::NoFrame);
    m_area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_header);
    auto* note = new QVBoxLayout;
    note->setContentsMargins(theme::kSmall, 0, theme::kSmall, theme::kTight);
    note->addWidget(m_note);
    column->addLayout(note);
    connect(m_note, &NoteEdit::left, m_area, [this] { m_area->setFocus(); });
    column->addWidget(m_area, 1);

    connect(m_watch, &QToolButton::clicked, this, [this] { m_points.toggleWatch(m_navigation.selection().node); });
    connect(m_end, &QToolButton::clicked, this, [this] { m_points.toggleEnd(m_navigation.selection().node); });
    connect(&navigation, &context::Navigation::selectionChanged, this, &NodeDetailsPanel::rebuild);
    connect(&opened, &context::OpenModel::documentOpened, this, &NodeDetailsPanel::rebuild);
    connect(&opened, &context::OpenModel::documentClosed, this, &NodeDetailsPanel::rebuild);
    connect(&points, &context::Points::watchChanged, this, &NodeDetailsPanel::refreshMarks);
    connect(&points, &context::Points::endChanged, this, &NodeDetailsPanel::refreshMarks);
    connect(&opened, &context::OpenModel::typesChanged, this, &NodeDetailsPanel::rebuild);
    connect(&runs, &context::Runs::runFinished, this, &NodeDetailsPanel::refreshValue);
    connect(&inputs, &context::Inputs::inputsChanged, this, &NodeDetailsPanel::refreshValue);
    connect(&runs, &context::Runs::runStarted, this, &NodeDetailsPanel::refreshValue);
    connect(&problems, &context::Problems::changed, this, &NodeDetailsPanel::refreshValue);
    connect(&runs, &context::Runs::valueArrived, this, &NodeDetailsPanel::refreshValue);
    connect(&m_stats, &models::NodeStats::changed, this, &NodeDetailsPanel::refreshValue);
    connect(&comparison, &context::Comparison::changed, this, &NodeDetailsPanel::refreshValue);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &NodeDetailsPanel::rebuild);
    setFocusProxy(m_area);
    rebuild();
}

QString NodeDetailsPanel::text() const {
    QStringList parts{m_title->text(), m_subtitle->text()};
    for (const KeyValueGrid* grid : m_grids) parts << grid->text();
    return parts.join(QLatin1Char('\n'));
}

void NodeDetailsPanel::rebuild() {
    m_valueSection = nullptr;
    m_grids.clear();
    const Selection& selection = m_navigation.selection();
    setHasContent(m_opened.isOpen() && !selection.isNone());
    m_header->setVisible(hasContent());
    m_note->setNode(hasContent() ? selection.node : graph::NodeId());
    if (!hasContent()) {
        m_area->setWidget(new widgets::EmptyState(QStringLiteral("details"), tr("Nothing selected"),
                                                  tr("Click a node or a module in the graph to see its details")));
        return;
    }
    m_title->setFont(theme::Theme::instance().titleFont());
    auto* content = new QWidget;
    m_column = new QVBoxLayout(content);
    m_column->setContentsMargins(0, 0, 0, theme::kSmall);
    m_column->setSpacing(theme::kTight);
    selection.isModule() ? showModule(selection) : showNode(selection);
    m_column->addStretch(1);
    m_area->setWidget(content);
    refreshMarks();
}

KeyValueGrid* NodeDetailsPanel::makeGrid() {
    auto* grid = new KeyValueGrid;
    connect(grid, &KeyValueGrid::linkActivated, this, [this](const QVariant& target) {
        // Queued: the click's own widget is deleted by what it causes.
        QMetaObject::invokeMethod(
            this, [this, selection = target.value<Selection>()] { m_navigation.navigateTo(selection); },
            Qt::QueuedConnection);
    });
    return grid;
}

KeyValueGrid* NodeDetailsPanel::section(const QString& title, const QString& key, int count) {
    auto* part = new widgets::CollapsibleSection(title);
    KeyValueGrid* grid = makeGrid();
    part->setContent(grid);
    part->setCount(count);
    const QString setting = QStringLiteral("details/closed/") + key;
    const auto closed = m_closed.constFind(key);
    part->setExpanded(
        !(closed != m_closed.cend() ? *closed : *m_closed.insert(key, context::stored(setting).toBool())));
    connect(part, &widgets::CollapsibleSection::expandedChanged, this, [this, key, setting](bool expanded) {
        m_closed[key] = !expanded;
        context::store(setting, !expanded);
    });
    m_column->addWidget(part);
    m_grids << grid;
    return grid;
}

void NodeDetailsPanel::addNodeLink(KeyValueGrid* grid, const QString& key, NodeId id) {
    const graph::Node& node = m_opened.graph().node(id);
    grid->addLink(key, shown(node.name), QVariant::fromValue(m_navigation.selectionOf(id)),
                  models::typeText(node, m_runs.value(id)));
}

void NodeDetailsPanel::showNode(const Selection& selection) {
    const graph::Expr& expr = m_opened.graph().expr(selection.expr);
    m_title->setText(selection.node.valid() ? shown(m_opened.graph().node(selection.node).name)
                                            : models::operatorText(expr));
    m_subtitle->setText(models::operatorText(expr) + QStringLiteral("  ·  ") + models::moduleText(expr));
    m_title->setToolTip(m_title->text());
    m_subtitle->setToolTip(m_subtitle->text());
    if (selection.node.valid()) {
        m_valueSection =
            qobject_cast<widgets::CollapsibleSection*>(section(tr("Value"), QStringLiteral("value"))->parentWidget());
        m_stats.want({selection.node});
        refreshValue();
    }
    addOperation(expr);
    addLayer(expr);
    addAttributes(expr);
    addInputs(expr);
    addOutputs(expr);
    if (selection.node.valid()) addConsumers(m_opened.graph().node(selection.node));
    addOrigin(expr);
}

void NodeDetailsPanel::refreshValue() {
    const NodeId id = m_navigation.selection().node;
    if (!m_valueSection || !id.valid()) return;
    // A new grid: rows of an old one would keep their heights.
    KeyValueGrid* grid = makeGrid();
    m_grids.first() = grid;
    m_valueSection->setContent(grid);
    const graph::Node& node = m_opened.graph().node(id);
    const tensor::Value* value = m_runs.value(id);
    const QString shape = models::shapeText(node, value);
    const QString dtype = models::dtypeText(node, value);
    grid->addRow(tr("Number"), QStringLiteral("#%1").arg(id.value));
    // Lists and numbers have none.
    if (value ? value->isTensor() : !node.type.kind || node.type.isTensor())
        grid->addRow(tr("Shape"), shape.isEmpty() ? tr("unknown before a run") : shape);
    grid->addRow(tr("Type"), dtype.isEmpty() ? tr("unknown before a run") : dtype);
    if (const QString which = m_runs.iterationText(id); !which.isEmpty()) grid->addRow(tr("Iteration"), which);
    if (const analysis::TensorStats* stats = m_stats.stats(id); stats && stats->finiteCount() > 0) {
        grid->addRow(tr("Range"),
                     tr("%1 to %2").arg(models::numberText(stats->minimum), models::numberText(stats->maximum)));
        grid->addRow(tr("Mean ± std"), QStringLiteral("%1 ± %2").arg(models::numberText(stats->mean),
                                                                     models::numberText(stats->deviation)));
    }
    addBadValues(grid, id);
    addDifference(grid, id);
    if (value && (!value->isTensor() || value->tensor().numel() <= 8))
        grid->addRow(tr("Value"), shown(value->text(160)), true);
    if (m_runs.isStale(id)) grid->addRow(tr("Value is"), tr("stale: %1").arg(m_runs.staleReason()), true);
    const exec::Failure* failure = m_runs.failure(node.producer);
    if (failure) addFailure(grid, node.producer, *failure);
    else if (!value && m_runs.recording() && !m_runs.wasReached(id))
        grid->addRow(tr("Run"), m_runs.isDebugged() ? tr("not computed yet") : tr("not reached by the last run"));
    if (const auto& recording = m_runs.recording(); recording && !failure && recording->elapsedNs(node.producer) > 0)
        grid->addRow(tr("Time"), QStringLiteral("%1 ms").arg(
                                     static_cast<double>(recording->elapsedNs(node.producer)) / 1e6, 0, 'f', 3));
}

void NodeDetailsPanel::addBadValues(KeyValueGrid* grid, NodeId node) {
    const analysis::TensorStats* stats = m_stats.stats(node);
    const context::Problems& problems = m_problems;
    const exec::BadValues* counted = problems.counted(node);
    const std::int64_t nan = stats ? stats->nanCount : counted ? counted->nan : 0;
    const std::int64_t inf = stats ? stats->infCount : counted ? counted->inf : 0;
    if (nan > 0) grid->addRow(tr("NaN"), context::countText(nan));
    if (inf > 0) grid->addRow(tr("Inf"), context::countText(inf));
    if (!counted) return;
    const analysis::Problem* problem = problems.of(node);
    if (problems.isAccepted(node)) grid->addRow(tr("Bad values"), tr("accepted"));
    else if (!problems.isBad(node)) grid->addRow(tr("Bad values"), tr("propagated from an accepted node"), true);
    else if (!problem || problem->role == analysis::ProblemRole::Carrier)
        grid->addRow(tr("Bad values"), tr("propagated from an input"));
    else {
        // The count is of all iterations, unlike the statistics above.
        const std::size_t iterations = m_runs.iterations(node);
        const QString where = iterations > 1 ? tr("produced here, in %1 iterations").arg(context::countText(iterations))
                                             : tr("produced here");
        const std::string what = problem->message + (problem->advice.empty() ? "" : "; " + problem->advice);
        grid->addRow(tr("Bad values"), where + QStringLiteral(": ") + shown(what), true);
    }
}

void NodeDetailsPanel::addFailure(KeyValueGrid* grid, ExprId expr, const exec::Failure& failure) {
    const graph::InternalGraph& graph = m_opened.graph();
    const graph::Expr& failed = graph.expr(failure.expr);
    if (failure.expr != expr) {
        const QString name =
            failed.outputs.empty() ? models::operatorText(failed) : shown(graph.node(failed.outputs.front()).name);
        grid->addLink(tr("Failed at"), name, QVariant::fromValue(m_navigation.selectionOf(failure.expr)),
                      models::moduleText(failed));
    }
    grid->addRow(tr("Failed"), shown(failure.error.what), true);
    if (const QString hint = context::windowHint(failure.error.hint); !hint.isEmpty())
        grid->addRow(tr("Hint"), shown(hint.toStdString()), true);
    for (std::size_t i = 0; i < std::min(failure.inputTypes.size(), kMaxLinks); ++i)
        grid->addRow(tr("Input %1").arg(models::argumentName(failed, i)), shown(failure.inputTypes[i]));
}

/// Which run the value is of, if it is one of a comparison, and how far it is from what it was compared with.
void NodeDetailsPanel::addDifference(KeyValueGrid* grid, NodeId id) {
    const context::Comparison& comparison = m_comparison;
    if (comparison.isStale()) grid->addRow(tr("Comparison"), tr("stale: %1").arg(comparison.staleReason()));
    if (!comparison.isKnown() || comparison.isStale()) return;
    grid->addRow(tr("Run"), comparison.runText());
    // A run that stopped earlier, on the same inputs, leaves the comparison as it was.
    const analysis::NodeDifference* found = m_runs.wasReached(id) ? comparison.of(id) : nullptr;
    if (!found)
        return grid->addRow(tr("Difference"),
                            m_runs.wasReached(id) ? tr("no reference value") : tr("not computed in this run"));
    const auto number = [](models::DifferenceTableModel::Column column, double of) {
        return models::differenceText(column, of);
    };
    QString text = found->ok            ? tr("agrees")
                   : found->isInherited ? tr("differs, as does one of its inputs")
                                        : tr("differs first here");
    if (const std::string remarks = found->remarks(); !remarks.empty()) text += QStringLiteral(", ") + shown(remarks);
    grid->addRow(tr("Difference"), text, true);
    if (!found->isMeasured) return;
    grid->addRow(tr("Max error"), tr("%1 absolute, %2 relative")
                                      .arg(number(models::DifferenceTableModel::MaxAbsolute, found->maxAbsolute),
                                           number(models::DifferenceTableModel::MaxRelative, found->maxRelative)));
    if (!std::isnan(found->cosine))
        grid->addRow(tr("Cosine"), number(models::DifferenceTableModel::Cosine, found->cosine));
    if (!std::isnan(found->snr)) grid->addRow(tr("SNR"), number(models::DifferenceTableModel::Snr, found->snr));
}

void NodeDetailsPanel::addOperation(const graph::Expr& expr) {
    KeyValueGrid* grid = section(tr("Operation"), QStringLiteral("operation"));
    grid->addRow(tr("Operator"), models::operatorText(expr));
    const std::string_view kind = graph::name(expr.kind);
    grid->addRow(tr("Kind"), shown(kind));
    if (!expr.op.name.empty()) {
        const QString domain = expr.op.domain.empty() ? QStringLiteral("ai.onnx") : shown(expr.op.domain);
        grid->addRow(tr("Domain"),
                     expr.op.version > 0 ? tr("%1, version %2").arg(domain).arg(expr.op.version) : domain);
        const ops::OpDef* op = analysis::definitionOf(expr);
        if (op && !op->summary.empty()) grid->addRow(tr("Description"), shown(op->summary));
        if (analysis::isUnsupported(expr))
            grid->addRow(tr("Description"), op ? tr("It is drawn, but cannot be run")
                                               : tr("Unknown operator: it is drawn, but cannot be run"));
    }
    if (!expr.target.empty() && expr.target != expr.op.name) grid->addRow(tr("Target"), shown(expr.target));
    if (expr.qualname)
        grid->addLink(tr("Module"), models::moduleText(expr),
                      QVariant::fromValue(m_navigation.selectionOf(expr.scope)));
    if (!expr.moduleClass.empty()) grid->addRow(tr("Class"), shown(expr.moduleClass));
    if (expr.kind == graph::ExprKind::CallModule) {
        const graph::ModuleTree& tree = *m_opened.document()->modules;
        if (const auto module = tree.find(expr.target)) addNotTraced(grid, m_opened, tree.module(*module));
    }
    if (const graph::Scope& scope = m_opened.graph().scope(expr.scope); scope.call > 0)
        grid->addRow(tr("Call"), tr("call %1 of the module").arg(scope.call + 1));
}

/// What the layer is set to, and its weights; of a called module, of the layer that it is.
void NodeDetailsPanel::addLayer(const graph::Expr& expr) {
    const graph::InternalGraph& graph = m_opened.graph();
    const ExprId inside = graph::mainLayerOf(graph, expr);
    const graph::Expr& layer = inside.valid() ? graph.expr(inside) : expr;
    std::vector<analysis::LayerFact> facts = analysis::layerFacts(graph, layer);
    if (facts.empty()) return;
    std::ranges::move(analysis::weightFacts(graph, layer), std::back_inserter(facts));
    KeyValueGrid* grid = section(tr("Layer"), QStringLiteral("layer"));
    for (std::size_t i = 0; i < std::min(facts.size(), kMaxRows); ++i)
        grid->addRow(shown(facts[i].name), shown(facts[i].value), true);
}

/// Of a module: what its layer is set to, or each of its layers.
void NodeDetailsPanel::addLayers(ScopeId scope) {
    const graph::InternalGraph& graph = m_opened.graph();
    const auto& outline = m_opened.outline();
    if (!scope.valid() || !outline || !outline->groupOf(scope).valid()) return;
    std::vector<ExprId> layers;
    std::size_t seen = 0;
    layout::forEachExpr(*outline, outline->groupOf(scope), [&](ExprId id) {
        if (++seen > kMaxSearched || layers.size() > kMaxLinks) return;
        const graph::Expr& expr = graph.expr(id);
        if (!analysis::layerFacts(graph, expr).empty() && !analysis::weightFacts(graph, expr).empty())
            layers.push_back(id);
    });
    const bool isAll = seen <= kMaxSearched && layers.size() <= kMaxLinks;
    std::ranges::sort(layers);
    layers.resize(std::min(layers.size(), kMaxLinks));
    if (layers.empty()) return;
    if (layers.size() == 1) return addLayer(graph.expr(layers.front()));
    KeyValueGrid* grid = section(tr("Layers"), QStringLiteral("layers"), isAll ? static_cast<int>(layers.size()) : -1);
    for (const ExprId id : layers) {
        const graph::Expr& expr = graph.expr(id);
        grid->addLink(models::operatorText(expr), models::moduleText(expr),
                      QVariant::fromValue(m_navigation.selectionOf(id)), shown(analysis::layerBrief(graph, expr)));
    }
    if (!isAll) grid->addRow(QString(), tr("and more"));
}

void NodeDetailsPanel::addAttributes(const graph::Expr& expr) {
    const auto& items = expr.attributes.items();
    if (items.empty()) return;
    KeyValueGrid* grid = section(tr("Attributes"), QStringLiteral("attributes"), static_cast<int>(items.size()));
    for (std::size_t i = 0; i < std::min(items.size(), kMaxRows); ++i)
        grid->addRow(shown(items[i].name), shown(tensor::text(items[i].value)), true);
    if (items.size() > kMaxRows) grid->addRow(QString(), tr("+%1 more").arg(items.size() - kMaxRows));
}

void NodeDetailsPanel::addInputs(const graph::Expr& expr) {
    if (expr.inputs.empty()) return;
    KeyValueGrid* grid = section(tr("Inputs"), QStringLiteral("inputs"), static_cast<int>(expr.inputs.size()));
    std::size_t linked = 0;
    for (std::size_t i = 0; i < expr.arguments.size() && linked < kMaxLinks; ++i) {
        const QString key = models::argumentName(expr, i);
        expr.arguments[i].forEachNode([&](NodeId node) {
            if (linked++ < kMaxLinks) addNodeLink(grid, key, node);
        });
        if (expr.arguments[i].kind == graph::Argument::Kind::Constant)
            grid->addRow(key, shown(expr.arguments[i].constant.text(80)), true);
    }
    for (const auto& [name, argument] : expr.keywords) {
        const QString key = shown(name);
        argument.forEachNode([&](NodeId node) {
            if (linked++ < kMaxLinks) addNodeLink(grid, key, node);
        });
    }
    if (expr.inputs.size() > kMaxLinks)
        grid->addRow(QString(), tr("+%1 more").arg(context::countText(expr.inputs.size() - kMaxLinks)));
}

void NodeDetailsPanel::addOutputs(const graph::Expr& expr) {
    if (expr.outputs.size() < 2) return;
    KeyValueGrid* grid = section(tr("Outputs"), QStringLiteral("outputs"), static_cast<int>(expr.outputs.size()));
    for (std::size_t i = 0; i < std::min(expr.outputs.size(), kMaxLinks); ++i)
        addNodeLink(grid, QString::number(i), expr.outputs[i]);
    if (expr.outputs.size() > kMaxLinks)
        grid->addRow(QString(), tr("+%1 more").arg(context::countText(expr.outputs.size() - kMaxLinks)));
}

void NodeDetailsPanel::addConsumers(const graph::Node& node) {
    const std::set<ExprId> users(node.users.begin(), node.users.end());
    KeyValueGrid* grid = section(tr("Consumers"), QStringLiteral("consumers"), static_cast<int>(users.size()));
    if (users.empty()) grid->addRow(tr("Consumers"), tr("none"));
    std::size_t shownUsers = 0;
    for (const ExprId user : users) {
        if (shownUsers++ == kMaxLinks) break;
        const graph::Expr& expr = m_opened.graph().expr(user);
        const QString name =
            expr.outputs.empty() ? models::operatorText(expr) : shown(m_opened.graph().node(expr.outputs.front()).name);
        grid->addLink(models::operatorText(expr), name, QVariant::fromValue(m_navigation.selectionOf(user)),
                      models::moduleText(expr));
    }
    if (users.size() > kMaxLinks)
        grid->addRow(QString(), tr("+%1 more").arg(context::countText(users.size() - kMaxLinks)));
}

void NodeDetailsPanel::addOrigin(const graph::Expr& expr) {
    if (expr.source.empty() && expr.origins.empty() && expr.name.empty()) return;
    KeyValueGrid* grid = section(tr("Source"), QStringLiteral("source"));
    if (!expr.name.empty()) grid->addRow(tr("Name in file"), shown(expr.name));
    const graph::SourcePlace place = expr.source.place();
    if (!place.file.empty()) grid->addRow(tr("Line"), shown(place.text()));
    if (!place.stack.empty()) grid->addRow(tr("Stack"), QString::fromStdString(place.stack.substr(0, 4000)), true);
    if (!place.problem.empty()) grid->addRow(tr("Problem"), shown(place.problem), true);
    for (std::size_t i = 0; i < std::min(expr.origins.size(), kMaxRows); ++i) {
        const graph::Origin& origin = expr.origins[i];
        grid->addRow(tr("Replaces"),
                     origin.name.empty() ? shown(origin.op) : tr("%1 (%2)").arg(shown(origin.op), shown(origin.name)));
    }
    if (expr.origins.size() > kMaxRows) grid->addRow(QString(), tr("+%1 more").arg(expr.origins.size() - kMaxRows));
}

void NodeDetailsPanel::showModule(const Selection& selection) {
    const graph::ModuleTree& tree = *m_opened.document()->modules;
    const auto index = tree.find(selection.qualname.toStdString());
    m_title->setText(selection.qualname.isEmpty() ? shown(m_opened.document()->title)
                                                  : models::oneLine(selection.qualname));
    m_subtitle->setText(index ? models::shortClass(tree.module(*index).moduleClass) : tr("module"));
    KeyValueGrid* grid = section(tr("Module"), QStringLiteral("module"));
    grid->addRow(tr("Qualname"), models::qualnameText(selection.qualname));
    if (selection.qualname.isEmpty()) {
        grid->addRow(tr("Format"), shown(m_opened.document()->format));
        const auto& properties = m_opened.document()->properties;
        for (std::size_t i = 0; i < std::min(properties.size(), kMaxRows); ++i)
            grid->addRow(shown(properties[i].first), shown(properties[i].second));
        if (properties.size() > kMaxRows) grid->addRow(QString(), tr("+%1 more").arg(properties.size() - kMaxRows));
    }
    if (selection.scope.valid()) {
        const graph::Scope& scope = m_opened.graph().scope(selection.scope);
        if (!scope.moduleClass.empty()) grid->addRow(tr("Class"), shown(scope.moduleClass));
        if (scope.parent.valid()) {
            const QString parent = shown(m_opened.graph().scope(scope.parent).qualname);
            grid->addLink(tr("Called in"), parent.isEmpty() ? tr("(root)") : parent,
                          QVariant::fromValue(m_navigation.selectionOf(scope.parent)));
        }
        if (m_opened.outline()) {
            const layout::GroupId group = m_opened.outline()->groupOf(selection.scope);
            if (group.valid())
                grid->addRow(tr("Operations"), context::countText(m_opened.outline()->group(group).exprs -
                                                                  m_opened.outline()->group(group).constants));
        }
        QList<Selection> calls;
        for (const graph::Scope& other : m_opened.graph().scopes())
            if (other.qualname == scope.qualname && other.id != scope.id && calls.size() < 20)
                calls << m_navigation.selectionOf(other.id);
        for (const Selection& call : calls)
            grid->addLink(tr("Also"), tr("call %1").arg(m_opened.graph().scope(call.scope).call + 1),
                          QVariant::fromValue(call));
    }
    addLayers(selection.scope);
    if (!index) return;
    const graph::ModuleInfo& module = tree.module(*index);
    addNotTraced(grid, m_opened, module);
    if (!module.visited)
        grid->addRow(tr("Not reached"), module.note.empty() ? tr("never called while tracing") : shown(module.note));
    addStored(grid, *index);
    if (!module.parameters.empty()) {
        KeyValueGrid* own =
            section(tr("Own parameters"), QStringLiteral("parameters"), static_cast<int>(module.parameters.size()));
        for (std::size_t i = 0; i < std::min(module.parameters.size(), kMaxLinks); ++i)
            own->addRow(shown(module.parameters[i].name), shown(module.parameters[i].type.text()), true);
    }
    if (!module.children.empty()) {
        KeyValueGrid* children =
            section(tr("Submodules"), QStringLiteral("children"), static_cast<int>(module.children.size()));
        for (std::size_t i = 0; i < std::min(module.children.size(), kMaxLinks); ++i) {
            const graph::ModuleInfo& child = tree.module(module.children[i]);
            const QString qualname = QString::fromStdString(child.qualname);
            children->addLink(models::shortClass(child.moduleClass), models::oneLine(qualname),
                              QVariant::fromValue(m_navigation.selectionOf(qualname)));
        }
        if (module.children.size() > kMaxLinks)
            children->addRow(QString(), tr("+%1 more").arg(context::countText(module.children.size() - kMaxLinks)));
    }
}

/// What the module and those in it store; of the root everything, and what is not a parameter of the model that is
/// drawn.
void NodeDetailsPanel::addStored(KeyValueGrid* grid, std::size_t module) {
    const auto counts = context::countsOf(m_opened.whole() ? m_opened.whole() : m_opened.document());
    if (module >= counts->ofModule.size()) return;
    const analysis::ModuleSums& sums = counts->ofModule[module];
    grid->addRow(tr("Parameters"), context::storedText(sums.parameters));
    if (sums.tied > 0)
        grid->addRow(tr("Tied"), tr("%1 of them are shared with another module").arg(context::countText(sums.tied)));
    if (sums.buffers.elements > 0) grid->addRow(tr("Buffers"), context::storedText(sums.buffers));
    if (module != 0) return;
    if (counts->constants.elements > 0) grid->addRow(tr("Constants"), context::storedText(counts->constants));
    if (counts->unread.elements > 0)
        grid->addRow(tr("Not used"),
                     tr("no operation uses %1 of the parameters").arg(context::countText(counts->unread.elements)));
}

void NodeDetailsPanel::refreshMarks() {
    const NodeId node = m_navigation.selection().node;
    m_watch->setVisible(node.valid());
    m_end->setVisible(node.valid());
    m_watch->setChecked(node.valid() && m_points.isWatched(node));
    m_end->setChecked(node.valid() && m_points.isEnd(node));
}

/// On what the selected module returns, as watch points are.
void NodeDetailsPanel::editNote() {
    const NodeId node = models::resultOf(m_opened, m_navigation.selection());
    if (!node.valid()) return;
    if (node != m_navigation.selection().node) m_navigation.navigateTo(node);
    m_note->setFocus();
    m_note->moveCursor(QTextCursor::End);
}

void NodeDetailsPanel::join(const PanelHost& host) {
    host.actions.bind(QStringLiteral("edit.note"), this, [this, show = host.show] {
        show();
        editNote();
    });
    host.actions.bind(QStringLiteral("file.properties"), this, [this, show = host.show] {
        m_navigation.navigateTo(m_navigation.selectionOf(QLatin1String("")));
        show();
    });
}

PanelInfo nodeDetailsPanel() {
    PanelInfo info{QStringLiteral("details"),
                   QObject::tr("Details"),
                   QStringLiteral("details"),
                   PanelArea::Right,
                   QStringLiteral("Alt+3"),
                   [](InspectorContext& context) -> Panel* {
                       return new NodeDetailsPanel(context.model(), context.navigation(), context.points(),
                                                   context.runs(), context.inputs(), context.problems(),
                                                   context.comparison(), context.notes());
                   }};
    info.size = {330, 330};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<NodeDetailsPanel&>(panel).join(host); };
    return info;
}

}  // namespace sonde::panels
