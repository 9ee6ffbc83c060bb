#include "ui/window/script.h"

#include <QAction>
#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QRegularExpression>
#include <QSpinBox>

#include "core/io/image/image.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/context/comparison.h"
#include "ui/models/node_columns.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/theme/theme.h"
#include "ui/widgets/banner.h"
#include "ui/window/main_window.h"
#include "ui/window/script_commands.h"
#include "ui/window/search_bar.h"

namespace sonde::window {

using base::Error;
using base::Result;
using base::usageError;
using context::Selection;

namespace {

constexpr int kPollMs = 15;
constexpr int kQuietTurns = 3;  // idle so many times in a row: queued calls have been delivered

QString firstWord(const QString& text) { return text.section(QRegularExpression(QStringLiteral("\\s+")), 0, 0); }
QString afterFirstWord(const QString& text) { return text.mid(firstWord(text).size()).trimmed(); }

void sendMouse(QWidget* widget, QEvent::Type type, QPointF place, Qt::MouseButton button, Qt::MouseButtons buttons) {
    QMouseEvent event(type, place, widget->mapToGlobal(place), button, buttons, Qt::NoModifier);
    QApplication::sendEvent(widget, &event);
}

}  // namespace

Script::Script(MainWindow& window, const QString& model, const QString& text, const QString& folder, QObject* parent)
    : QObject(parent), m_window(window), m_model(model), m_lines(text.split(QLatin1Char('\n'))), m_folder(folder) {
    m_poll.setInterval(kPollMs);
    connect(&m_poll, &QTimer::timeout, this, &Script::poll);
    connect(&window.context(), &context::InspectorContext::loadFailed, this,
            [this](const Error& error) { m_loadError = error; });
    // A line that opens a library shows the question of the window, which can be photographed; nothing has run.
    connect(&window.context(), &context::InspectorContext::consentRequested, this, [this] {
        if (m_line > 0) m_loadError.reset();
    });
}

void Script::start() {
    QTimer::singleShot(0, this, [this] { m_model.isEmpty() ? step() : openModel(m_model); });
}

void Script::openModel(const QString& model) {
    m_loadError.reset();
    const bool local = !model.startsWith(QLatin1String("zoo:"));
    m_window.open(local ? QDir(m_folder).absoluteFilePath(model) : model);
    waitForIdle(kDefaultWaitSeconds);
}

void Script::poll() {
    m_quietTurns = m_window.isIdle() ? m_quietTurns + 1 : 0;
    if (m_quietTurns >= kQuietTurns) {
        m_poll.stop();
        if (m_loadError) return fail(*std::exchange(m_loadError, {}));
        // Files of inputs are read before it is known whether the model can run on them.
        const auto& refusal = m_window.context().refusal();
        if (std::exchange(m_awaitsRun, false) && refusal)
            return fail(usageError("not run: " + refusal->what, refusal->where, refusal->hint));
        step();
    } else if (m_waiting.elapsed() > 1000LL * m_waitSeconds) {
        m_poll.stop();
        fail(usageError("still busy after " + std::to_string(m_waitSeconds) + " s"));
    }
}

void Script::fail(Error error) {
    if (m_line > 0) {
        const std::string line = "line " + std::to_string(m_line);
        error.kind = base::ErrorKind::Usage;
        error.where = error.where.empty() ? line : line + ": " + error.where;
    }
    m_error = std::move(error);
    Q_EMIT finished();
}

void Script::waitForIdle(int seconds) {
    m_waitSeconds = seconds;
    m_quietTurns = 0;
    m_waiting.start();
    m_poll.start();
}

void Script::step() {
    while (m_line < m_lines.size()) {
        const QString line = m_lines[m_line++].trimmed();
        if (line.isEmpty() || line.startsWith(QLatin1Char('#'))) continue;
        const QString command = firstWord(line);
        const QString rest = afterFirstWord(line);
        if (command == u"quit") break;
        if (const Result<void> done = perform(command, rest); !done) return fail(done.error());
        if (m_poll.isActive()) return;
    }
    Q_EMIT finished();
}

Result<void> Script::perform(const QString& command, const QString& rest) {
    context::InspectorContext& context = m_window.context();
    const ScriptCommand* known = findScriptCommand(command.toStdString());
    if (!known) return usageError("unknown command", command.toStdString(), "sonde window --help lists the commands");
    if (known->needsModel && !context.hasModel()) return usageError("no model is open", {}, "open MODEL comes first");
    if (command == u"open") {
        if (rest.isEmpty()) return usageError("open needs a model");
        openModel(rest);
        return {};
    }
    if (command == u"theme") {
        static const QHash<QString, theme::Theme::Mode> modes{{"light", theme::Theme::Mode::Light},
                                                              {"dark", theme::Theme::Mode::Dark},
                                                              {"contrast", theme::Theme::Mode::HighContrast}};
        if (!modes.contains(rest)) return usageError("no such theme", rest.toStdString(), "light, dark or contrast");
        theme::Theme::instance().setMode(modes[rest]);
        return {};
    }
    if (command == u"size") {
        SONDE_ASSIGN(const QSize size, parseSize(rest));
        m_window.resize(size);
        waitForIdle(kDefaultWaitSeconds);
        return {};
    }
    if (command == u"panel") {
        if (!m_window.dock(rest)) return usageError("no such panel", rest.toStdString(), panelIds());
        m_window.showPanel(rest);
        waitForIdle(kDefaultWaitSeconds);  // some are filled when they are first seen
        return {};
    }
    if (command == u"wait") {
        waitForIdle(rest.isEmpty() ? kDefaultWaitSeconds : std::max(1, rest.toInt()));
        return {};
    }
    if (command == u"help") {
        m_window.actions()
            .action(rest == u"operators" ? QStringLiteral("help.operators") : QStringLiteral("help.contents"))
            ->trigger();
        return {};
    }
    if (command == u"key") return pressKeys(rest);
    if (command == u"screenshot") return takePicture(rest);

    if (command == u"expand") return expand(rest, true);
    if (command == u"collapse") return expand(rest.isEmpty() ? QStringLiteral("all") : rest, false);
    if (command == u"clear") {
        context.clearWatched();
        context.clearEnds();
        return {};
    }
    if (command == u"input") return giveInput(rest);
    if (command == u"run") {
        context.run();
        m_awaitsRun = true;
        waitForIdle(kDefaultWaitSeconds);
        return {};
    }
    if (command == u"compare") return compare(rest);
    if (command == u"difference") return goToDifference(rest);
    if (command == u"search") {
        m_window.searchBar()->activate(rest);
        if (m_window.searchBar()->search(rest) == 0) return usageError("no node matches", rest.toStdString());
        waitForIdle(kDefaultWaitSeconds);
        return {};
    }
    if (command == u"view") return showView(rest);
    if (command == u"zoom") return zoom(rest);
    if (command == u"direction") {
        if (rest != u"down" && rest != u"right")
            return usageError("no such direction", rest.toStdString(), "down or right");
        context.setDirection(rest == u"right" ? layout::Direction::LeftRight : layout::Direction::TopDown);
        waitForIdle(kDefaultWaitSeconds);
        return {};
    }
    if (command == u"trace") return traceAgain(rest);
    if (command == u"focus") return focus(rest);
    static const QStringList looks{"fold", "instance", "color", "edges", "bookmark", "legend", "iteration"};
    if (looks.contains(command)) return look(command, rest);
    if (command == u"graph") {
        const int graph = rest.isEmpty() ? 0 : context.graphOfModule(rest);
        if (graph < 0)
            return usageError("there is no separate graph of that module", rest.toStdString(),
                              "trace tracer=robust comes first");
        context.showGraph(graph);
        waitForIdle(kDefaultWaitSeconds);
        return {};
    }
    if (command == u"click" || command == u"doubleclick") return clickNode(rest, command == u"doubleclick");
    // select, watch, end: a node; select also takes a module.
    if (command == u"select" && context.document()->modules->find(rest.toStdString())) {
        context.navigateTo(context.selectionOf(rest));
        waitForIdle(kDefaultWaitSeconds);
        return {};
    }
    SONDE_ASSIGN(const graph::NodeId node, context.document()->findNode(rest.toStdString()));
    if (command == u"select") context.navigateTo(node);
    if (command == u"watch") context.setWatched(node, true);
    if (command == u"end") context.setEnd(node, true);
    waitForIdle(kDefaultWaitSeconds);
    return {};
}

Result<void> Script::compare(const QString& with) {
    if (with.isEmpty()) return usageError("compare needs a file, zoo:NAME or passes");
    if (with == u"passes" && !m_window.actions().action(QStringLiteral("compare.passes"))->isEnabled())
        return usageError("no passes have run on this model");
    context::Comparison& comparison = m_window.context().comparison();
    comparison.clear();
    // What came of it is known when it has ended.
    auto* ending = new QObject(this);
    connect(&comparison, &context::Comparison::changed, ending, [this, &comparison, ending] {
        if (comparison.isActive()) return;
        if (!comparison.isKnown()) {
            const std::string why = m_window.banner()->isVisible() ? m_window.banner()->text().toStdString() : "";
            m_loadError = usageError("nothing was compared" + (why.empty() ? "" : ": " + why));
        } else if (comparison.compared() == 0) {
            m_loadError = usageError("nothing was compared", {}, comparison.summary().toStdString());
        }
        ending->deleteLater();
    });
    const bool isFile = with != u"passes" && !with.startsWith(QLatin1String("zoo:"));
    if (with == u"passes") comparison.withBeforePasses();
    else comparison.withFile(isFile ? QDir(m_folder).absoluteFilePath(with) : with);
    waitForIdle(kDefaultWaitSeconds);
    return {};
}

Result<void> Script::goToDifference(const QString& which) {
    static const QHash<QString, QString> actions{{QString(), QStringLiteral("compare.next")},
                                                 {QStringLiteral("next"), QStringLiteral("compare.next")},
                                                 {QStringLiteral("previous"), QStringLiteral("compare.previous")},
                                                 {QStringLiteral("worst"), QStringLiteral("compare.worst")}};
    if (!actions.contains(which))
        return usageError("no such difference", which.toStdString(), "next, previous or worst");
    if (!m_window.context().comparison().isKnown())
        return usageError("nothing is compared", {}, "compare FILE comes first");
    if (m_window.context().comparison().differing() == 0)
        return usageError("no value differs by more than the tolerance");
    m_window.actions().action(actions[which])->trigger();
    waitForIdle(kDefaultWaitSeconds);
    return {};
}

Result<void> Script::focus(const QString& how) {
    context::InspectorContext& context = m_window.context();
    const QString kind = firstWord(how);
    const int depth = afterFirstWord(how).toInt();
    if (kind == u"up" || kind == u"down" || kind == u"around") {
        context.focusConeOfSelection(kind != u"down", kind != u"up");
        if (depth > 0) context.focusCone(kind != u"down", kind != u"up", depth);
    } else if (kind == u"paths") {
        if (!context.focusPaths()) return usageError("no paths", {}, "select two nodes between which data flows");
    } else if (kind == u"only") context.isolateSelection();
    else if (kind == u"hide") context.hideSelection();
    else if (kind == u"operator") context.hideOperator();
    else if (kind == u"all") context.showEverything();
    else return usageError("no such focus", how.toStdString(), "up, down, around, paths, only, hide, operator or all");
    waitForIdle(kDefaultWaitSeconds);
    return {};
}

/// What only changes how things look.
Result<void> Script::look(const QString& command, const QString& rest) {
    context::InspectorContext& context = m_window.context();
    if (command == u"fold") context.setFolds(rest != u"off");
    if (command == u"edges") context.setEdgeWidths(rest == u"size");
    if (command == u"legend") m_window.canvas()->setLegendVisible(rest != u"off");
    if (command == u"bookmark") context.toggleBookmark(context.selection());
    if (command == u"color") {
        const int column = models::nodeColumnIndex(rest);
        if (rest != u"category" && column < 0) return usageError("no such column", rest.toStdString(), colorIds());
        context.setColorBy(column < 0 ? rest : models::nodeColumns()[static_cast<std::size_t>(column)].id);
        m_window.canvas()->setLegendVisible(true);
    }
    if (command == u"instance") {
        const std::uint32_t run = context.runOf(context.selection());
        if (run == layout::Outline::kNoRun) return usageError("the selection is not in a repeated block");
        context.showInstance(run, rest.toUInt());
    }
    if (command == u"iteration") {
        auto* values = qobject_cast<panels::TensorViewerPanel*>(m_window.panel(QStringLiteral("tensor_viewer")));
        if (values) values->iterationBox()->setValue(rest.toInt());
    }
    waitForIdle(kDefaultWaitSeconds);
    return {};
}

/// Words: tracer=ID, leaf=CLASS, concrete=NAME=VALUE, pass=ID, follow, flatten.
Result<void> Script::traceAgain(const QString& words) {
    document::OpenOptions options;
    for (const QString& word : words.split(u' ', Qt::SkipEmptyParts)) {
        const QString key = word.section(u'=', 0, 0);
        const std::string value = word.section(u'=', 1).toStdString();
        if (key == u"tracer") options.tracer = value;
        else if (key == u"leaf") options.leaves.push_back(value);
        else if (key == u"concrete")
            options.concrete.emplace_back(word.section(u'=', 1, 1).toStdString(), word.section(u'=', 2).toStdString());
        else if (key == u"follow") options.inputData = m_window.context().inputData().toStdString();
        else if (key == u"flatten") options.flatten = true;
        else if (key == u"pass") options.passes.push_back(value);
        else
            return usageError("unknown trace option", word.toStdString(),
                              "tracer=ID leaf=CLASS concrete=NAME=VALUE pass=ID follow flatten");
    }
    m_window.context().retrace(options);
    waitForIdle(kDefaultWaitSeconds);
    return {};
}

Result<void> Script::expand(const QString& what, bool open) {
    context::InspectorContext& context = m_window.context();
    if (what == u"all") {
        open ? context.setExpandedRecursively(context.graph().rootScope(), true) : context.expandToDepth(0);
    } else if (firstWord(what) == u"depth") {
        bool ok = false;
        const int depth = afterFirstWord(what).toInt(&ok);
        if (!ok || depth < 0) return usageError("depth needs a number", what.toStdString());
        context.expandToDepth(depth);
    } else {
        const Selection module = context.selectionOf(what);
        if (module.kind != Selection::Kind::Scope) return usageError("no such module", what.toStdString());
        context.setExpanded(module.scope, open);
        context.reveal(module);
    }
    waitForIdle(kDefaultWaitSeconds);
    return {};
}

Result<void> Script::giveInput(const QString& rest) {
    const QString name = firstWord(rest);
    const context::ModelInput* input = m_window.context().input(name);
    if (!input) return usageError("the model has no such input", name.toStdString());
    context::InputSpec spec = input->spec;
    spec.source = afterFirstWord(rest);
    if (const QString preset = spec.source.section(QLatin1Char(' '), -1);
        spec.source.contains(QLatin1Char(' ')) && io::findImagePreset(preset.toStdString())) {
        spec.image.preset = preset;
        spec.source = spec.source.section(QLatin1Char(' '), 0, -2).trimmed();
    }
    if (spec.isFile()) spec.source = QDir(m_folder).absoluteFilePath(spec.source);
    m_window.context().setInputSpec(name, spec);
    waitForIdle(kDefaultWaitSeconds);
    return {};
}

Result<void> Script::showView(const QString& view) {
    static const QHash<QString, QString> ids{{"heatmap", "heat_map"}, {"histogram", "histogram"}, {"table", "table"},
                                             {"image", "image"},      {"channels", "channels"},   {"line", "line"}};
    auto* panel = qobject_cast<panels::TensorViewerPanel*>(m_window.panel(QStringLiteral("tensor_viewer")));
    if (!ids.contains(view) || !panel)
        return usageError("no such view", view.toStdString(), "heatmap, histogram, table, image, channels or line");
    m_window.showPanel(QStringLiteral("tensor_viewer"));
    panel->viewer()->setCurrentView(ids[view]);
    return {};
}

Result<void> Script::zoom(const QString& how) {
    canvas::GraphCanvas* canvas = m_window.canvas();
    bool ok = true;
    if (how == u"fit") canvas->fit();
    else if (how == u"in") canvas->zoomIn();
    else if (how == u"out") canvas->zoomOut();
    else {
        const double factor = how.toDouble(&ok);
        ok = ok && factor > 0;
        if (ok) canvas->zoomReset(), canvas->zoomBy(factor);
    }
    if (!ok) return usageError("zoom needs fit, in, out or a factor", how.toStdString());
    waitForIdle(kDefaultWaitSeconds);
    return {};
}

Result<void> Script::pressKeys(const QString& keys) {
    const QKeySequence sequence = QKeySequence::fromString(keys, QKeySequence::PortableText);
    if (sequence.isEmpty()) return usageError("no such key", keys.toStdString());
    QWidget* target = QApplication::focusWidget() ? QApplication::focusWidget() : m_window.focusWidget();
    if (!target) target = m_window.canvas();
    for (int i = 0; i < sequence.count(); ++i) {
        const QKeyCombination key = sequence[static_cast<uint>(i)];
        // Shortcuts are looked for by the event of the same name, which a real key press causes first.
        QKeyEvent shortcut(QEvent::ShortcutOverride, key.key(), key.keyboardModifiers());
        QApplication::sendEvent(target, &shortcut);
        QAction* action = nullptr;
        for (const QString& id : m_window.actions().ids())
            if (m_window.actions().shortcuts(id).contains(QKeySequence(key)) &&
                m_window.actions().action(id)->isEnabled())
                action = m_window.actions().action(id);
        if (action && !shortcut.isAccepted()) {
            action->trigger();
            continue;
        }
        QKeyEvent press(QEvent::KeyPress, key.key(), key.keyboardModifiers());
        QKeyEvent release(QEvent::KeyRelease, key.key(), key.keyboardModifiers());
        QApplication::sendEvent(target, &press);
        QApplication::sendEvent(target, &release);
    }
    waitForIdle(kDefaultWaitSeconds);
    return {};
}

Result<void> Script::clickNode(const QString& text, bool twice) {
    context::InspectorContext& context = m_window.context();
    canvas::GraphCanvas* canvas = m_window.canvas();
    QRectF rect;
    const Selection module =
        context.document()->modules->find(text.toStdString()) ? context.selectionOf(text) : Selection{};
    if (module.scope.valid()) {
        rect = canvas->rectOf(module.scope);
    } else {
        SONDE_ASSIGN(const graph::NodeId node, context.document()->findNode(text.toStdString()));
        rect = canvas->rectOf(context.graph().node(node).producer);
    }
    if (rect.isEmpty() || !QRectF(canvas->rect()).intersects(rect))
        return usageError("not visible on the canvas", text.toStdString(),
                          "select it first, which brings it into view");
    // Of a box the title can be clicked whether it is open or closed, beside the edge that comes in at the middle.
    const QPointF place(rect.left() + rect.width() * 0.35, rect.top() + std::min(rect.height() / 2, 4.0));
    sendMouse(canvas, QEvent::MouseButtonPress, place, Qt::LeftButton, Qt::LeftButton);
    sendMouse(canvas, QEvent::MouseButtonRelease, place, Qt::LeftButton, Qt::NoButton);
    if (twice) {
        sendMouse(canvas, QEvent::MouseButtonDblClick, place, Qt::LeftButton, Qt::LeftButton);
        sendMouse(canvas, QEvent::MouseButtonRelease, place, Qt::LeftButton, Qt::NoButton);
    }
    waitForIdle(kDefaultWaitSeconds);
    return {};
}

Result<void> Script::takePicture(const QString& file) {
    if (file.isEmpty()) return usageError("screenshot needs a file");
    return saveScreenshot(m_window, QDir(m_folder).absoluteFilePath(file));
}

Result<void> saveScreenshot(MainWindow& window, const QString& file) {
    const QPixmap picture = window.grab();
    if (!picture.save(file))
        return usageError("the screenshot cannot be written", file.toStdString(),
                          "the name must end in .png and its folder exist");
    return {};
}

Result<QSize> parseSize(const QString& text) {
    static const QRegularExpression form(QStringLiteral("^(\\d{2,5})[xX](\\d{2,5})$"));
    const QRegularExpressionMatch match = form.match(text.trimmed());
    if (!match.hasMatch()) return usageError("not a size", text.toStdString(), "for example 1280x800");
    const QSize size(match.captured(1).toInt(), match.captured(2).toInt());
    constexpr qint64 kMaxPixels = 100'000'000;  // 400 MB, and the window's parts besides
    if (qint64{size.width()} * size.height() > kMaxPixels)
        return usageError("too large a window", text.toStdString(), "at most 10000x10000");
    return size;
}

}  // namespace sonde::window
