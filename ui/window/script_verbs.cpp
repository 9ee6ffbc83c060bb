#include "ui/window/script_verbs.h"

#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QDir>
#include <QFileInfo>
#include <QHash>
#include <QImageWriter>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QRegularExpression>

#include <algorithm>
#include <functional>

#include "core/io/image/image.h"
#include "core/io/inputs/named_files.h"
#include "core/session/output_check.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/context/second_model.h"
#include "ui/context/sweeps.h"
#include "ui/dialogs/help_viewer.h"
#include "ui/models/node_columns.h"
#include "ui/theme/theme.h"
#include "ui/widgets/banner.h"
#include "ui/window/main_window.h"
#include "ui/window/samples.h"
#include "ui/window/script_ids.h"
#include "ui/window/search_bar.h"
#include "ui/window/window_canvases.h"
#include "ui/window/window_dialogs.h"
#include "ui/window/window_docks.h"

namespace sonde::window {

using base::Error;
using base::Result;
using base::usageError;
using context::Selection;

namespace {

QString firstWord(const QString& text) { return text.section(QRegularExpression(QStringLiteral("\\s+")), 0, 0); }
QString afterFirstWord(const QString& text) { return text.mid(firstWord(text).size()).trimmed(); }

/// An item of an input with its files, such as a text and its tokenizer.
QString withFiles(const QString& item, const std::function<QString(const QString&)>& change) {
    const std::string given = item.toStdString();
    std::string made;
    std::size_t done = 0;
    for (const auto& [begin, size] : io::pathsInItem(given)) {
        made +=
            given.substr(done, begin - done) + change(QString::fromStdString(given.substr(begin, size))).toStdString();
        done = begin + size;
    }
    return QString::fromStdString(made + given.substr(done));
}

std::string sizeText(QSize size) {
    return QStringLiteral("at least %1x%2").arg(size.width()).arg(size.height()).toStdString();
}

/// For the hint of an input that there is not.
std::string inputNames(const context::Inputs& inputs) {
    QStringList names;
    for (const context::ModelInput& input : inputs.all()) names << input.name;
    return names.isEmpty() ? "the model has no inputs" : "it has " + names.join(QLatin1String(", ")).toStdString();
}

void sendMouse(QWidget* widget, QEvent::Type type, QPointF place, Qt::MouseButton button, Qt::MouseButtons buttons) {
    QMouseEvent event(type, place, widget->mapToGlobal(place), button, buttons, Qt::NoModifier);
    QApplication::sendEvent(widget, &event);
}

}  // namespace

ScriptVerbs::ScriptVerbs(MainWindow& window, const QString& folder, QObject* parent)
    : QObject(parent), m_window(window), m_folder(folder) {
    connect(&window.context().loader(), &context::Loader::loadFailed, this,
            [this](const Error& error) { m_loadError = error; });
    connect(&window.context().debugger(), &context::Debugger::refused, this,
            [this](const QString& text) { m_loadError = usageError(text.toStdString()); });
    connect(&window.context().edits(), &context::Edits::refused, this, [this](QObject* asker, const Error& error) {
        if (asker == this) m_loadError = error;
    });
    connect(&window.context().second(), &context::SecondModel::failed, this,
            [this] { m_loadError = usageError("the model to compare with cannot be opened"); });
    // A line that opens a library shows the question of the window, which can be photographed; nothing has run.
    connect(&window.context().loader(), &context::Loader::consentRequested, this, [this] {
        if (!m_opensFirst) m_loadError.reset();
    });
}

std::optional<Error> ScriptVerbs::takeFailure() {
    m_opensFirst = false;
    if (m_loadError) return std::exchange(m_loadError, {});
    if (std::exchange(m_awaitsSweep, false))
        if (const QString failure = m_window.context().sweeps().failure(); !failure.isEmpty())
            return usageError("the sweep ended early: " + failure.toStdString());
    if (const QString name = std::exchange(m_awaitedInput, {}); !name.isEmpty())
        if (const context::ModelInput* input = m_window.context().inputs().find(name); input && input->error)
            return input->error;
    // Files of inputs are read before it is known whether the model can run on them.
    const auto& refusal = m_window.context().runs().refusal();
    if (!std::exchange(m_awaitsRun, false) || !refusal) return {};
    return usageError("not run: " + refusal->what, refusal->where, refusal->hint);
}

Result<void> ScriptVerbs::checkEnabled(const QString& action) const {
    if (m_window.actions().action(action)->isEnabled()) return {};
    return usageError("the action is not possible now", action.toStdString());
}

void ScriptVerbs::trigger(const QString& action) { m_window.actions().action(action)->trigger(); }

void ScriptVerbs::setChecked(const QString& action, bool checked) {
    if (m_window.actions().action(action)->isChecked() != checked) trigger(action);
}

QString ScriptVerbs::inFolder(const QString& file) const { return QDir(m_folder).absoluteFilePath(file); }

QString ScriptVerbs::toRead(const QString& file) const {
    // What belongs to a sample or another model is beside it, wherever the script is.
    const QString model = m_window.context().loader().location();
    const QString ofModel = QFileInfo::exists(model) ? QFileInfo(model).absolutePath() : QString();
    for (const QString& folder : {m_scriptFolder, m_folder, ofModel})
        if (const QString path = QDir(folder).absoluteFilePath(file); !folder.isEmpty() && QFileInfo::exists(path))
            return path;
    return inFolder(file);
}

Result<void> ScriptVerbs::openFirst(const QString& model) {
    m_opensFirst = true;
    return open(model);
}

// --- the model ------------------------------------------------------------------------------------------------------

Result<void> ScriptVerbs::open(const QString& model) {
    m_loadError.reset();
    m_window.open(model.startsWith(QLatin1String("zoo:")) ? model : toRead(model));
    return {};
}

Result<void> ScriptVerbs::openSample(const QString& id) {
    const std::vector<Sample> all = samples();
    if (all.empty())
        return usageError("no samples are installed", id.toStdString(), "install Sonde with its resources");
    QStringList ids;
    for (const Sample& sample : all) ids << sample.id;
    const auto index = ids.indexOf(id);
    if (index < 0)
        return usageError("there is no sample '" + id.toStdString() + "'", {},
                          "samples: " + ids.join(", ").toStdString());
    m_loadError.reset();
    m_window.openSample(static_cast<int>(index));
    return {};
}

/// Words: tracer=ID, leaf=CLASS, concrete=NAME=VALUE, pass=ID, follow, flatten.
Result<void> ScriptVerbs::traceAgain(const QString& words) {
    document::OpenOptions options;
    for (const QString& word : words.split(u' ', Qt::SkipEmptyParts)) {
        const QString key = word.section(u'=', 0, 0);
        const std::string value = word.section(u'=', 1).toStdString();
        if (key == u"tracer") options.tracer = value;
        else if (key == u"leaf") options.leaves.push_back(value);
        else if (key == u"concrete")
            options.concrete.emplace_back(word.section(u'=', 1, 1).toStdString(), word.section(u'=', 2).toStdString());
        else if (word == u"follow") options.inputData = m_window.context().inputs().inputData().toStdString();
        else if (word == u"flatten") options.flatten = true;
        else if (key == u"pass") options.passes.push_back(value);
        else
            return usageError("unknown trace option", word.toStdString(),
                              "tracer=ID leaf=CLASS concrete=NAME=VALUE pass=ID follow flatten");
    }
    m_window.context().loader().retrace(options);
    return {};
}

Result<void> ScriptVerbs::showGraph(const QString& module) {
    const int graph = m_window.context().model().graphOfModule(module);
    if (graph < 0)
        return usageError("there is no separate graph of that module", module.toStdString(),
                          "trace tracer=robust comes first");
    m_window.context().loader().showGraph(graph);
    return {};
}

Result<void> ScriptVerbs::giveInput(const QString& rest) {
    const QString name = firstWord(rest);
    const context::ModelInput* input = m_window.context().inputs().find(name);
    if (!input)
        return usageError("the model has no such input", name.toStdString(), inputNames(m_window.context().inputs()));
    if (afterFirstWord(rest).isEmpty())
        return usageError("the input needs a value", name.toStdString(),
                          "for example photo.png, [1,2,3], values.npz#key, #rand(0,1)");
    context::InputSpec spec = input->spec;
    spec.source = afterFirstWord(rest);
    if (const QString preset = spec.source.section(QLatin1Char(' '), -1);
        spec.source.contains(QLatin1Char(' ')) && io::findImagePreset(preset.toStdString())) {
        spec.image.preset = preset;
        spec.source = spec.source.section(QLatin1Char(' '), 0, -2).trimmed();
    }
    spec.source = withFiles(spec.source, [this](const QString& path) { return toRead(path); });
    m_window.context().inputs().setSpec(name, spec);
    m_awaitedInput = name;
    return {};
}

// --- runs -----------------------------------------------------------------------------------------------------------

Result<void> ScriptVerbs::run(const QString&) {
    trigger(QStringLiteral("run.start"));
    m_awaitsRun = true;
    return {};
}

Result<void> ScriptVerbs::addEdit(const QString& line, bool isSet) {
    SONDE_ASSIGN(auto edit, m_window.context().edits().readLine(line, isSet));
    if (edit.second.kind == session::Edit::Kind::File)
        edit.second.text = toRead(QString::fromStdString(edit.second.text)).toStdString();
    m_window.context().edits().add(edit.first, edit.second, this);
    return {};
}

Result<void> ScriptVerbs::watch(const QString& text) {
    SONDE_ASSIGN(const graph::NodeId node, m_window.context().model().document()->findNode(text.toStdString()));
    m_window.context().points().setWatched(node, true);
    return {};
}

Result<void> ScriptVerbs::end(const QString& text) {
    SONDE_ASSIGN(const graph::NodeId node, m_window.context().model().document()->findNode(text.toStdString()));
    m_window.context().points().setEnd(node, true);
    return {};
}

Result<void> ScriptVerbs::checkCurrent(const QString& where) {
    const context::Debugger& debugger = m_window.context().debugger();
    if (!debugger.isStopped()) return usageError("no run is debugged", {}, "action run.step begins one");
    const context::OpenModel& model = m_window.context().model();
    const graph::NodeId current = debugger.current();
    bool isThere = false;
    if (where == u"end") isThere = debugger.place().isEnd;
    else if (where == u"start") isThere = !debugger.place().isEnd && debugger.position() <= 1;
    else if (const auto node = model.document()->findNode(where.toStdString()); node) isThere = *node == current;
    if (!isThere && current.valid())
        for (graph::ScopeId scope = model.graph().expr(model.graph().node(current).producer).scope; scope.valid();
             scope = model.graph().scope(scope).parent)
            isThere = isThere || model.graph().scope(scope).qualname == where.toStdString();
    return isThere ? Result<void>()
                   : usageError("the debugged run is not at '" + where.toStdString() + "'",
                                debugger.placeText().toStdString());
}

Result<void> ScriptVerbs::clear(const QString&) {
    trigger(QStringLiteral("run.clear_watches"));
    trigger(QStringLiteral("run.clear_ends"));
    return {};
}

Result<void> ScriptVerbs::compare(const QString& with) {
    if (with == u"passes" && !m_window.actions().action(QStringLiteral("compare.passes"))->isEnabled())
        return usageError("no passes have run on this model");
    if (with.startsWith(QLatin1String("ort="))) return compareWithEngine(with.mid(4));
    context::Comparison& comparison = m_window.context().comparison();
    comparison.clear();
    // What came of it is known when it has ended.
    auto* ending = new QObject(this);
    connect(&comparison, &context::Comparison::changed, ending, [this, &comparison, ending] {
        if (comparison.isActive()) return;
        if (!comparison.isKnown()) {
            const std::string why = m_window.banner()->isVisible() ? m_window.banner()->text().toStdString() : "";
            m_loadError = usageError("nothing was compared" + (why.empty() ? "" : ": " + why));
        } else if (comparison.comparedInAll() == 0) {
            m_loadError = usageError("nothing was compared", {}, comparison.summary().toStdString());
        }
        ending->deleteLater();
    });
    const bool isFile = with != u"passes" && !with.startsWith(QLatin1String("zoo:"));
    if (with == u"passes") trigger(QStringLiteral("compare.passes"));
    else comparison.withFile(isFile ? toRead(with) : with);
    return {};
}

Result<void> ScriptVerbs::goToDifference(const QString& which) {
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
    trigger(actions[which]);
    return {};
}

// --- the graph view -------------------------------------------------------------------------------------------------

Result<void> ScriptVerbs::select(const QString& what) {
    context::Navigation& navigation = m_window.context().navigation();
    const document::Document& document = *m_window.context().model().document();
    if (document.modules->find(what.toStdString())) {
        navigation.navigateTo(navigation.selectionOf(what));
        return {};
    }
    SONDE_ASSIGN(const graph::NodeId node, document.findNode(what.toStdString()));
    navigation.navigateTo(node);
    return {};
}

Result<void> ScriptVerbs::search(const QString& text) {
    m_window.searchBar()->activate(text);
    const int found = m_window.searchBar()->search(text);
    if (const auto& problem = m_window.searchBar()->problem()) return problem->error();
    if (found == 0) return usageError("no node matches", text.toStdString());
    return {};
}

Result<void> ScriptVerbs::focus(const QString& how) {
    const QString kind = firstWord(how), depthText = afterFirstWord(how);
    context::CanvasState& canvas = m_window.context().canvases().active();
    if (kind == u"up" || kind == u"down" || kind == u"around") {
        bool ok = false;
        const int depth = depthText.toInt(&ok);
        if (!ok || depth < 1) return usageError("not a depth", depthText.toStdString(), "an integer from 1 on");
        SONDE_TRY(checkEnabled(QStringLiteral("focus.around")));
        canvas.focusConeOfSelection(kind != u"down", kind != u"up");
        canvas.focusCone(kind != u"down", kind != u"up", depth);
        return {};
    }
    if (how == u"paths" && canvas.focusPaths()) return {};
    if (how == u"paths") return usageError("no paths", {}, "select two nodes between which data flows");
    return usageError("no such focus", how.toStdString(), "up, down, around, paths, only, hide, operator or all");
}

Result<void> ScriptVerbs::showInstance(const QString& number) {
    context::CanvasState& canvas = m_window.context().canvases().active();
    const std::uint32_t run = canvas.runOf(m_window.context().navigation().selection());
    if (run == layout::Outline::kNoRun) return usageError("the selection is not in a repeated block");
    bool ok = false;
    const uint instance = number.toUInt(&ok);
    const std::size_t count = m_window.context().model().outline()->runs()[run].instances.size();
    if (!ok || instance >= count)
        return usageError("no such instance", number.toStdString(), "0 to " + std::to_string(count - 1));
    canvas.showInstance(run, instance);
    return {};
}

Result<void> ScriptVerbs::colorBy(const QString& column) {
    const int index = models::nodeColumnIndex(column);
    if ((index < 0 && column != u"category") || index == models::NoteColumn)
        return usageError("no such column", column.toStdString(), colorIds());
    const QString id = index < 0 ? column : models::nodeColumns()[static_cast<std::size_t>(index)].id;
    if (const QString action = QStringLiteral("view.color_") + id; m_window.actions().contains(action)) {
        trigger(action);
        return {};
    }
    m_window.context().settings().setColorBy(id);
    setChecked(QStringLiteral("view.legend"), true);
    return {};
}

Result<void> ScriptVerbs::setExpanded(const QString& what, bool open) {
    context::InspectorContext& context = m_window.context();
    if (what == u"all") {
        open ? context.canvases().active().setExpandedRecursively(context.model().graph().rootScope(), true)
             : context.canvases().active().expandToDepth(0);
    } else if (firstWord(what) == u"depth") {
        bool ok = false;
        const int depth = afterFirstWord(what).toInt(&ok);
        if (!ok || depth < 0) return usageError("depth needs a number", what.toStdString());
        context.canvases().active().expandToDepth(depth);
    } else {
        const Selection module = context.navigation().selectionOf(what);
        if (module.kind != Selection::Kind::Scope) return usageError("no such module", what.toStdString());
        context.canvases().active().setExpanded(module.scope, open);
        context.navigation().reveal(module);
    }
    return {};
}

/// In words it is an action.
Result<void> ScriptVerbs::zoom(const QString& how) {
    using canvas::Camera;
    bool ok = false;
    const double factor = how.toDouble(&ok);
    if (!ok) return usageError("zoom needs fit, in, out or a factor", how.toStdString());
    if (!(factor >= Camera::kMinScale && factor <= Camera::kMaxScale))
        return usageError("the zoom factor is out of range", how.toStdString(),
                          QStringLiteral("%1 to %2").arg(Camera::kMinScale).arg(Camera::kMaxScale).toStdString());
    m_window.canvases().active()->view().zoomReset();
    m_window.canvases().active()->view().zoomBy(factor);
    return {};
}

Result<void> ScriptVerbs::clickNode(const QString& text, bool twice) {
    context::InspectorContext& context = m_window.context();
    canvas::GraphCanvas* canvas = m_window.canvases().active();
    QRectF rect;
    const Selection module = context.model().document()->modules->find(text.toStdString())
                                 ? context.navigation().selectionOf(text)
                                 : Selection{};
    if (module.scope.valid()) {
        rect = canvas->view().rectOf(module.scope);
    } else {
        SONDE_ASSIGN(const graph::NodeId node, context.model().document()->findNode(text.toStdString()));
        rect = canvas->view().rectOf(context.model().graph().node(node).producer);
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
    return {};
}

// --- the window -----------------------------------------------------------------------------------------------------

Result<void> ScriptVerbs::showPanel(const QString& panel) {
    if (!m_window.docks().dock(panel)) return usageError("no such panel", panel.toStdString(), panelIds());
    m_window.docks().show(panel);
    return {};
}

Result<void> ScriptVerbs::showHelp(const QString& what) {
    const QString page = firstWord(what), heading = afterFirstWord(what);
    if (!dialogs::HelpViewer::pageIds().contains(page))
        return usageError("the help has no such page", page.toStdString(), helpPageIds());
    if (!m_window.dialogs().showHelpPage(page, heading))
        return usageError("the page has no such heading", heading.toStdString());
    return {};
}

Result<void> ScriptVerbs::setTheme(const QString& mode) {
    static const QHash<QString, theme::Theme::Mode> modes{{"light", theme::Theme::Mode::Light},
                                                          {"dark", theme::Theme::Mode::Dark},
                                                          {"contrast", theme::Theme::Mode::HighContrast}};
    if (!modes.contains(mode)) return usageError("no such theme", mode.toStdString(), "light, dark or contrast");
    theme::Theme::instance().setMode(modes[mode]);
    return {};
}

Result<void> ScriptVerbs::setSize(const QString& text) {
    SONDE_ASSIGN(const QSize size, parseSize(text));
    m_window.resize(size);
    if (m_window.size() != size)
        return usageError("the window cannot be that small", text.toStdString(), sizeText(m_window.minimumSize()));
    return {};
}

Result<void> ScriptVerbs::triggerAction(const QString& id) {
    if (!m_window.actions().contains(id))
        return usageError("no such action", id.toStdString(), "for example view.split or go.next_problem");
    SONDE_TRY(checkEnabled(id));
    std::optional<context::Message> failure;
    const auto heard = connect(&m_window.context().messages(), &context::Messages::bannerRequested, this,
                               [&failure](const context::Message& message) { failure = message; });
    trigger(id);
    disconnect(heard);
    if (!failure) return {};
    return usageError(failure->text.toStdString(), failure->where.toStdString(), failure->hint.toStdString());
}

Result<void> ScriptVerbs::wait(const QString& seconds) {
    if (seconds.isEmpty()) return {};
    bool ok = false;
    const int given = seconds.toInt(&ok);
    if (!ok || given < 0)
        return usageError("wait needs a count of seconds", seconds.toStdString(), "for example wait 5");
    m_waitSeconds = std::max(1, given);
    return {};
}

/// What has the focus, in the dialog in front if there is one: without a display no window is the active one.
QWidget* ScriptVerbs::keyTarget() const {
    QWidget* front = &m_window;
    for (QDialog* dialog : m_window.findChildren<QDialog*>(Qt::FindDirectChildrenOnly))
        if (dialog->isVisible()) front = dialog;
    QWidget* const focus = QApplication::focusWidget();
    if (focus && focus->isVisible() && (focus->window() == front || front == &m_window)) return focus;
    if (front->focusWidget()) return front->focusWidget();
    return front == &m_window ? static_cast<QWidget*>(m_window.canvases().active()) : front;
}

/// Keys of the window are heard in all of it, those of the graph in the graph.
static bool reaches(const QAction& action, const QWidget& target) {
    if (action.shortcutContext() == Qt::WindowShortcut) return true;
    return std::ranges::any_of(action.associatedObjects(), [&target](const QObject* object) {
        const auto* widget = qobject_cast<const QWidget*>(object);
        return widget && (widget == &target || widget->isAncestorOf(&target));
    });
}

Result<void> ScriptVerbs::pressKeys(const QString& keys) {
    const QKeySequence sequence = QKeySequence::fromString(keys, QKeySequence::PortableText);
    const Error noKey = usageError("no such key", keys.toStdString(), "for example Ctrl+F, Escape, Shift+F7");
    if (sequence.isEmpty()) return noKey;
    for (int i = 0; i < sequence.count(); ++i)
        if (const Qt::Key key = sequence[static_cast<uint>(i)].key(); key == Qt::Key_unknown || key == Qt::Key(0))
            return noKey;
    QWidget* target = keyTarget();
    for (int i = 0; i < sequence.count(); ++i) {
        const QKeyCombination key = sequence[static_cast<uint>(i)];
        // Shortcuts are looked for by the event of the same name, which a real key press causes first.
        QKeyEvent shortcut(QEvent::ShortcutOverride, key.key(), key.keyboardModifiers());
        QApplication::sendEvent(target, &shortcut);
        QString action;
        for (const QString& id : m_window.actions().ids())
            if (m_window.actions().shortcuts(id).contains(QKeySequence(key)) &&
                m_window.actions().action(id)->isEnabled() && reaches(*m_window.actions().action(id), *target))
                action = id;
        // A dialog in front has keys of its own.
        if (!action.isEmpty() && target->window() == &m_window && !shortcut.isAccepted()) {
            m_window.actions().press(action);
            continue;
        }
        QKeyEvent press(QEvent::KeyPress, key.key(), key.keyboardModifiers());
        QKeyEvent release(QEvent::KeyRelease, key.key(), key.keyboardModifiers());
        QApplication::sendEvent(target, &press);
        QApplication::sendEvent(target, &release);
    }
    return {};
}

Result<void> ScriptVerbs::takeScreenshot(const QString& file) { return saveScreenshot(m_window, inFolder(file)); }

Result<void> saveScreenshot(MainWindow& window, const QString& file) {
    SONDE_TRY(session::checkOutput(window.context().session(), std::filesystem::path(file.toStdU16String())));
    QPixmap picture = window.grab();
    QPainter painter(&picture);
    for (QDialog* dialog : window.findChildren<QDialog*>(Qt::FindDirectChildrenOnly)) {
        if (!dialog->isVisible()) continue;
        // Its frame is the window system's; without one a line tells it from what is behind.
        const QRect place(dialog->pos() - window.pos(), dialog->size());
        painter.drawPixmap(place.topLeft(), dialog->grab());
        painter.setPen(theme::color(theme::ColorRole::Border));
        painter.drawRect(place.adjusted(-1, -1, 0, 0));
    }
    painter.end();
    if (!QImageWriter::supportedImageFormats().contains(QFileInfo(file).suffix().toLower().toUtf8()))
        return usageError("the name of a screenshot must end in .png", file.toStdString());
    if (!picture.save(file))
        return base::runError("the file cannot be written", file.toStdString(),
                              "its folder must exist and allow new files");
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
