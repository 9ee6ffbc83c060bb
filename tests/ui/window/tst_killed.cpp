// A process that is killed loses nothing of the session: this program runs itself as a child that works in the real
// window, kills it with SIGKILL, and looks at what a second child finds.

#include <QDockWidget>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QPushButton>
#include <QSplitter>

#include <csignal>
#include <iostream>

#include "tests/support/window_fixture.h"
#include "ui/context/stored.h"
#include "ui/models/module_result.h"
#include "ui/widgets/banner.h"
#include "ui/window/orderly_end.h"
#include "ui/window/session.h"

namespace tst_killed {

using namespace sonde;

namespace {

QString model() { return QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx"); }

void useSettings(const QString& folder) {
    QCoreApplication::setOrganizationName(QStringLiteral("SondeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder);
}

void say(const QByteArray& line) {
    std::cout << line.constData() << std::endl;  // flushed: the process may be killed at once
}

/// The window as a user has it, in a child.
struct Child {
    window::MainWindow window;
    context::InspectorContext& context() { return window.context(); }

    bool start(QSize size) {
        theme::Theme::instance().install(*qApp);
        theme::Theme::instance().setReducedMotion(true);
        if (!size.isEmpty()) window.resize(size);
        window.show();
        if (!QTest::qWaitForWindowExposed(&window)) return false;
        QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
        window.open(model());
        return opened.wait(60000) && settle();
    }
    bool settle() {
        return QTest::qWaitFor([this] { return window.isIdle(); }, 60000);
    }
    /// Keys reach the actions of the active window only, which an X server makes it in its own time.
    void press(const QKeySequence& keys) {
        window.activateWindow();
        if (!QTest::qWaitForWindowActive(&window)) return say("STATE {}");
        window.canvases().active()->setFocus();
        QTest::keyClick(window.canvases().active(), keys[0].key(), keys[0].keyboardModifiers());
        settle();
    }
    graph::NodeId node(const char* query) {
        return models::searchNodes(context().model(), context().runs(), context().points(), QLatin1String(query))
            .nodes.front();
    }

    /// What the user would look at.
    QJsonObject state() {
        const graph::InternalGraph& graph = context().model().graph();
        const auto names = [&](const std::vector<graph::NodeId>& nodes) {
            QJsonArray list;
            for (const graph::NodeId id : nodes) list << QString::fromStdString(graph.node(id).name);
            return list;
        };
        QJsonArray open, docks;
        for (const graph::ScopeId scope : context().canvases().active().view().openScopes)
            open << QString::fromStdString(graph.scope(scope).qualname);
        // Not those that are about the selection, which is no state of the model.
        for (const char* id : {"modules", "inputs", "watches", "nodes", "operators", "log", "tracing"}) {
            const QDockWidget* dock = window.docks().dock(QLatin1String(id));
            docks << (dock->isHidden() ? QStringLiteral("%1 hidden").arg(id)
                                       : QStringLiteral("%1 in area %2")
                                             .arg(id)
                                             .arg(window.dockWidgetArea(window.docks().dock(QLatin1String(id)))));
        }
        const QRectF gemm =
            window.canvases().active()->view().rectOf(graph.node(node("qualname:layer2.0.conv1 op:Conv")).producer);
        const QPointF from =
            gemm.center() - QPointF(window.canvases().active()->width(), window.canvases().active()->height()) / 2;
        return {{"watched", names(context().points().watched())},
                {"ends", names(context().points().ends())},
                {"open", open},
                {"input", context().inputs().all().front().spec.source},
                {"leftRight", context().canvases().active().view().direction == layout::Direction::LeftRight},
                {"scale", std::round(window.canvases().active()->view().camera().scale * 1000) / 1000},
                {"place", QJsonArray{qRound(from.x()), qRound(from.y())}},
                {"bookmarks", static_cast<int>(context().navigation().bookmarks().size())},
                {"docks", docks},
                {"colour", context().settings().colorBy()},
                {"names", context().settings().showsNames()},
                {"split", window.canvases().isSplit()},
                {"size", QJsonArray{window.width(), window.height()}}};
    }
};

/// Works, says what there is, and waits to be killed.
int work() {
    Child child;
    if (!child.start({1180, 780})) return 1;
    auto& context = child.context();
    context.canvases().active().setExpanded(context.navigation().selectionOf(QStringLiteral("layer2")).scope, true);
    child.settle();
    context.canvases().active().setExpanded(context.navigation().selectionOf(QStringLiteral("layer2.0")).scope, true);
    child.settle();
    context.navigation().navigateTo(child.node("qualname:layer2.0.conv1 op:Conv"));
    child.settle();
    child.press(QKeySequence("F9"));
    context.navigation().navigateTo(child.node("op:Gemm"));
    child.settle();
    child.press(QKeySequence("Shift+F9"));
    child.press(QKeySequence("Ctrl+B"));
    child.press(QKeySequence("Ctrl+U"));
    context.settings().setColorBy(QStringLiteral("op"));
    context.inputs().setSpec(context.inputs().all().front().name, {QStringLiteral("#rand(0,2,1,3,64,64)"), {}});
    child.window.actions().action(QStringLiteral("panel.inputs"))->trigger();  // the inputs go,
    child.press(QKeySequence("Alt+7"));                                        // the log comes,
    child.press(QKeySequence("Alt+Shift+6"));                                  // and one comes and moves
    child.window.addDockWidget(Qt::LeftDockWidgetArea, child.window.docks().dock(QStringLiteral("operators")));
    child.press(QKeySequence("Ctrl+\\"));
    child.window.resize(1200, 800);
    child.settle();
    context.canvases().setActive(0);
    context.navigation().navigateTo(child.node("qualname:layer2.0.conv1 op:Conv"));
    child.settle();
    child.window.canvases().at(0)->view().zoomBy(1.37);
    child.settle();
    // The window stores its state a moment after it has changed (WindowState::saveSoon) and nothing tells when: time
    // itself is meant. What is stored by then has to be on the disk although the process does not end by itself.
    QTest::qWait(1500);
    child.settle();
    say("STATE " + QJsonDocument(child.state()).toJson(QJsonDocument::Compact));
    return QApplication::exec();  // until it is killed
}

/// Says what a new process finds, and goes.
int look() {
    Child child;
    if (!child.start({})) return 1;
    QCoreApplication::processEvents();  // what the window puts off until it is shown
    child.settle();
    child.context().canvases().setActive(0);
    say("STATE " + QJsonDocument(child.state()).toJson(QJsonDocument::Compact));
    child.window.close();
    return 0;
}

/// Sets and clears watch points and opens modules without end, until it is killed in the middle of a write.
int churn() {
    Child child;
    if (!child.start({})) return 1;
    auto& context = child.context();
    const std::vector<graph::NodeId> convs =
        models::searchNodes(context.model(), context.runs(), context.points(), QStringLiteral("op:Conv")).nodes;
    context::waitUntilStored();  // that it is open; what comes now is in the middle of being written
    say("STATE {}");
    for (std::size_t turn = 0;; ++turn) {
        context.points().toggleWatch(convs[turn % convs.size()]);
        context.canvases().active().expandToDepth(static_cast<int>(turn % 4));
        context::store(QStringLiteral("view/colorBy"), turn % 2 ? QStringLiteral("op") : QStringLiteral("dtype"));
        if (turn % 8 == 0) QCoreApplication::processEvents();
    }
}

/// A program with its event loop, as a user has it, until a signal ends it.
int serve() {
    window::endOrderlyOnSignals();
    Child child;
    if (!child.start({})) return 1;
    context::waitUntilStored();
    say("STATE {}");
    return QApplication::exec();
}

}  // namespace

class TestKilled : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everythingIsThereAgain();
    void theFileIsWholeWheneverItEnds();
    void whatWasOpenIsOfferedAgain();
    void onlyTheLastOneIsOffered();
    void aProcessThatIsAskedToEndIsNotLost_data();
    void aProcessThatIsAskedToEndIsNotLost();

  private:
    /// A child's state, as it says it; killed then if it would go on.
    QJsonObject runChild(const char* what, const QString& settings, int killAfterMs = 0) {
        QProcess process;
        process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        QStringList arguments{QStringLiteral("tst_killed"), QString::fromLatin1(what), settings};
        process.start(QCoreApplication::applicationFilePath(), arguments);
        if (!process.waitForStarted()) return {};
        QByteArray line;
        while (!line.startsWith("STATE ")) {
            if (!process.canReadLine() && !process.waitForReadyRead(120000)) break;
            line = process.readLine();
        }
        const bool stays = qstrcmp(what, "look") != 0;
        if (stays) {
            if (killAfterMs > 0) QTest::qSleep(killAfterMs);  // at any moment of its work: time itself is meant
            ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
        }
        process.waitForFinished(120000);
        if (stays && process.exitStatus() != QProcess::CrashExit) return {};
        return QJsonDocument::fromJson(line.mid(6)).object();
    }
};

void TestKilled::everythingIsThereAgain() {
    const QTemporaryDir settings;
    const QJsonObject before = runChild("work", settings.path());
    QVERIFY(!before.isEmpty());
    QCOMPARE(before["watched"].toArray().size(), 1);
    QVERIFY(before["open"].toArray().size() >= 2);
    QVERIFY(before["split"].toBool());
    const QJsonObject after = runChild("look", settings.path());
    const QStringList keys = before.keys();
    for (const QString& key : keys) {
        if (key == QStringLiteral("place")) continue;
        QVERIFY2(after[key] == before[key],
                 qPrintable(key + ": " +
                            QJsonDocument(QJsonObject{{"before", before[key]}, {"after", after[key]}}).toJson()));
    }
    // Within a pixel of rounding, of a canvas that may have got another size.
    for (int i : {0, 1})
        QVERIFY2(std::abs(after["place"].toArray()[i].toInt() - before["place"].toArray()[i].toInt()) <= 2,
                 qPrintable(QJsonDocument(after).toJson() + QJsonDocument(before).toJson()));
}

/// Whatever moment it is: the settings are those before or after a write, never half of one.
void TestKilled::theFileIsWholeWheneverItEnds() {
    const QTemporaryDir settings;
    std::uint32_t state = 7;
    for (int round = 0; round < 6; ++round) {
        state = state * 1664525U + 1013904223U;
        runChild("churn", settings.path(), 20 + static_cast<int>(state >> 8U) % 300);
        const QStringList files = QDir(settings.path() + "/SondeTest").entryList({"*.ini"}, QDir::Files);
        QCOMPARE(files.size(), 1);
        QSettings read(settings.path() + "/SondeTest/" + files.front(), QSettings::IniFormat);
        QCOMPARE(read.status(), QSettings::NoError);
        const QString colour = read.value(QStringLiteral("view/colorBy"), QStringLiteral("op")).toString();
        QVERIFY2(
            colour == QStringLiteral("op") || colour == QStringLiteral("dtype") || colour == QStringLiteral("category"),
            qPrintable(colour));
        read.beginGroup(QStringLiteral("models"));
        QCOMPARE(read.childGroups().size(), 1);
        read.beginGroup(read.childGroups().front());
        for (const char* key : {"watched", "ends", "open", "leftRight", "foldShapes"})
            QVERIFY2(read.contains(QLatin1String(key)), key);
    }
    const QJsonObject after = runChild("look", settings.path());
    QVERIFY(!after.isEmpty());
}

void TestKilled::whatWasOpenIsOfferedAgain() {
    const QTemporaryDir settings;
    useSettings(settings.path());
    runChild("churn", settings.path());
    context::waitUntilStored();
    const QStringList lost = window::Session::lost();
    QCOMPARE(lost, QStringList{model()});
    QCOMPARE(window::Session::lost(), lost);  // a process that dies with the question on the screen loses nothing
    theme::Theme::instance().install(*qApp);
    window::MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    window.offerAgain(lost);
    QVERIFY(window.banner()->isVisible());
    QVERIFY(window.banner()->text().contains(QStringLiteral("resnet18_slim.onnx")));
    QSignalSpy opened(&window.context().model(), &context::OpenModel::documentOpened);
    QTest::mouseClick(window.banner()->findChild<QPushButton*>(), Qt::LeftButton);
    QVERIFY(opened.wait(60000));
    QCOMPARE(window.context().loader().location(), model());
    QTRY_VERIFY_WITH_TIMEOUT(window.isIdle(), 60000);
    QVERIFY2(window::Session::lost().isEmpty(), "it was answered");
    // A process that ends by itself leaves nothing behind.
    window.close();
    QVERIFY(window::Session::lost().isEmpty());
}

/// Of several processes that were killed the last counts; one that was asked to end is none of them.
void TestKilled::onlyTheLastOneIsOffered() {
    const QTemporaryDir settings;
    useSettings(settings.path());
    for (const auto& [pid, time] : {std::pair(QStringLiteral("999999991"), 2),
                                    {QStringLiteral("999999992"), 3},
                                    {QStringLiteral("999999993"), 1}}) {
        context::store(QStringLiteral("session/%1/models").arg(pid), QStringList{QStringLiteral("model %1").arg(time)});
        context::store(QStringLiteral("session/%1/time").arg(pid), time);
    }
    QCOMPARE(window::Session::lost(), QStringList{QStringLiteral("model 3")});
    // Those before it are forgotten with that.
    window::Session::forgetLost();
    QVERIFY(window::Session::lost().isEmpty());
}

/// SIGTERM: the windows close and say so.
void TestKilled::aProcessThatIsAskedToEndIsNotLost_data() {
    QTest::addColumn<int>("signal");
    QTest::newRow("SIGTERM") << SIGTERM;
    QTest::newRow("SIGHUP") << SIGHUP;
    QTest::newRow("SIGINT") << SIGINT;
}

void TestKilled::aProcessThatIsAskedToEndIsNotLost() {
    QFETCH(int, signal);
    const QTemporaryDir settings;
    useSettings(settings.path());
    QProcess process;
    process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    process.start(QCoreApplication::applicationFilePath(),
                  {QStringLiteral("tst_killed"), QStringLiteral("serve"), settings.path()});
    QVERIFY(process.waitForStarted());
    while (!process.canReadLine()) QVERIFY(process.waitForReadyRead(120000));
    ::kill(static_cast<pid_t>(process.processId()), signal);
    QVERIFY(process.waitForFinished(120000));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QVERIFY(window::Session::lost().isEmpty());
    const QStringList files = QDir(settings.path() + "/SondeTest").entryList({"*.ini"}, QDir::Files);
    QCOMPARE(files.size(), 1);
    QVERIFY(QSettings(settings.path() + "/SondeTest/" + files.front(), QSettings::IniFormat)
                .contains(QStringLiteral("window/geometry")));
}

namespace {

/// Also the children of the test, by their role.
int runRole(int argc, char** argv) {
    QApplication application(argc, argv);
    const QString role = QString::fromLocal8Bit(argc > 1 ? argv[1] : "");
    for (const auto& [name, act] :
         {std::pair<const char*, int (*)()>{"work", work}, {"look", look}, {"churn", churn}, {"serve", serve}}) {
        if (argc != 3 || role != QLatin1String(name)) continue;
        useSettings(QString::fromLocal8Bit(argv[2]));
        return act();
    }
    TestKilled tests;
    return QTest::qExec(&tests, argc, argv);
}

}  // namespace

SONDE_TEST_RUN(runRole)

}  // namespace tst_killed

#include "tst_killed.moc"
