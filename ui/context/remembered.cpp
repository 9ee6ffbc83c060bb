#include "ui/context/remembered.h"

#include <QCryptographicHash>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/session/watch/node_identity.h"
#include "ui/context/stored_groups.h"

namespace sonde::context {
namespace {

using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using graph::ScopeId;

const QChar kTab(u'\t'), kSlash(u'/');
const QString kLocations = QStringLiteral("locations");
const QString kSecond = QStringLiteral("secondCanvas");
const QString kCanvases[] = {QString(), kSecond + kSlash};
const QString kPlaces[] = {QStringLiteral("place"), QStringLiteral("secondPlace")};

QString modelKey(std::uint64_t fingerprint) {
    return QStringLiteral("models/%1").arg(fingerprint, 16, 16, QLatin1Char('0'));
}

QString locationName(const std::string& location) {
    const QByteArray hash = QCryptographicHash::hash(QByteArray::fromStdString(location), QCryptographicHash::Sha1);
    return QString::fromLatin1(hash.toHex().left(16));
}

/// An index of a graph's nodes, which takes its time: made when it is needed first.
class Index {
  public:
    explicit Index(const InternalGraph& graph) : m_graph(graph) {}
    const session::IdentityIndex& get() {
        if (!m_index) m_index.emplace(m_graph);
        return *m_index;
    }

