#include "ui/context/remembered.h"

#include <QCryptographicHash>
#include <QSettings>

#include <cmath>
#include <map>

#include "core/session/node_ref.h"
#include "ui/context/stored.h"

namespace sonde::context {
namespace {

using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using graph::ScopeId;

const QChar kTab(u'\t');
const QString kSecond = QStringLiteral("secondCanvas");
const QString kPlaces[] = {QStringLiteral("place"), QStringLiteral("secondPlace")};

QString modelKey(std::uint64_t fingerprint) {
    return QStringLiteral("models/%1").arg(fingerprint, 16, 16, QLatin1Char('0'));
}

QString locationKey(const std::string& location) {
    const QByteArray hash = QCryptographicHash::hash(QByteArray::fromStdString(location), QCryptographicHash::Sha1);
    return QStringLiteral("locations/") + QString::fromLatin1(hash.toHex().left(16));
}

QString text(const InternalGraph& graph, NodeId id) {
    const session::NodeRef ref = session::refOf(graph, id);
    return QString::fromStdString(ref.name) + kTab + QString::fromStdString(ref.qualname);
}

QStringList texts(const InternalGraph& graph, const std::vector<NodeId>& nodes) {
    QStringList list;
    for (const NodeId node : nodes) list << text(graph, node);
    return list;
}

NodeId find(const InternalGraph& graph, const QString& kept) {
    return session::findNode(graph, {kept.section(kTab, 0, 0).toStdString(), kept.section(kTab, 1).toStdString()});
}

std::vector<NodeId> findAll(const InternalGraph& graph, const QStringList& kept) {
    std::vector<NodeId> nodes;
    for (const QString& one : kept)
        if (const NodeId node = find(graph, one); node.valid()) nodes.push_back(node);
    return nodes;
}

QString scopeText(const graph::Scope& scope) {
    return QString::fromStdString(scope.qualname) + kTab + QString::number(scope.call);
}

QString exprText(const InternalGraph& graph, ExprId id) {
    const graph::Expr& expr = graph.expr(id);
    return expr.outputs.empty() ? QString() : QString::fromStdString(graph.node(expr.outputs.front()).name);
}

QStringList scopeTexts(const InternalGraph& graph, const auto& scopes) {
    QStringList texts;
    for (const ScopeId id : scopes) texts << scopeText(graph.scope(id));
    return texts;
}

std::map<QString, ScopeId> scopesByText(const InternalGraph& graph) {
    std::map<QString, ScopeId> scopes;
    for (const graph::Scope& scope : graph.scopes()) scopes.emplace(scopeText(scope), scope.id);
    return scopes;
}

std::vector<ScopeId> findScopes(const std::map<QString, ScopeId>& scopes, const QStringList& kept) {
    std::vector<ScopeId> found;
    for (const QString& text : kept)
        if (const auto at = scopes.find(text); at != scopes.end()) found.push_back(at->second);
    return found;
}

void writeView(QSettings& settings, const InternalGraph& graph, const layout::ViewState& view) {
    QStringList exprs;
    for (const ExprId id : view.openExprs) exprs << exprText(graph, id);
    settings.setValue(QStringLiteral("open"), scopeTexts(graph, view.openScopes));
    settings.setValue(QStringLiteral("openExprs"), exprs);
    settings.setValue(QStringLiteral("leftRight"), view.direction == layout::Direction::LeftRight);
    settings.setValue(QStringLiteral("hideConstants"), view.hideConstants);
    settings.setValue(QStringLiteral("foldShapes"), view.foldShapes);
    settings.setValue(QStringLiteral("folds"), view.foldFrom > 0);
    settings.setValue(QStringLiteral("unfolded"), scopeTexts(graph, view.unfolded));
    QStringList instances;
    for (const auto& [scope, instance] : view.shownInstance)
        instances << QString::number(instance) + kTab + scopeText(graph.scope(scope));
    settings.setValue(QStringLiteral("instances"), instances);
}

layout::ViewState readView(const QSettings& settings, const InternalGraph& graph) {
    layout::ViewState view;
    const std::map<QString, ScopeId> scopes = scopesByText(graph);
    for (const ScopeId scope : findScopes(scopes, settings.value(QStringLiteral("open")).toStringList()))
        view.openScopes.insert(scope);
    for (const QString& kept : settings.value(QStringLiteral("openExprs")).toStringList())
        if (const NodeId node = graph.findNode(kept.toStdString()); node.valid())
            view.openExprs.insert(graph.node(node).producer);
    if (settings.value(QStringLiteral("leftRight")).toBool()) view.direction = layout::Direction::LeftRight;
    view.hideConstants = settings.value(QStringLiteral("hideConstants"), true).toBool();
    view.foldShapes = settings.value(QStringLiteral("foldShapes"), false).toBool();
    view.foldFrom = settings.value(QStringLiteral("folds"), true).toBool() ? kFoldFrom : 0;
    for (const ScopeId scope : findScopes(scopes, settings.value(QStringLiteral("unfolded")).toStringList()))
        view.unfolded.insert(scope);
    for (const QString& kept : settings.value(QStringLiteral("instances")).toStringList())
        if (const auto found = scopes.find(kept.section(kTab, 1)); found != scopes.end())
            view.shownInstance[found->second] = kept.section(kTab, 0, 0).toUInt();
    return view;
}

void writePlace(QSettings& settings, const InternalGraph& graph, const Place& place) {
    settings.setValue(QStringLiteral("kind"), static_cast<int>(place.kind));
    settings.setValue(QStringLiteral("node"), place.node.valid() ? text(graph, place.node) : QString());
    settings.setValue(QStringLiteral("module"), place.scope.valid() ? scopeText(graph.scope(place.scope)) : QString());
    settings.setValue(QStringLiteral("offset"), place.offset);
    settings.setValue(QStringLiteral("scale"), place.scale);
}

/// One that is not what was written, or of which nothing is left, is the first.
Place readPlace(const QSettings& settings, const InternalGraph& graph) {
    Place place;
    const int kind = settings.value(QStringLiteral("kind"), 0).toInt();
    place.offset = settings.value(QStringLiteral("offset")).toPointF();
    place.scale = settings.value(QStringLiteral("scale")).toDouble();
    if (kind == static_cast<int>(Place::Kind::Fitted)) place.kind = Place::Kind::Fitted;
    const bool finite = std::isfinite(place.offset.x()) && std::isfinite(place.offset.y()) && place.scale >= 0.001 &&
                        place.scale <= 100;
    if (kind != static_cast<int>(Place::Kind::Moved) || !finite) return place;
    const QString module = settings.value(QStringLiteral("module")).toString(),
                  node = settings.value(QStringLiteral("node")).toString();
    if (const auto found = findScopes(scopesByText(graph), {module}); !module.isEmpty() && !found.empty())
        place.scope = found.front();
    if (!node.isEmpty()) place.node = find(graph, node);
    if (place.scope.valid() || place.node.valid()) place.kind = Place::Kind::Moved;
    return place;
}

void write(QSettings& settings, const document::Document& document, const Remembered& state) {
    const InternalGraph& graph = *document.graph;
    const QString key = modelKey(document.fingerprint);
    settings.setValue(locationKey(document.location), key);
    settings.beginGroup(key);
    settings.setValue(QStringLiteral("watched"), texts(graph, state.watched));
    settings.setValue(QStringLiteral("ends"), texts(graph, state.ends));
    settings.setValue(QStringLiteral("acceptedBad"), texts(graph, state.accepted));
    if (state.tolerance) settings.setValue(QStringLiteral("tolerance"), *state.tolerance);
    else settings.remove(QStringLiteral("tolerance"));
    settings.setValue(QStringLiteral("bookmarks"), texts(graph, state.bookmarkedNodes));
    settings.setValue(QStringLiteral("bookmarkedModules"), scopeTexts(graph, state.bookmarkedScopes));
    settings.beginWriteArray(QStringLiteral("inputs"), static_cast<int>(state.inputs.size()));
    for (int i = 0; i < static_cast<int>(state.inputs.size()); ++i) {
        const auto& [name, spec] = state.inputs[static_cast<std::size_t>(i)];
        settings.setArrayIndex(i);
        settings.setValue(QStringLiteral("name"), name);
        settings.setValue(QStringLiteral("source"), spec.source);
        settings.setValue(QStringLiteral("resize"), spec.image.resize);
        settings.setValue(QStringLiteral("preset"), spec.image.preset);
    }
    settings.endArray();
    if (state.view) writeView(settings, graph, *state.view);
    if (state.secondView && state.view && *state.secondView == *state.view) settings.remove(kSecond);
    else if (state.secondView) {
        settings.beginGroup(kSecond);
        writeView(settings, graph, *state.secondView);
        settings.endGroup();
    }
    settings.endGroup();
}

}  // namespace

void remember(std::shared_ptr<const document::Document> document, Remembered state) {
    storeLater([document = std::move(document), state = std::move(state)](QSettings& settings) {
        write(settings, *document, state);
    });
}

void rememberPlace(std::shared_ptr<const document::Document> document, int canvas, const Place& place) {
    storeLater([document = std::move(document), canvas, place](QSettings& settings) {
        settings.beginGroup(modelKey(document->fingerprint) + QLatin1Char('/') + kPlaces[canvas]);
        writePlace(settings, *document->graph, place);
        settings.endGroup();
    });
}

Remembered recall(const document::Document& document) {
    waitUntilStored();
    const InternalGraph& graph = *document.graph;
    QSettings settings;
    QString key = modelKey(document.fingerprint);
    if (!settings.contains(key + QStringLiteral("/watched")))
        key = settings.value(locationKey(document.location)).toString();
    Remembered state;
    if (key.isEmpty() || !settings.contains(key + QStringLiteral("/watched"))) return state;
    settings.beginGroup(key);
    state.watched = findAll(graph, settings.value(QStringLiteral("watched")).toStringList());
    state.ends = findAll(graph, settings.value(QStringLiteral("ends")).toStringList());
    state.accepted = findAll(graph, settings.value(QStringLiteral("acceptedBad")).toStringList());
    bool isNumber = false;
    if (const double tolerance = settings.value(QStringLiteral("tolerance")).toDouble(&isNumber); isNumber)
        state.tolerance = tolerance;
    state.bookmarkedNodes = findAll(graph, settings.value(QStringLiteral("bookmarks")).toStringList());
    state.bookmarkedScopes =
        findScopes(scopesByText(graph), settings.value(QStringLiteral("bookmarkedModules")).toStringList());
    const int count = settings.beginReadArray(QStringLiteral("inputs"));
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        InputSpec spec;
        spec.source = settings.value(QStringLiteral("source")).toString();
        spec.image.resize = settings.value(QStringLiteral("resize"), true).toBool();
        spec.image.preset = settings.value(QStringLiteral("preset"), spec.image.preset).toString();
        state.inputs.emplace_back(settings.value(QStringLiteral("name")).toString(), spec);
    }
    settings.endArray();
    state.view = readView(settings, graph);
    settings.beginGroup(kSecond);
    if (settings.contains(QStringLiteral("open"))) state.secondView = readView(settings, graph);
    settings.endGroup();
    for (int canvas : {0, 1}) {
        settings.beginGroup(kPlaces[canvas]);
        (canvas == 0 ? state.place : state.secondPlace) = readPlace(settings, graph);
        settings.endGroup();
    }
    return state;
}

}  // namespace sonde::context