  private:
    const InternalGraph& m_graph;
    std::optional<session::IdentityIndex> m_index;
};

/// Of the place of a canvas, which is written often, name and module only.
QString shortText(const InternalGraph& graph, NodeId id) {
    return QString::fromStdString(graph.node(id).name) + kTab +
           QString::fromStdString(graph.expr(graph.node(id).producer).qualname.value_or(""));
}

QStringList texts(Index& index, const std::vector<NodeId>& nodes) {
    QStringList list;
    for (const NodeId node : nodes) list << QString::fromStdString(index.get().of(node).text());
    return list;
}

QStringList texts(const std::vector<session::NodeIdentity>& identities) {
    QStringList list;
    for (const session::NodeIdentity& identity : identities) list << QString::fromStdString(identity.text());
    return list;
}

std::vector<session::NodeIdentity> identities(const QStringList& texts) {
    std::vector<session::NodeIdentity> identities;
    for (const QString& text : texts) identities.push_back(session::NodeIdentity::of(text.toStdString()));
    return identities;
}

/// "query<tab>0<tab>op:Conv".
QStringList texts(const std::vector<session::WatchGroup>& groups) {
    QStringList list;
    for (const session::WatchGroup& group : groups)
        list << QString::fromStdString(std::string(session::name(group.kind)) + '\t' + std::to_string(group.call) +
                                       '\t' + group.text);
    return list;
}

std::vector<session::WatchGroup> groups(const QStringList& texts) {
    std::vector<session::WatchGroup> groups;
    for (const QString& text : texts)
        if (const auto kind = session::watchGroupKind(text.section(kTab, 0, 0).toStdString()))
            groups.push_back({*kind, text.section(kTab, 2).toStdString(), text.section(kTab, 1, 1).toInt()});
    return groups;
}

/// "1<newline>max(abs(fc))<newline>PIN": whether it is enabled, the text, the identity of the node.
QStringList texts(Index& index, const std::vector<session::ExpressionWatches::Entry>& entries) {
    QStringList list;
    for (const session::ExpressionWatches::Entry& entry : entries) {
        std::string pin;
        if (entry.missingPin) pin = entry.missingPin->text();
        if (entry.pin.valid()) pin = index.get().of(entry.pin).text();
        QString text = QString::fromStdString(entry.text);
        text.replace(u'\n', u' ');
        list << QString::number(entry.isEnabled ? 1 : 0) + u'\n' + text + u'\n' + QString::fromStdString(pin);
    }
    return list;
}

std::vector<session::ExpressionWatch> expressionWatches(const QStringList& texts) {
    std::vector<session::ExpressionWatch> watches;
    for (const QString& text : texts) {
        session::ExpressionWatch watch{text.section(u'\n', 1, 1).toStdString(), {}, text.section(u'\n', 0, 0) != u"0"};
        if (const QString pin = text.section(u'\n', 2); !pin.isEmpty())
            watch.pin = session::NodeIdentity::of(pin.toStdString());
        watches.push_back(std::move(watch));
    }
    return watches;
}

/// The identity of the node, then the text, which may have several lines.
QStringList noteTexts(const std::vector<session::Notes::Kept>& notes) {
    QStringList texts;
    for (const session::Notes::Kept& note : notes)
        texts << QString::fromStdString(note.identity.text()) << QString::fromStdString(note.text);
    return texts;
}

std::vector<session::Notes::Kept> notesOf(const QStringList& texts) {
    std::vector<session::Notes::Kept> notes;
    for (qsizetype i = 0; i + 1 < texts.size(); i += 2)
        notes.push_back({session::NodeIdentity::of(texts[i].toStdString()), texts[i + 1].toStdString()});
    return notes;
}

NodeId find(Index& index, const QString& kept) {
    return index.get().find(session::NodeIdentity::of(kept.toStdString())).node;
}

std::vector<NodeId> findAll(Index& index, const QStringList& kept) {
    std::vector<NodeId> nodes;
    for (const QString& one : kept)
        if (const NodeId node = find(index, one); node.valid()) nodes.push_back(node);
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

/// As layout::Wrapping has them.
const std::array kWrappings{QStringLiteral("automatic"), QStringLiteral("on"), QStringLiteral("off")};
constexpr double kMinColumn = 100, kMaxColumn = 1e6;

void addView(Group& group, const QString& below, const InternalGraph& graph, const layout::ViewState& view) {
    QStringList exprs, instances;
    for (const ExprId id : view.openExprs) exprs << exprText(graph, id);
    for (const auto& [scope, instance] : view.shownInstance)
        instances << QString::number(instance) + kTab + scopeText(graph.scope(scope));
    group[below + QStringLiteral("open")] = scopeTexts(graph, view.openScopes);
    group[below + QStringLiteral("openExprs")] = exprs;
    group[below + QStringLiteral("leftRight")] = view.direction == layout::Direction::LeftRight;
    group[below + QStringLiteral("hideConstants")] = view.hideConstants;
    group[below + QStringLiteral("foldShapes")] = view.foldShapes;
    group[below + QStringLiteral("folds")] = view.foldFrom > 0;
    group[below + QStringLiteral("unfolded")] = scopeTexts(graph, view.unfolded);
    group[below + QStringLiteral("instances")] = instances;
    group[below + QStringLiteral("wrapping")] = kWrappings[static_cast<std::size_t>(view.wrapping)];
    group[below + QStringLiteral("columnHeight")] = view.columnHeight;
}

layout::ViewState viewOf(const Group& group, const QString& below, const InternalGraph& graph) {
    const auto value = [&](const char* key, const QVariant& fallback = {}) {
        return group.value(below + QLatin1String(key), fallback);
    };
    layout::ViewState view;
    const std::map<QString, ScopeId> scopes = scopesByText(graph);
    for (const ScopeId scope : findScopes(scopes, value("open").toStringList())) view.openScopes.insert(scope);
    for (const QString& kept : value("openExprs").toStringList())
        if (const NodeId node = graph.findNode(kept.toStdString()); node.valid())
            view.openExprs.insert(graph.node(node).producer);
    if (value("leftRight").toBool()) view.direction = layout::Direction::LeftRight;
    view.hideConstants = value("hideConstants", true).toBool();
    view.foldShapes = value("foldShapes", false).toBool();
    view.foldFrom = value("folds", true).toBool() ? kFoldFrom : 0;
    const auto wrapping = std::find(kWrappings.begin(), kWrappings.end(), value("wrapping").toString());
    if (wrapping != kWrappings.end()) view.wrapping = static_cast<layout::Wrapping>(wrapping - kWrappings.begin());
    // A file may say anything.
    if (const double height = value("columnHeight").toDouble(); height >= kMinColumn && height <= kMaxColumn)
        view.columnHeight = view.wrapping == layout::Wrapping::Off ? 0 : height;
    for (const ScopeId scope : findScopes(scopes, value("unfolded").toStringList())) view.unfolded.insert(scope);
    for (const QString& kept : value("instances").toStringList())
        if (const auto found = scopes.find(kept.section(kTab, 1)); found != scopes.end())
            view.shownInstance[found->second] = kept.section(kTab, 0, 0).toUInt();
    return view;
}

constexpr qsizetype kBreakpointFields = 6;

/// kBreakpointFields texts of each.
QStringList breakpointTexts(const std::vector<session::debug::SavedBreakpoint>& points) {
    QStringList texts;
    for (const session::debug::SavedBreakpoint& point : points)
        texts << QString::fromStdString(point.where) << QString::fromStdString(point.qualname)
              << QString::fromStdString(point.expression) << (point.isLog ? QStringLiteral("log") : QString())
              << (point.isEnabled ? QStringLiteral("on") : QString())
              << QString::number(static_cast<qulonglong>(point.ignored));
    return texts;
}

std::vector<session::debug::SavedBreakpoint> breakpointsOf(const QStringList& texts) {
    std::vector<session::debug::SavedBreakpoint> points;
    for (qsizetype i = 0; i + kBreakpointFields <= texts.size(); i += kBreakpointFields)
        points.push_back({texts[i].toStdString(), texts[i + 1].toStdString(), texts[i + 2].toStdString(),
                          !texts[i + 3].isEmpty(), !texts[i + 4].isEmpty(),
                          static_cast<std::size_t>(texts[i + 5].toULongLong())});
    return points;
}

Group groupOf(const InternalGraph& graph, int canvas, const Place& place) {
    const QString below = kPlaces[canvas] + kSlash;
    return {{below + QStringLiteral("kind"), static_cast<int>(place.kind)},
            {below + QStringLiteral("node"), place.node.valid() ? shortText(graph, place.node) : QString()},
            {below + QStringLiteral("module"), place.scope.valid() ? scopeText(graph.scope(place.scope)) : QString()},
            {below + QStringLiteral("offset"), place.offset},
            {below + QStringLiteral("scale"), place.scale}};
}

/// One that is not what was written, or of which nothing is left, is the first.
Place placeOf(const Group& group, int canvas, const InternalGraph& graph, Index& index) {
    const auto value = [&](const char* key) { return group.value(kPlaces[canvas] + kSlash + QLatin1String(key)); };
    Place place;
    const int kind = value("kind").toInt();
    place.offset = value("offset").toPointF();
    place.scale = value("scale").toDouble();
    if (kind == static_cast<int>(Place::Kind::Fitted)) place.kind = Place::Kind::Fitted;
    const bool finite = std::isfinite(place.offset.x()) && std::isfinite(place.offset.y()) && place.scale >= 0.001 &&
                        place.scale <= 100;
    if (kind != static_cast<int>(Place::Kind::Moved) || !finite) return place;
    const QString module = value("module").toString(), node = value("node").toString();
    if (const auto found = findScopes(scopesByText(graph), {module}); !module.isEmpty() && !found.empty())
        place.scope = found.front();
    if (!node.isEmpty()) {
        // As a rule the name does, and the index is not needed.
        place.node = graph.findNode(session::NodeIdentity::of(node.toStdString()).name);
        if (!place.node.valid()) place.node = find(index, node);
    }
    if (place.scope.valid() || place.node.valid()) place.kind = Place::Kind::Moved;
    return place;
}

Group groupOf(const InternalGraph& graph, const Remembered& state) {
    Group group;
    Index index(graph);
    group[QStringLiteral("watched")] = texts(state.watched.identities(graph));
    group[QStringLiteral("ends")] = texts(state.ends.identities(graph));
    group[QStringLiteral("watchGroups")] = texts(state.groups);
    group[QStringLiteral("expressions")] = texts(index, state.expressions);
    group[QStringLiteral("breakpoints")] = breakpointTexts(state.breakpoints);
    group[QStringLiteral("notes")] = noteTexts(state.notes.all(graph));
    group[QStringLiteral("acceptedBad")] = texts(index, state.accepted);
    group[QStringLiteral("tolerance")] = state.tolerance ? QVariant(*state.tolerance) : QVariant();
    group[QStringLiteral("bookmarks")] = texts(index, state.bookmarkedNodes);
    group[QStringLiteral("bookmarkedModules")] = scopeTexts(graph, state.bookmarkedScopes);
    // As QSettings::beginWriteArray() writes a list: earlier versions did.
    group[QStringLiteral("inputs/size")] = static_cast<int>(state.inputs.size());
    for (std::size_t i = 0; i < state.inputs.size(); ++i) {
        const auto& [name, spec] = state.inputs[i];
        const QString below = QStringLiteral("inputs/%1/").arg(i + 1);
        group[below + QStringLiteral("name")] = name;
        group[below + QStringLiteral("source")] = spec.source;
        group[below + QStringLiteral("resize")] = spec.image.resize;
        group[below + QStringLiteral("preset")] = spec.image.preset;
    }
    if (state.view) addView(group, kCanvases[0], graph, *state.view);
    if (state.secondView && state.view && *state.secondView == *state.view) group[kSecond] = QVariant();
    else if (state.secondView) addView(group, kCanvases[1], graph, *state.secondView);
    return group;
}

Remembered stateOf(const Group& group, const InternalGraph& graph) {
    Index index(graph);
    const auto nodes = [&](const char* key) { return findAll(index, group.value(QLatin1String(key)).toStringList()); };
    Remembered state;
    state.watched.assign(graph, identities(group.value(QStringLiteral("watched")).toStringList()));
    state.ends.assign(graph, identities(group.value(QStringLiteral("ends")).toStringList()));
    state.groups = groups(group.value(QStringLiteral("watchGroups")).toStringList());
    state.expressionWatches = expressionWatches(group.value(QStringLiteral("expressions")).toStringList());
    state.breakpoints = breakpointsOf(group.value(QStringLiteral("breakpoints")).toStringList());
    state.keptNotes = notesOf(group.value(QStringLiteral("notes")).toStringList());
    state.accepted = nodes("acceptedBad");
    bool isNumber = false;
    if (const double tolerance = group.value(QStringLiteral("tolerance")).toDouble(&isNumber); isNumber)
        state.tolerance = tolerance;
    state.bookmarkedNodes = nodes("bookmarks");
    state.bookmarkedScopes =
        findScopes(scopesByText(graph), group.value(QStringLiteral("bookmarkedModules")).toStringList());
    const int count = group.value(QStringLiteral("inputs/size")).toInt();
    for (int i = 1; i <= count; ++i) {
        const auto value = [&, below = QStringLiteral("inputs/%1/").arg(i)](const char* key,
                                                                            const QVariant& fallback = {}) {
            return group.value(below + QLatin1String(key), fallback);
        };
        InputSpec spec;
        spec.source = value("source").toString();
        spec.image.resize = value("resize", true).toBool();
        spec.image.preset = value("preset", spec.image.preset).toString();
        state.inputs.emplace_back(value("name").toString(), spec);
    }
    if (group.contains(kCanvases[0] + QStringLiteral("open"))) state.view = viewOf(group, kCanvases[0], graph);
    if (group.contains(kCanvases[1] + QStringLiteral("open"))) state.secondView = viewOf(group, kCanvases[1], graph);
    state.place = placeOf(group, 0, graph, index);
    state.secondPlace = placeOf(group, 1, graph, index);
    return state;
}

bool isOfModel(const Group& group) { return group.contains(QStringLiteral("watched")); }

}  // namespace

void remember(std::shared_ptr<const document::Document> document, Remembered state) {
    const QString key = modelKey(document->fingerprint);
    storeGroup(kLocations, [name = locationName(document->location), key] { return Group{{name, key}}; });
    storeGroup(key, [document = std::move(document), kept = std::make_shared<const Remembered>(std::move(state))] {
        return groupOf(*document->graph, *kept);
    });
}

void rememberPlace(std::shared_ptr<const document::Document> document, int canvas, const Place& place) {
    const QString key = modelKey(document->fingerprint);
    storeGroup(key,
               [document = std::move(document), canvas, place] { return groupOf(*document->graph, canvas, place); });
}

void fetchRemembered(const document::Document& document) {
    fetchGroup(kLocations);
    const Group locations = storedGroup(kLocations);
    const auto fetch = [&locations](const document::Document& one) {
        fetchGroup(modelKey(one.fingerprint));
        if (const QString last = locations.value(locationName(one.location)).toString(); !last.isEmpty())
            fetchGroup(last);
    };
    fetch(document);
    if (const auto before = document::documentBeforePasses(document)) fetch(*before);
    for (std::size_t i = 0; i < document.parts.size(); ++i)
        if (const auto part = document::documentOfPart(document, i)) fetch(*part);
}

Remembered recall(const document::Document& document) {
    Group group = storedGroup(modelKey(document.fingerprint));
    if (!isOfModel(group)) {
        const QString last = storedGroup(kLocations).value(locationName(document.location)).toString();
        if (!last.isEmpty()) group = storedGroup(last);
    }
    return isOfModel(group) ? stateOf(group, *document.graph) : Remembered();
}

std::map<std::string, std::string> viewTexts(const graph::InternalGraph& graph, const layout::ViewState& view,
                                             int canvas) {
    Group group;
    addView(group, kCanvases[canvas], graph, view);
    std::map<std::string, std::string> texts;
    for (auto one = group.cbegin(); one != group.cend(); ++one)
        texts[one.key().toStdString()] =
            (one.value().typeId() == QMetaType::QStringList ? one.value().toStringList().join(QLatin1Char('\n'))
                                                            : one.value().toString())
                .toStdString();
    return texts;
}

std::optional<layout::ViewState> viewOfTexts(const graph::InternalGraph& graph,
                                             const std::map<std::string, std::string>& texts, int canvas) {
    static const QStringList lists{QStringLiteral("open"), QStringLiteral("openExprs"), QStringLiteral("unfolded"),
                                   QStringLiteral("instances")};
    const QString& below = kCanvases[canvas];
    if (!texts.contains(below.toStdString() + "open")) return std::nullopt;
    Group group;
    for (const auto& [key, value] : texts) {
        const QString name = QString::fromStdString(key), text = QString::fromStdString(value);
        if (!name.startsWith(below)) continue;
        if (lists.contains(name.mid(below.size()))) group[name] = text.split(QLatin1Char('\n'), Qt::SkipEmptyParts);
        else group[name] = text;
    }
    return viewOf(group, below, graph);
}

}  // namespace sonde::context
